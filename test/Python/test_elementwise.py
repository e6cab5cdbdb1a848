"""Elementwise operators against PyTorch, byte by byte, where their rules are easily broken."""

import math

import pytest
import torch
import torch.nn.functional as F

from graphs import E4, INF, NAN, assert_same

E8 = torch.float8_e8m0fnu
FLOATS = [torch.float32, torch.bfloat16, torch.float16]
# In every combination: signs of zero, ties, infinities, quotients beyond 2^24.
SPECIAL = torch.tensor([0.0, -0.0, 1.0, -1.5, 2.5, 0.1, -0.3, 7.0, -7.0, 1e30, -1e-6, INF, -INF, NAN])


def pairs(dtype):
    """64 rows: PyTorch's kernels compute whole vectors by one formula and what is left over by another."""
    n = len(SPECIAL)
    a, b = SPECIAL.repeat(n), SPECIAL.repeat_interleave(n)
    return a.repeat(64 // n + 1, 1).to(dtype).contiguous(), b.repeat(64 // n + 1, 1).to(dtype).contiguous()


def normal(*shape, dtype=torch.float32):
    return (torch.randn(*shape, generator=torch.Generator().manual_seed(5)) * 3).to(dtype)


def check(export_graph, function, *args):
    graph = export_graph(function, args)
    assert_same(graph(*args), list(graph.module(*args)))


@pytest.mark.parametrize("dtype", FLOATS, ids=str)
def test_quotients_and_remainders(export_graph, dtype):
    """`//` follows from the remainder, which is exact: 1 // 0.1 is 9."""
    def function(a, b):
        return (torch.remainder(a, b), torch.fmod(a, b), torch.div(a, b, rounding_mode="floor"),
                torch.div(a, b, rounding_mode="trunc"), a // 0.1, a % 2.5, a / b)

    check(export_graph, function, *pairs(dtype))
    check(export_graph, function, normal(64, 128, dtype=dtype), normal(128, 64, dtype=dtype).view(64, 128) + 4)


def test_remainders_are_exact(export_graph):
    """Also where the quotient is beyond f32, of which PyTorch's vectors make NaN."""
    a, b = [1.5, -1e30, 3e38, 3e38, 7.0], [1e-40, 1e-40, 1e-45, 3.7, -3e-39]
    a, b = torch.tensor(a), torch.tensor(b)
    expected = torch.tensor([math.fmod(x, y) for x, y in zip(a.tolist(), b.tolist())])
    assert_same(export_graph(torch.fmod, (a, b))(a, b), [expected])


def test_integer_quotients(export_graph):
    least = -(2**31)
    a = torch.tensor([7, -7, 7, -7, 0, 5, -1, least, least], dtype=torch.int32)
    b = torch.tensor([2, 2, -2, -2, 3, 5, 4, -1, 3], dtype=torch.int32)

    def function(a, b):
        return a // b, a % b, torch.div(a, b, rounding_mode="trunc"), torch.fmod(a, b), a // 3, a % -3, a / b

    graph = export_graph(function, (a, b))
    # PyTorch's own -2^31 / -1 traps on some processors.
    expected = [value.where(torch.arange(9) != 7, torch.zeros((), dtype=value.dtype)) for value in function(a, b.where(b != -1, 1))]
    got = [value.where(torch.arange(9) != 7, torch.zeros((), dtype=value.dtype)) for value in graph(a, b)]
    assert_same(got, expected)
    # PyTorch refuses a division by 0.
    assert [value.tolist() for value in graph(a, 0 * b)[:4]] == [[0] * 9] * 4


@pytest.mark.parametrize("dtype", FLOATS, ids=str)
def test_one_rounding_of_a_product_and_a_sum(export_graph, dtype):
    def function(a, b, c):
        return (torch.add(a, b, alpha=0.7), torch.sub(a, b, alpha=1.3), torch.rsub(a, b, alpha=0.3),
                torch.addcmul(a, b, c, value=0.3), torch.addcmul(a, b, c), torch.addcdiv(a, b, c, value=0.3),
                torch.lerp(a, b, 0.3), torch.lerp(a, b, 0.8))

    a, b, c = (normal(3, 64, 32, dtype=dtype) + 1).unbind(0)
    check(export_graph, function, a.contiguous(), b.contiguous(), c.contiguous())


@pytest.mark.parametrize("dtype", FLOATS, ids=str)
def test_signs_of_zero(export_graph, dtype):
    def function(a):
        return (a.relu(), F.relu6(a), a.clamp(min=0), a.clamp(0, 1), a.clamp(-1, 1), a.relu().to(E4), a.abs(), -a, a.sign(), a * 0,
                a.round(), a.trunc(), a.ceil(), a + 0.0, a.maximum(a * 0 + 1), a**2, a**0.5)

    check(export_graph, function, pairs(dtype)[0])


def test_integers_keep_their_type(export_graph):
    a, b = torch.tensor([100, -100, 127, -128, 1], dtype=torch.int8), torch.tensor([100, 1, -127, -128, 3], dtype=torch.int8)

    def function(a, b):
        return a + b, a * b, a - b, -a, a.sum(), a * 2, a * 2.5, a / 2, a.float().to(E4), a.to(torch.bfloat16), a.clamp(-2, 3), a < b

    check(export_graph, function, a, b)


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16], ids=str)
def test_powers_of_two(export_graph, dtype):
    """f8E8M0FNU: to the nearest, halfway up, without the sign."""
    x = torch.tensor([1, 1.4, 1.5, 1.6, 3, 0, 1e-40, -2, NAN, 1e38, 2.0**-127, 1.5 * 2.0**-127, 2.0**-126]).to(dtype).repeat(9)

    def function(x):
        y = x.to(E8)
        return y.to(torch.float32), y.to(dtype) * 2

    check(export_graph, function, x)
    graph = export_graph(lambda x: x.to(E8), (x,))
    assert graph(x)[0].view(torch.uint8).tolist() == x.to(E8).view(torch.uint8).tolist()
    codes = torch.arange(256, dtype=torch.uint8).view(E8)
    check(export_graph, lambda x: (x.to(torch.float32),), codes)


def test_parts_without_elements(export_graph):
    def function(x):
        y = x.clone()
        y[7:] = 1
        return x[5:] * 2, x[:, 3:3].to(E4), y

    check(export_graph, function, normal(5, 6))
