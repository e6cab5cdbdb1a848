"""Exported models end to end and in lock-step with PyTorch's value of every node."""

import pytest

from models import all_models


@pytest.mark.parametrize("model", all_models(), ids=str)
def test_end_to_end(tool, package, model):
    inputs = f"--inputs={model.file('inputs')}"
    calls = f"--calls={model.calls}"
    tool("fp8-run", package, inputs, calls, f"--expect={model.file('outputs')}",
         f"--max-distance={model.max_distance}")
    if model.exact_state:
        tool("fp8-run", package, inputs, calls, f"--expect-state={model.file('state')}", "--max-distance=0")


@pytest.mark.parametrize("model", all_models(), ids=str)
def test_lockstep(tool, package, model):
    state = []
    if model.has_state:  # the trace is of the last call: it begins with PyTorch's state
        state = [f"--state-in={model.file('start')}", f"--expect-state={model.file('state')}"]
    tool("fp8-run", package, f"--inputs={model.file('inputs')}",
         f"--expect-trace={model.file('trace')}", *state)
