"""Sizes of an exported model's inputs other than those of its export."""

import torch
from torch.utils._sympy.numbers import int_oo

# Batch, tokens and, where there is one, the context's length.
SIZES = {"ones": (1, 1, 1), "two": (1, 2, 2), "prime": (3, 7, 11), "long": (1, 513, 513), "mixed": (5, 31, 6)}


def user_inputs(program):
    """(name, dtype, dims) of each input; a dim is a number or an expression of symbols."""
    placeholders = {node.name: node.meta.get("val") for node in program.graph.nodes if node.op == "placeholder"}
    for name in program.graph_signature.user_inputs:
        value = placeholders[name]
        yield name, value.dtype, [d.node.expr if isinstance(d, torch.SymInt) else d for d in value.shape]


def symbol_values(program, values):
    """The n-th symbol, in the order of the inputs' dims, gets the n-th value, moved into its range."""
    sizes = {}
    for _, _, dims in user_inputs(program):
        for symbol in [s for d in dims for s in sorted(getattr(d, "free_symbols", ()), key=str)]:
            if symbol not in sizes:
                bounds = program.range_constraints[symbol]
                value = max(values[min(len(sizes), len(values) - 1)], int(bounds.lower))
                sizes[symbol] = value if bounds.upper == int_oo else min(value, int(bounds.upper))
    return sizes


def make_inputs(program, values):
    """Random inputs, by name, at these values of the symbols."""
    torch.manual_seed(1)
    sizes = symbol_values(program, values)
    inputs = {}
    for name, dtype, dims in user_inputs(program):
        shape = [d if isinstance(d, int) else int(d.subs(sizes)) for d in dims]
        inputs[name] = torch.randn(shape).to(dtype) if dtype.is_floating_point else torch.randint(0, 8, shape, dtype=dtype)
    return inputs
