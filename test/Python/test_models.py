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
def test_lockstep(lockstep, model):
    lockstep()
