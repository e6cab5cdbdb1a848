"""One package, many sizes: against PyTorch at the same sizes, no recompile."""

import pytest
import torch
from safetensors.torch import load_file, save_file
from torch.utils._sympy.numbers import int_oo

import sys

from models import EXPORT, Model

sys.path.insert(0, str(EXPORT.parent))
from export import Tracer  # noqa: E402

NAMES = ["six_linears_static", "six_linears_row", "gated_mlp_bf16", "gated_mlp_static", "gated_mlp_dynamic",
         "gated_mlp_row", "gated_mlp_weight_only", "dit_static", "dit_row", "llama", "vit"]

# The values of a model's first, second, … symbol; the last one stands for the rest.
SIZES = {"ones": (1, 1), "two": (1, 2), "prime": (3, 7), "long": (1, 513), "mixed": (5, 31)}

# Where lock-step misses its bar: silu's result is a unit away in 1 of some 10,000 values, and the product of the same
# kernel, rounded again, can then be two units away (2 of 82,080 values).
LOCKSTEP_GAPS = {("llama", "long")}


def make_inputs(program, values):
    """Random inputs at these values of the symbols, in their ranges."""
    sizes = {}
    for i, (symbol, bounds) in enumerate(program.range_constraints.items()):
        upper = None if bounds.upper is int_oo or bounds.upper == int_oo else int(bounds.upper)
        size = max(values[min(i, len(values) - 1)], int(bounds.lower))
        sizes[symbol] = size if upper is None else min(size, upper)
    placeholders = {node.name: node for node in program.graph.nodes if node.op == "placeholder"}
    inputs = {}
    for name in program.graph_signature.user_inputs:
        value = placeholders[name].meta["val"]
        shape = [int(d.node.expr.subs(sizes)) if isinstance(d, torch.SymInt) else d for d in value.shape]
        inputs[name] = (torch.randn(shape).to(value.dtype) if value.dtype.is_floating_point
                        else torch.randint(0, 8, shape, dtype=value.dtype))
    return inputs


@pytest.mark.parametrize("name", NAMES)
def test_sizes(tool, tmp_path, name):
    model = Model(name)
    package = tmp_path / "model.fp8"
    tool("fp8-compile", model.file("pt2"), "-o", package)
    program = torch.export.load(model.file("pt2"))
    for label, values in SIZES.items():
        torch.manual_seed(1)
        inputs = make_inputs(program, values)
        with torch.no_grad():
            tracer = Tracer(program.module())
            results = tracer.run(*inputs.values())
        results = [results] if torch.is_tensor(results) else [r for r in results if torch.is_tensor(r)]
        files = {key: tmp_path / f"{label}.{key}.safetensors" for key in ("inputs", "outputs", "trace")}
        save_file(inputs, files["inputs"])
        save_file({f"output{i}": r.contiguous() for i, r in enumerate(results)}, files["outputs"])
        save_file({key: v.contiguous() for key, v in tracer.values.items()}, files["trace"])
        tool("fp8-run", package, f"--inputs={files['inputs']}", f"--expect={files['outputs']}",
             f"--max-distance={model.max_distance}")
        tool("fp8-run", package, f"--inputs={files['inputs']}", f"--expect-trace={files['trace']}",
             status=1 if (name, label) in LOCKSTEP_GAPS else 0)
    if any(gap == name for gap, _ in LOCKSTEP_GAPS):
        pytest.xfail("lock-step bar not met yet at one size")


@pytest.mark.parametrize("name", ["gated_mlp_bf16", "gated_mlp_static", "gated_mlp_row", "gated_mlp_weight_only"])
def test_empty_batch(tool, tmp_path, name):
    """No rows: a result of the right shape."""
    model = Model(name)
    inputs, outputs = tmp_path / "inputs.safetensors", tmp_path / "outputs.safetensors"
    save_file({"x": torch.zeros(0, 17, 64, dtype=torch.bfloat16)}, inputs)
    tool("fp8-run", model.file("pt2"), f"--inputs={inputs}", f"--outputs={outputs}")
    assert load_file(outputs)["output0"].shape == (0, 17, 64)


@pytest.mark.parametrize("name", ["gated_mlp_dynamic", "gated_mlp_delayed"])
def test_amax_of_nothing(tool, tmp_path, name):
    """A tensor amax of no rows: an error that names the reduction."""
    inputs = tmp_path / "inputs.safetensors"
    save_file({"x": torch.zeros(0, 17, 64, dtype=torch.bfloat16)}, inputs)
    _, errors = tool("fp8-run", Model(name).file("pt2"), f"--inputs={inputs}", status=1)
    assert "the amax of an empty tensor has no value (in norm)" in errors
