"""Lock-step finds faults that the end-to-end distance does not see: each is planted once, in the exported graph.

The faulty graph runs against the right graph's trace, as a fault of the compiler would. Nodes that give the same value
keep their names.
"""

import pytest
import torch
from safetensors.torch import load_file, save_file

from graphs import assert_same
from models import Model

aten = torch.ops.aten


class Editor:
    """Edits an exported program; new nodes have the metadata that saving needs."""

    def __init__(self, path):
        self.program = torch.export.load(path)
        self.graph = self.program.graph
        self.nodes = {node.name: node for node in self.graph.nodes}

    def insert(self, before, target, *args, name="planted"):
        with self.graph.inserting_before(before):
            node = self.graph.call_function(target, args, name=name)
        values = [a.meta["val"] if isinstance(a, torch.fx.Node) else a for a in args]
        mode = next(v.fake_mode for v in values if hasattr(v, "fake_mode"))
        with mode:
            node.meta = dict(before.meta, val=target(*values))
        return node

    def replace(self, old, new):
        """`new` gives the value of `old` from now on, under its name."""
        old.replace_all_uses_with(new, delete_user_cb=lambda user: user is not new)
        name = old.name
        self.graph.erase_node(old)
        new.name = name  # _rename would not give a used name again

    def remove_dead(self):
        """Checks of values that are gone, and what nobody uses."""
        for node in reversed(list(self.graph.nodes)):
            if node.op == "call_function" and not node.users and "assert" not in node.name:
                for user in list(node.users):
                    self.graph.erase_node(user)
                self.graph.erase_node(node)

    def save(self, path):
        for node in list(self.graph.nodes):
            if "assert_tensor_metadata" in node.name:
                self.graph.erase_node(node)
        self.remove_dead()
        self.program.graph_module.recompile()
        torch.export.save(self.program, path)


def drop_cast(editor):
    """The product reads the activation before its cast to f8."""
    product = editor.nodes["_scaled_mm"]
    cast, weight, scale, weight_scale = product.args[:4]
    wide = editor.insert(product, aten.mul.Tensor, cast.args[0], scale)
    wide = editor.insert(product, aten.to.dtype, wide, torch.bfloat16)
    decoded = editor.insert(product, aten.to.dtype, weight, torch.float32)
    decoded = editor.insert(product, aten.mul.Tensor, decoded, weight_scale)
    decoded = editor.insert(product, aten.to.dtype, decoded, torch.bfloat16)
    editor.replace(product, editor.insert(product, aten.mm.default, wide, decoded))


def round_twice(editor):
    """f32 to bf16 to f8 instead of f32 to f8."""
    cast = editor.nodes["to_5"]
    narrow = editor.insert(cast, aten.to.dtype, cast.args[0], torch.bfloat16)
    editor.replace(cast, editor.insert(cast, aten.to.dtype, narrow, torch.float8_e4m3fn))


def round_before_bias(editor):
    """The product is rounded to bf16, then the bias is added and rounded again."""
    product = editor.nodes["_scaled_mm"]
    a, b, scale_a, scale_b, bias, *rest = product.args
    bare = editor.insert(product, aten._scaled_mm.default, a, b, scale_a, scale_b, None, *rest)
    editor.replace(product, editor.insert(product, aten.add.Tensor, bare, bias))


def skip_rounding(editor):
    """silu's result stays in f32 until the multiplication is done."""
    product = editor.nodes["mul"]
    silu, up = product.args
    gate = editor.insert(product, aten.to.dtype, silu.args[0], torch.float32)
    wide = editor.insert(product, aten.silu.default, gate)
    wide = editor.insert(product, aten.mul.Tensor, wide, up)
    editor.replace(product, editor.insert(product, aten.to.dtype, wide, torch.bfloat16))


FAULTS = [("gated_mlp_static", drop_cast), ("gated_mlp_static", round_twice), ("six_linears_static", round_before_bias),
          ("gated_mlp_static", skip_rounding)]


@pytest.mark.parametrize("model,fault", [pytest.param(Model(name), fault, id=fault.__name__) for name, fault in FAULTS])
def test_lockstep_finds(tool, tmp_path, package, model, fault):
    editor = Editor(model.file("pt2"))
    fault(editor)
    editor.save(tmp_path / "faulty.pt2")
    faulty = tmp_path / "faulty.fp8"
    tool("fp8-compile", tmp_path / "faulty.pt2", "-o", faulty)
    inputs = f"--inputs={model.file('inputs')}"
    trace = f"--expect-trace={model.file('trace')}"
    # The graph without the fault passes, the distance of the faulty one too.
    tool("fp8-run", package, inputs, trace)
    tool("fp8-run", faulty, inputs, f"--expect={model.file('outputs')}", "--max-distance=0.04")
    out, _ = tool("fp8-run", faulty, inputs, trace, status=1)
    assert "MISS" in out


@pytest.mark.parametrize("model", [Model("six_linears_bf16")], ids=str)
def test_exact_values_decide(tool, tmp_path, package, model):
    """A value two units from the trace's passes where it is the one that sums and functions without errors give."""
    trace = load_file(model.file("trace"))
    assert "layer_norm_4.exact" not in trace
    shifted = trace["layer_norm_4"].clone()
    shifted.view(torch.int16).view(-1)[7] += 2

    def run(traced, status):
        save_file(traced, tmp_path / "trace.safetensors")
        rows, _ = tool("fp8-run", package, f"--inputs={model.file('inputs')}",
                       f"--expect-trace={tmp_path / 'trace.safetensors'}", status=status)
        return rows

    assert "1 values are more than one unit apart" in run(trace | {"layer_norm_4": shifted}, 1)
    run(trace | {"layer_norm_4": shifted, "layer_norm_4.exact": trace["layer_norm_4"]}, 0)


def test_values_changed_through_views(export_graph, tmp_path):
    """The whole of a value that a view of it has changed is no longer what its node gave."""
    def change(x):
        y = x * 2
        with torch.no_grad():
            y[..., :4].zero_()
        return y * 3

    x = torch.randn(3, 5, 8)
    graph = export_graph(change, (x,))
    assert_same(graph(x), [change(x)])
    save_file({"mul": x * 2, "mul_1": change(x)}, tmp_path / "trace.safetensors")
    out, _ = graph.run((x,), f"--expect-trace={tmp_path / 'trace.safetensors'}")
    assert "0 missed their bar" in out
