"""What does not fit is one message that names the input, the dim, what was got and what was expected."""

import pytest
import torch
from safetensors.torch import save_file
from torch.export import Dim

from graphs import Graph, Function

GRAPH = """
%x = input f32[s0, 8]
%y = input f32[s1]
%z = aten.neg.default(self=%x) -> f32[s0, 8]
guard L['x'].size()[0] == 2 * L['y'].size()[0]
guard L['x'].size()[0] < 100 or L['y'].size()[0] % 3 == 1
return %z
"""


@pytest.fixture(scope="module")
def guarded(tmp_path_factory):
    from conftest import run_tool
    return Graph.parse(run_tool, tmp_path_factory.mktemp("guarded"), GRAPH)


def call(graph, tensors):
    path = graph.folder / "inputs.safetensors"
    save_file(tensors, path)
    _, errors = graph.tool("fp8-run", graph.package, f"--inputs={path}", status=1)
    assert errors.startswith("fp8-run: ") and errors.count("\n") == 1, errors
    return errors[len("fp8-run: "):-1]


X, Y = torch.ones(4, 8), torch.ones(2)
WITH = ', with s0 = {} (dim 0 of input "x"), s1 = {} (dim 0 of input "y")'

ERRORS = {
    "dtype": ({"x": X.bfloat16(), "y": Y}, 'input "x": got dtype bf16, expected f32'),
    "rank": ({"x": X[0], "y": Y}, 'input "x": got rank 1, expected 2'),
    "dim": ({"x": torch.ones(4, 9), "y": Y}, 'input "x": dim 1: got 9, expected 8'),
    "missing": ({"x": X}, 'input "y" is missing; inputs: x, y'),
    "unknown": ({"x": X, "y": Y, "w": Y.clone()}, 'the model has no input "w"; inputs: x, y'),
    "guard": ({"x": X, "y": torch.ones(3)},
              "guard L['x'].size()[0] == 2 * L['y'].size()[0]: s0 == s1*2 does not hold: got 4 and 6" + WITH.format(4, 3)),
    "or": ({"x": torch.ones(100, 8), "y": torch.ones(50)},
           "guard L['x'].size()[0] < 100 or L['y'].size()[0] % 3 == 1: (s0 < 100) or ((s1 + (s1 // 3)*-3) == 1) does not hold"
           + WITH.format(100, 50)),
}


@pytest.mark.parametrize("name", ERRORS)
def test_call(guarded, name):
    tensors, message = ERRORS[name]
    assert call(guarded, tensors) == message


def test_outputs_that_cannot_be_compared(guarded):
    """No numbers where there is nothing to compare."""
    inputs, expected = guarded.folder / "x.safetensors", guarded.folder / "expected.safetensors"
    save_file({"x": X, "y": Y}, inputs)
    save_file({"output0": torch.ones(3, 8), "other": X}, expected)
    rows, _ = guarded.tool("fp8-run", guarded.package, f"--inputs={inputs}", f"--expect={expected}", status=1)
    assert [line.split() for line in rows.splitlines()[1:]] == [
        ["other", "4x8", *5 * "-", *"MISS: nothing of that name was computed".split()],
        ["output0", "3x8", *5 * "-", "MISS:", "got", "4x8"]]


def test_range(export_graph):
    """Out of the range of a Dim, at both ends."""
    graph = export_graph(lambda x: x * 2, (torch.ones(4, 3),), ({0: Dim("rows", min=3, max=6)},))
    name = graph.inputs[0]
    for rows in (2, 7):
        errors = graph.error(torch.ones(rows, 3))
        assert f'input "{name}": dim 0: got {rows}, expected s' in errors and "from 3 to 6" in errors


def test_sizes_of_random_inputs(export_graph):
    """A size that no symbol gives; a range without an end has none in the message; an integer's size is named."""
    graph = export_graph(lambda x: (x * 2, x.shape[0]), (torch.ones(16, 2),), ({0: 8 * Dim("rows", min=2)},))
    listing = [line.split() for line in graph.tool("fp8-run", graph.package, "--list")[0].splitlines()]
    symbol = listing[-1][1]
    assert listing == [
        ["input", graph.inputs[0], "f32", f"[{symbol}*8,", "2]"], ["output", "output0", "f32", f"[{symbol}*8,", "2]"],
        ["output", "output1", "integer", f"[{symbol}*8]"], ["symbol", symbol, "2.."]]
    dim = f"{graph.inputs[0]}.0"
    _, errors = graph.tool("fp8-run", graph.package, "--random", "--dim", f"{dim}=25", status=1)
    assert errors == (f"fp8-run: --dim {dim}=25: dim 0 of {graph.inputs[0]} is {symbol}*8, and no {symbol} (2..) makes it 25\n")


def test_assertion_of_the_model(export_graph):
    """A check that the model spells names the model's line."""
    def function(x, y):
        torch._check(x.shape[0] * 3 < y.shape[0] + 30)
        return x.sum() + y.sum()

    args = (torch.ones(4), torch.ones(5))
    graph = export_graph(function, args, ({0: Dim("a")}, {0: Dim("b")}))
    assert graph(*args)[0].item() == 9
    errors = graph.error(torch.ones(20), torch.ones(7))
    assert 'dim 0 of input "' in errors and "= 20" in errors and "= 7" in errors, errors


def test_inputs_may_be_views(tool, tmp_path):
    """A safetensors file is dense; the C interface refuses strides (Program.NamesWhatDoesNotFit)."""
    graph = Graph.export(tool, tmp_path, Function(lambda x: x + 1), (torch.ones(3, 4),))
    transposed = torch.arange(12.0).reshape(4, 3).t()
    assert torch.equal(graph(transposed)[0], transposed + 1)


PARTS = """
%x = input f32[s0, 8]
%y = input f32[s1]
%n = aten.sym_size.int(self=%y, dim=0) -> size s1
%m = _operator.neg(a=@n) -> size -s1
"""
# What PyTorch says of x with 5 rows and y with 9 or 3, which an export without guards leaves to the call.
OUT_OF_RANGE = {
    "select": ("aten.select.int(self=%x, dim=0, index=@n) -> f32[8]", "the index of a select is in its dim"),
    "select from the end": ("aten.select.int(self=%x, dim=0, index=@m) -> f32[8]", "the index of a select is in its dim"),
    "narrow": ("aten.narrow.default(self=%x, dim=0, start=@n, length=2) -> f32[2, 8]",
               "start + length of a narrow is within its dim"),
    "select_scatter": ("aten.select_scatter.default(self=%x, src=%r, dim=0, index=@n) -> f32[s0, 8]",
                       "the index of a select is in its dim"),
}


@pytest.mark.parametrize("name", OUT_OF_RANGE)
def test_parts_out_of_range(parse_graph, name):
    node, message = OUT_OF_RANGE[name]
    graph = parse_graph(PARTS + f"%r = aten.sum.dim_IntList(self=%x, dim=[0]) -> f32[8]\n%z = {node}\nreturn %z\n")
    x = torch.arange(40.0).reshape(5, 8)
    errors = graph.error(x, torch.ones(9))
    assert message in errors and 's1 = 9 (dim 0 of input "y")' in errors and errors.count("\n") == 1, errors
    expected = {"select": x[3], "select from the end": x[-3], "narrow": x.narrow(0, 3, 2),
                "select_scatter": x.select_scatter(x.sum(0), 0, 3)}
    assert torch.equal(graph(x, torch.ones(3))[0], expected[name])


@pytest.mark.parametrize("rows", [3, 9])
def test_bounds_from_the_end(parse_graph, rows):
    """A slice clamps its bounds, and a bound below 0 counts from the end."""
    graph = parse_graph(PARTS + "%z = aten.slice.Tensor(self=%x, dim=0, start=@m, end=9223372036854775807) -> "
                        "f32[Min(s0, s1), 8]\nreturn %z\n")
    x = torch.arange(40.0).reshape(5, 8)
    assert torch.equal(graph(x, torch.ones(rows))[0], x[-rows:])


@pytest.mark.parametrize("node", [
    "aten.index_select.default(self=%x, dim=0, index=%i) -> f32[s1, 8]", "aten.embedding.default(weight=%x, indices=%i) -> f32[s1, 8]",
    "aten.index.Tensor(self=%x, indices=[%i]) -> f32[s1, 8]"])
def test_indices_of_nothing(parse_graph, node):
    graph = parse_graph(f"%x = input f32[s0, 8]\n%i = input i64[s1]\n%z = {node}\nreturn %z\n")
    x, i = torch.ones(2, 8), torch.tensor([1, 0, 1])
    assert torch.equal(graph(x, i)[0], x[i])
    assert graph(x[:0], i[:0])[0].shape == (0, 8)
    assert "a dim that is indexed has an element" in graph.error(x[:0], i)


def test_pad_of_nothing(parse_graph):
    graph = parse_graph("%x = input f32[s0]\n%z = aten.constant_pad_nd.default(self=%x, pad=[1, 2], value=3) -> f32[s0 + 3]\n"
                        "%r = aten.roll.default(self=%x, shifts=[1], dims=[0]) -> f32[s0]\nreturn %z, %r\n")
    z, r = graph(torch.ones(0))
    assert torch.equal(z, torch.full((3,), 3.0)) and r.shape == (0,)
    assert torch.equal(graph(torch.arange(3.0))[1], torch.tensor([2.0, 0.0, 1.0]))
