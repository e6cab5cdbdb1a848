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


def test_range(export_graph):
    """Out of the range of a Dim, at both ends."""
    graph = export_graph(lambda x: x * 2, (torch.ones(4, 3),), ({0: Dim("rows", min=3, max=6)},))
    name = graph.inputs[0]
    for rows in (2, 7):
        errors = graph.error(torch.ones(rows, 3))
        assert f'input "{name}": dim 0: got {rows}, expected s' in errors and "from 3 to 6" in errors


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
