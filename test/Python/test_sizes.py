"""One package, many sizes: end to end and in lock-step with PyTorch at the same sizes, no recompile."""

import re

import pytest
from safetensors.torch import load_file, save_file

from models import SIZES, Model, all_models


at_all_sizes = pytest.mark.parametrize("model,size", [
    pytest.param(model, size, id=f"{model}-{size}") for model in all_models() for size in SIZES])


def references(model, size):
    """PyTorch's outputs of the exported graph; where its own errors alone take them beyond the bar, also those without the errors."""
    theirs, exact = (load_file(model.file(kind, size))["output0"].double() for kind in ("outputs", "exact"))
    return [theirs] if (theirs - exact).norm() <= model.max_distance * exact.norm() else [theirs, exact]


@at_all_sizes
def test_end_to_end(tool, tmp_path, package, model, size):
    run = ["fp8-run", package, f"--inputs={model.file('inputs', size)}", f"--calls={model.calls}"]
    outputs = tmp_path / "outputs.safetensors"
    tool(*run, f"--outputs={outputs}")
    ours = load_file(outputs)["output0"].double()
    assert min((ours - right).norm() / right.norm() for right in references(model, size)) <= model.max_distance
    if model.exact_state:
        tool(*run, f"--expect-state={model.file('state', size)}", "--max-distance=0")


@at_all_sizes
def test_lockstep(lockstep, model, size):
    lockstep(size)


# What of the input "x" is empty: everything's batch, or its tokens alone.
EMPTY = {"batch": lambda name, value: value[:0], "tokens": lambda name, value: value[:, :0] if name == "x" else value}


def block_models(linears):
    return [Model(f"{block}_{linear}") for block in ("six_linears", "gated_mlp", "dit") for linear in linears]


def write_empty(model, empty, path):
    """The export's inputs without a batch or without tokens; returns the shape of "x", which the output has too."""
    inputs = {name: EMPTY[empty](name, value).contiguous() for name, value in load_file(model.file("inputs")).items()}
    save_file(inputs, path)
    return inputs["x"].shape


@pytest.mark.parametrize("empty", EMPTY)
@pytest.mark.parametrize("model", block_models(["bf16", "static", "row", "row_v2", "block", "weight_only"]), ids=str)
def test_empty(tool, tmp_path, package, model, empty):
    """No rows: a result of the right shape."""
    inputs, outputs = tmp_path / "inputs.safetensors", tmp_path / "outputs.safetensors"
    shape = write_empty(model, empty, inputs)
    tool("fp8-run", package, f"--inputs={inputs}", f"--outputs={outputs}")
    assert load_file(outputs)["output0"].shape == shape


@pytest.mark.parametrize("empty", EMPTY)
@pytest.mark.parametrize("model", block_models(["dynamic", "delayed"]), ids=str)
def test_amax_of_nothing(tool, tmp_path, package, model, empty):
    """A tensor amax of no rows: an error that names the reduction."""
    inputs = tmp_path / "inputs.safetensors"
    write_empty(model, empty, inputs)
    _, errors = tool("fp8-run", package, f"--inputs={inputs}", status=1)
    assert re.search(r"the amax of an empty tensor has no value \(in \w+", errors), errors
