"""Cases of casts, amax and scales that went wrong elsewhere, with their exact answers. Names of tests: docs/cases.md."""

import pytest
import torch

from graphs import E4, E5, INF, NAN, Function, assert_same, codes, f32


def cast(dtype):
    return lambda x: x.to(dtype)


OVERFLOWS = f32(0, -0.0, 447.9, 448, 464, 0x43E80001, 465, 480, 500, 1e30, -1e30, NAN, -1e-8)
SATURATED = "00 80 7E 7E 7E 7E 7E 7E 7E 7E FE NaN 80"


@pytest.mark.parametrize("flags", [[], ["--cast-overflow=saturate"], ["--cast-overflow=ieee"]], ids=["default", "saturate", "ieee"])
def test_a1_overflow(export_graph, flags):
    """464 is a tie: 448 in both modes. A clamp makes the modes equal and keeps NaN."""
    graph = export_graph(lambda x: (x.to(E4), x.clamp(-448, 448).to(E4)), (OVERFLOWS,), flags=flags)
    plain, clamped = graph(OVERFLOWS)
    assert codes(plain) == ("00 80 7E 7E 7E NaN NaN NaN NaN NaN NaN NaN 80" if "--cast-overflow=ieee" in flags else SATURATED)
    assert codes(clamped) == SATURATED


@pytest.mark.parametrize("dtype", [E4, E5], ids=["e4m3", "e5m2"])
def test_a3_constants_and_arguments(export_graph, dtype):
    """Folded and computed casts are one function."""
    values = f32(500, 464, 465, 1.0625, -0.0, NAN, 1.6, 57344, 61440, 61441, INF, -INF)
    graph = export_graph(Function(lambda self, x: (self.c.to(dtype), x.to(dtype)), c=values), (values,))
    folded, computed = graph(values)
    assert codes(folded) == codes(computed)
    if dtype == E4:
        assert codes(folded) == "7E 7E 7E 38 80 NaN 3D 7E 7E 7E 7E FE"


SMALL = f32(2**-10, 0x3A800001, 1.5 * 2**-9, 2.5 * 2**-9, 7.5 * 2**-9, 0x3C7FFFFF, 2**-6, 1.0625, 0x3F880001, 1.1875, 17, 19,
            240, 256, 288)


def test_a4_subnormals_and_ties(export_graph):
    graph = export_graph(cast(E4), (SMALL,), ({0: torch.export.Dim("n")},))
    expected = "00 01 02 02 08 08 08 38 39 3A 58 5A 77 78 79"
    assert codes(graph(SMALL)[0]) == expected
    # Vector code and its rest.
    assert codes(graph(SMALL.repeat(11))[0]) == " ".join([expected] * 11)


def test_a4_subnormals_and_ties_e5m2(export_graph):
    x = f32(2**-17, 0x37000001, 1.5 * 2**-16, 3.5 * 2**-16, 1.125, 1.375)
    assert codes(export_graph(cast(E5), (x,))(x)[0]) == "00 01 02 04 3C 3E"


def test_a5_no_double_rounding(export_graph):
    x = f32(0x3F880008)
    assert codes(export_graph(cast(E4), (x,))(x)[0]) == "39"


def test_a6_explicit_rounding_stays(export_graph):
    a, b = torch.tensor([1.0078125]).bfloat16(), torch.tensor([1.0546875]).bfloat16()
    assert codes(export_graph(lambda a, b: (a * b).to(E4), (a, b))(a, b)[0]) == "38"


def test_a8_odd_counts(export_graph):
    pattern = torch.tensor([1.5, -448.0, 0.5, -2.0])
    graph = export_graph(cast(E4), (pattern,), ({0: torch.export.Dim("n")},))
    for count in (1, 2, 3, 5, 17, 1023):
        expected = ["3C", "FE", "30", "C0"] * 256
        assert codes(graph(pattern.repeat(256)[:count])[0]) == " ".join(expected[:count])


def test_a9_no_f8_in_code(export_graph):
    """After all passes an f8 value is a byte: no type, cast or constant of f8 is left for the code generator."""
    def function(x):
        q = x.to(E4)
        return q, q.float() + 1.5, x.to(torch.float16).to(E5), q.bfloat16(), torch.full((3,), 1.5).to(E4)

    x = torch.randn(3, 5)
    graph = export_graph(function, (x,))
    code = graph.emit("code")
    assert "f8E" not in code and "llvm.store" in code
    assert_same(graph(x), list(function(x)))


def test_b1_zero_row(export_graph):
    """0/0 is NaN in its row alone, a clamp of the scale is neither dropped nor added."""
    def function(x):
        bare = x.abs().amax(-1, True).float() / 448
        clamped = bare.clamp_min(1e-12)
        return bare, (x.float() / bare).to(E4), clamped, (x.float() / clamped).to(E4)

    x = torch.randn(4, 64).bfloat16()
    x[2] = 0
    bare, q_bare, clamped, q_clamped = graph = export_graph(function, (x,))(x)
    assert_same(graph, list(function(x)))
    assert q_bare[2].float().isnan().all() and not q_bare[[0, 1, 3]].float().isnan().any()
    assert codes(q_clamped[2]) == " ".join(["00"] * 64) and clamped[2].item() == f32(1e-12).item()


def test_b1_zero_tensor(export_graph):
    def function(x):
        scale = (448.0 / x.abs().max().to(torch.float64).clamp(min=1e-12)).to(torch.float32)
        q = (x.float() * scale).clamp(-448, 448).to(E4)
        return scale, q, q.float() / scale

    x = torch.zeros(4, 64).bfloat16()
    scale, q, back = export_graph(function, (x,))(x)
    assert scale.item() == 447999985582080
    assert codes(q) == " ".join(["00"] * 256) and not back.any()


def test_b4_arithmetic_of_scales(export_graph):
    """As spelled, in its types."""
    def function(x):
        narrow = (448.0 / torch.clamp(torch.abs(torch.max(x)), min=1e-12)).to(torch.float32)
        wide = (448.0 / torch.clamp(torch.abs(torch.max(x)).to(torch.float64), min=1e-12)).to(torch.float32)
        return narrow, wide

    x = torch.tensor([1.0, 4.28125, -2.0]).bfloat16()
    narrow, wide = export_graph(function, (x,))(x)
    assert narrow.item() == 104.5
    assert wide.item() == f32(448 / 4.28125).item() and f"{wide.item():.8f}" == "104.64233398"


def amax_scale(x):
    amax = x.abs().amax()
    scale = 448 / amax
    return amax, scale, (x * scale).to(E4)


def test_b6_nan_and_inf(export_graph):
    x = torch.tensor([1.0, NAN, 3.0])
    graph = export_graph(amax_scale, (x,), ({0: torch.export.Dim("n", min=2)},))
    amax, scale, q = graph(x)
    assert amax.isnan() and scale.isnan() and codes(q) == "NaN NaN NaN"
    amax, scale, q = graph(torch.tensor([1.0, INF, 3.0]))
    assert amax.item() == INF and scale.item() == 0 and codes(q) == "00 NaN 00"
    for place in (0, 31, 4096, 70000, 99999, 100002):
        x = torch.ones(100003)
        x[place] = NAN
        amax, scale, q = graph(x)
        assert amax.isnan() and q.float().isnan().all(), place
    x = torch.ones(100003)
    x[100002] = -7
    assert graph(x)[0].item() == 7


def test_b6_nan_in_a_row(export_graph):
    def function(x):
        amax = x.abs().amax(-1, True)
        return amax, (x * (448 / amax)).to(E4)

    x = torch.ones(6, 77)
    for row, place in enumerate((0, 31, 64, 75, 76)):
        x[row, place] = NAN
    amax, q = export_graph(function, (x,))(x)
    assert amax[:5].isnan().all() and q[:5].float().isnan().all()
    assert amax[5].item() == 1 and codes(q[5]) == " ".join(["7E"] * 77)


def test_b9_division_and_reciprocal(export_graph):
    x, s = torch.tensor([3.171875]).bfloat16(), torch.tensor(0.109375)
    graph = export_graph(lambda x, s: ((x.float() / s).to(E4), (x.float() * s.reciprocal()).to(E4)), (x, s))
    assert [codes(q) for q in graph(x, s)] == ["5E", "5F"]


def test_b10_language_model_head(export_graph):
    """A rounding to bf16 between division and cast, Python scalars, three outputs, scales that the graph makes."""
    def function(x, w):
        q = (x / 0.06185895741317419).to(E4)
        qw = (w / 0.001953125).to(E4)
        sa = torch.full([], 0.06185895577073097, dtype=torch.float32)
        sb = torch.full([], 0.001953125, dtype=torch.float32)
        return torch._scaled_mm(q, qw.t(), sa, sb, None, None, torch.bfloat16, True), q, qw

    torch.manual_seed(0)
    x, w = (torch.randn(32, 64) * 0.01).bfloat16(), torch.randn(96, 64) * 0.02
    x[0, :4] = torch.tensor([0.00823974609375, 0.0091552734375, 0.0111083984375, 0.0120849609375])
    y, q, qw = export_graph(function, (x, w))(x, w)
    assert codes(q[0, :4]) == "20 22 24 24"
    assert_same([q, qw], [(x / 0.06185895741317419).to(E4), (w / 0.001953125).to(E4)])
    exact = q.double() @ qw.double().t() * f32(0.06185895577073097).double() * 0.001953125
    assert y.dtype == torch.bfloat16 and (y.double() - exact).norm() < 2e-3 * exact.norm() and y.any()


class History(torch.nn.Module):
    """Writes slot 0, reads the maximum, rolls, clears slot 0."""

    def __init__(self, values):
        super().__init__()
        self.register_buffer("h", values)

    def forward(self, new):
        self.h[0] = new
        amax = self.h.amax(0)
        self.h.copy_(torch.roll(self.h, -1, 0))
        self.h[0] = 0
        return amax, 448 / amax


def test_b11_history(export_graph):
    graph = export_graph(History(torch.tensor([5.0, 1, 2, 3])), (torch.tensor(5.0),))
    state = None
    for new, expected in ((5.0, [0, 2, 3, 5]), (4.0, [0, 3, 5, 4]), (1.0, [0, 5, 4, 1])):
        (amax, scale), state = graph.step(state, torch.tensor(new))
        assert amax.item() == 5 and scale.item() == f32(89.6).item()
        assert state["h"].tolist() == expected


def test_b11_long_history(export_graph):
    torch.manual_seed(0)
    module = History(torch.rand(1024) + 1)
    graph = export_graph(module, (torch.tensor(5.0),))
    state, eager = {"h": module.h.clone()}, History(module.h.clone())
    for new in (1.5, 7.0, 0.25, 3.0, 2.5, 9.0):
        outputs, state = graph.step(state, torch.tensor(new))
        assert_same(outputs, list(eager(torch.tensor(new))))
        assert_same([state["h"]], [eager.h])


def test_b12_delayed_scale(export_graph):
    """`where` hides the NaN and Inf of the arm that is not taken."""
    def function(amax, old):
        sf = (448.0 / amax) / 2**3
        sf = torch.where(amax > 0, sf, old)
        sf = torch.where(torch.isfinite(amax), sf, old)
        return torch.where(torch.isinf(sf), torch.full_like(sf, torch.finfo(torch.float32).max), sf)

    amax, old = f32(7, 0, NAN, INF, 1e-40), torch.full((5,), 7.0)
    (sf,) = export_graph(function, (amax, old))(amax, old)
    assert sf.tolist() == [8, 7, 7, 7, torch.finfo(torch.float32).max]
