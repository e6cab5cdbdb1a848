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


@pytest.mark.parametrize("model", [model for model in all_models() if model.has_state], ids=str)
def test_lockstep_after_calls_of_our_own(tool, package, model):
    """Three calls, with no state of PyTorch's: all is compared where bits are promised."""
    rows, _ = tool("fp8-run", package, f"--inputs={model.file('inputs')}", f"--calls={model.calls}",
                   f"--expect-trace={model.file('trace')}")
    if model.exact_state:
        assert "--state-in" not in rows
