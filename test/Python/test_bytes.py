"""torch.uint8 is unsigned in the signature and in arithmetic; the IR's i8 has no sign."""

import pytest
import torch
from safetensors.torch import save_file

from graphs import Function, assert_same

EVERY = torch.arange(256, dtype=torch.uint8)
OTHER = EVERY.flip(0).roll(7)

FUNCTIONS = {
    "arithmetic": lambda x, y: (x + y, x - y, x * y, x & y, x | y, x ^ y, ~x, x + 3, x // (y + 1).clamp(1), x % 7),
    "comparisons": lambda x, y: (x < y, x > 200, x == y, torch.maximum(x, y), torch.minimum(x, y), x.clamp(20, 220)),
    "conversions": lambda x, y: (x.float(), x.to(torch.bfloat16), x.int(), x.to(torch.int8), x.float().to(torch.uint8), x / y.clamp(1),
                                 x + 0.5, x.bool(), x.long() - 300),
    "reductions": lambda x, y: (x.sum(), x.amax(), x.amin(), x.float().mean(), x.view(16, 16).sum(1), x.view(16, 16).amax(0)),
    "mixed": lambda x, y: (x + y.to(torch.int8), x + y.int(), torch.cat([x, y]), torch.cat([x.int(), y]), torch.where(x > y, x, y)),
    "movement": lambda x, y: (x.view(16, 16).t(), x.flip(0), x[10:20], torch.nn.functional.pad(x, (1, 2), value=200), x.clone(),
                              torch.full_like(x, 250), x.view(torch.int8)),
}


@pytest.mark.parametrize("name", FUNCTIONS)
def test_unsigned_bytes(export_graph, name):
    function = FUNCTIONS[name]
    assert_same(export_graph(function, (EVERY, OTHER))(EVERY, OTHER), function(EVERY, OTHER))


def test_signed_bytes(export_graph):
    def function(x, y):
        return x + y, x < y, x.float(), x.amax(), torch.maximum(x, y), x.view(torch.uint8)

    args = (EVERY.view(torch.int8), OTHER.view(torch.int8))
    assert_same(export_graph(function, args)(*args), function(*args))


def test_the_sign_is_part_of_the_signature(export_graph):
    graph = export_graph(lambda x: x + 1, (EVERY,))
    assert "got dtype i8, expected u8" in graph.error(EVERY.view(torch.int8))


def test_state_of_bytes(export_graph, tmp_path):
    def function(self, x):
        self.count.add_(x)
        return self.count // 2, self.table.float() + x

    module = Function(function, count=EVERY.clone(), table=OTHER.clone())
    graph = export_graph(module, (EVERY,))
    outputs, state = graph.step(None, EVERY)
    count = EVERY + EVERY
    assert_same(outputs, [count // 2, OTHER.float() + EVERY])
    (got,) = state.values()
    assert_same([got], [count])
    save_file(state, tmp_path / "state.safetensors")
    graph.run((EVERY,), f"--expect-state={tmp_path / 'state.safetensors'}")
