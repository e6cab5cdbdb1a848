"""Cases of scaled products that went wrong elsewhere: whole numbers and powers of two, so that answers are exact."""

import pytest
import torch

from graphs import E4, E5, Function, Graph, assert_same, codes, f32, integers

BF16 = torch.bfloat16
ONE = torch.ones(())


def saturated(values):
    return values.clamp(-448, 448).to(E4)


@pytest.fixture(scope="module")
def product(tmp_path_factory):
    """`product(folder, tool)`: D = sa * sb * A x B' of any sizes, f32; the text asks what torch's own checks refuse."""
    made = {}

    def get(tool, name, text):
        if name not in made:
            made[name] = Graph.parse(tool, tmp_path_factory.mktemp(name), text)
        return made[name]
    return get


ANY_SIZE = """
%a = input e4m3[s0, s1]
%b = input e4m3[s2, s1]
%sa = input f32[]
%sb = input f32[]
%t = aten.t.default(self=%b) -> e4m3[s1, s2]
%d = aten._scaled_mm.default(self=%a, mat2=%t, scale_a=%sa, scale_b=%sb, out_dtype=!f32) -> f32[s0, s2]
return %d
"""

WITH_BIAS = """
%a = input e4m3[s0, s1]
%b = input e4m3[s2, s1]
%sa = input f32[s0, 1]
%sb = input f32[1, s2]
%v = input bf16[s2]
%t = aten.t.default(self=%b) -> e4m3[s1, s2]
%d = aten._scaled_mm.default(self=%a, mat2=%t, scale_a=%sa, scale_b=%sb, bias=%v, out_dtype=!bf16) -> bf16[s0, s2]
return %d
"""

ODD_SIZES = [(16, 41, 128), (17, 64, 20001), (1, 712, 896), (3, 5, 7), (65, 253, 4096), (8, 16, 4), (1, 1, 1)]
SMALL_M = [(m, 32, 48) for m in (1, 2, 7, 15, 17, 31, 33)]


@pytest.mark.parametrize("m,k,n", ODD_SIZES + SMALL_M, ids=lambda value: str(value))
def test_c5_c6_any_size(tool, product, m, k, n):
    a, b = integers((m, k), seed=m), integers((n, k), seed=n)
    (d,) = product(tool, "any", ANY_SIZE)(a.to(E4), b.to(E4), torch.tensor(0.5), torch.tensor(4.0))
    assert_same([d], [2 * (a @ b.t())])
    assert d.any()


@pytest.mark.parametrize("m,k,n", [(0, 32, 48), (16, 32, 0), (16, 0, 48), (0, 0, 48)], ids=str)
def test_c7_sizes_of_zero(tool, product, m, k, n):
    """Nothing to add is 0, and the bias where there is one."""
    a, b = torch.ones(m, k).to(E4), torch.ones(n, k).to(E4)
    (d,) = product(tool, "any", ANY_SIZE)(a, b, ONE, ONE)
    assert_same([d], [torch.zeros(m, n) + k])
    bias = integers((n,)).bfloat16()
    (d,) = product(tool, "bias", WITH_BIAS)(a, b, torch.ones(m, 1), torch.ones(1, n), bias)
    assert_same([d], [(torch.zeros(m, n) + k + bias.float()).bfloat16()])


def test_c1_result_type_of_the_first_operand(parse_graph):
    a, b = integers((16, 32)), integers((48, 32), seed=1)
    graph = parse_graph("""
%a = input e4m3[s0, 32]
%b = input e4m3[48, 32]
%sa = input f32[]
%sb = input f32[]
%t = aten.t.default(self=%b) -> e4m3[32, 48]
%d = aten._scaled_mm.default(self=%a, mat2=%t, scale_a=%sa, scale_b=%sb) -> e4m3[s0, 48]
return %d
""")
    (d,) = graph(a.to(E4), b.to(E4), torch.tensor(2.0), torch.tensor(1.0))
    exact = 2 * (a @ b.t())
    assert (exact.abs() > 464).any()
    assert_same([d], [saturated(exact)])


BIASES = [(BF16, BF16), (torch.float16, torch.float16), (E4, BF16), (E4, torch.float16)]


@pytest.mark.parametrize("result,bias", BIASES, ids=lambda dtype: str(dtype)[6:])
def test_c2_bias_types(parse_graph, result, bias):
    names = {BF16: "bf16", torch.float16: "f16", E4: "e4m3"}
    graph = parse_graph(f"""
%a = input e4m3[s0, 32]
%b = input e4m3[48, 32]
%s = input f32[]
%v = input {names[bias]}[48]
%t = aten.t.default(self=%b) -> e4m3[32, 48]
%d = aten._scaled_mm.default(self=%a, mat2=%t, scale_a=%s, scale_b=%s, bias=%v, out_dtype=!{names[result]}) -> {names[result]}[s0, 48]
return %d
""")
    a, b, v = integers((16, 32), 4), integers((48, 32), 4, seed=1), integers((48,), seed=2) / 4
    (d,) = graph(a.to(E4), b.to(E4), torch.tensor(0.5), v.to(bias))
    exact = (a @ b.t()) / 4 + v
    assert_same([d], [saturated(exact) if result == E4 else exact.to(result)])


def test_c2_wide_bias_is_added_wide(export_graph):
    """1 * 1 summed 32 times and 2^-8: in bf16 the bias would be lost."""
    def function(a, b, v):
        return torch._scaled_mm(a, b.t(), ONE.clone(), ONE.clone(), out_dtype=torch.float32) + v

    a, b, v = torch.ones(16, 32).to(E4), torch.ones(16, 32).to(E4), torch.full((16,), 0.00390625)
    (d,) = export_graph(function, (a, b, v))(a, b, v)
    assert_same([d], [torch.full((16, 16), 32.00390625)])


@pytest.mark.parametrize("left,right", [("e4m3", "e5m2"), ("e5m2", "e4m3")])
def test_c3_mixed_formats(parse_graph, left, right):
    graph = parse_graph(f"""
%a = input {left}[16, 16]
%b = input {right}[16, 16]
%s = input f32[]
%t = aten.t.default(self=%b) -> {right}[16, 16]
%d = aten._scaled_mm.default(self=%a, mat2=%t, scale_a=%s, scale_b=%s, out_dtype=!f32) -> f32[16, 16]
return %d
""")
    dtypes = {"e4m3": E4, "e5m2": E5}
    a, b = torch.full((16, 16), 1.75).to(dtypes[left]), torch.full((16, 16), 1.5).to(dtypes[right])
    assert_same(graph(a, b, ONE), [torch.full((16, 16), 42.0)])


def test_c8_result_scale(parse_graph):
    """Counts for an f8 result only, where it quantises."""
    graph = parse_graph("""
%a = input e4m3[16, 16]
%b = input e4m3[16, 16]
%s = input f32[]
%r = input f32[]
%t = aten.t.default(self=%b) -> e4m3[16, 16]
%d = aten._scaled_mm.default(self=%a, mat2=%t, scale_a=%s, scale_b=%s, scale_result=%r, out_dtype=!bf16) -> bf16[16, 16]
%e = aten._scaled_mm.default(self=%a, mat2=%t, scale_a=%s, scale_b=%s, scale_result=%r, out_dtype=!e4m3) -> e4m3[16, 16]
return %d, %e
""")
    a, b = torch.eye(16) * 2, 4 * integers((16, 16), 7)
    exact = a @ b.t()
    assert_same(graph(a.to(E4), b.to(E4), ONE, torch.tensor(0.5)), [exact.bfloat16(), (exact * 0.5).to(E4)])


def test_c9_scales_before_narrowing(parse_graph):
    """The sum is beyond f16, the result is not."""
    graph = parse_graph("""
%a = input e4m3[16, 128]
%b = input e4m3[16, 128]
%s = input f32[]
%t = aten.t.default(self=%b) -> e4m3[128, 16]
%d = aten._scaled_mm.default(self=%a, mat2=%t, scale_a=%s, scale_b=%s, out_dtype=!f16) -> f16[16, 16]
return %d
""")
    a = torch.full((16, 128), 448.0).to(E4)
    assert_same(graph(a, a, torch.tensor(2.0**-9)), [torch.full((16, 16), 98.0).half()])


def test_c13_one_scale_in_any_rank(parse_graph):
    shapes = ["", "1", "1, 1", "1, 1, 1"]
    text = "%a = input e4m3[s0, 32]\n%b = input e4m3[48, 32]\n"
    text += "".join(f"%sa{i} = input f32[{shape}]\n" for i, shape in enumerate(shapes))
    text += "".join(f"%sb{i} = input f32[{shape}]\n" for i, shape in enumerate(shapes))
    text += "%t = aten.t.default(self=%b) -> e4m3[32, 48]\n"
    pairs = [(i, j) for i in range(4) for j in range(4)]
    text += "".join(f"%d{i}{j} = aten._scaled_mm.default(self=%a, mat2=%t, scale_a=%sa{i}, scale_b=%sb{j}, "
                    "out_dtype=!f32) -> f32[s0, 48]\n" for i, j in pairs)
    text += "return " + ", ".join(f"%d{i}{j}" for i, j in pairs) + "\n"
    a, b = integers((5, 32)), integers((48, 32), seed=1)
    sa, sb = ([torch.full([1] * rank, value) for rank in range(4)] for value in (0.25, 8.0))
    assert_same(parse_graph(text)(a.to(E4), b.to(E4), *sa, *sb), [2 * (a @ b.t())] * 16)


def test_c13_scale_of_a_kept_dim(export_graph):
    """The amax of a 3-D activation that keeps its dims: a scale of shape (1, 1, 1)."""
    def function(x, w):
        scale = x.abs().amax(dim=(0, 1, 2), keepdim=True).float() / 448
        q = (x.float() / scale).to(E4)
        return torch._scaled_mm(q.view(-1, 32), w.t(), scale, torch.full((1, 1), 0.5), out_dtype=BF16)

    x, w = integers((2, 4, 32), 7).bfloat16(), integers((48, 32), seed=1)
    x[0, 0, 0] = 7  # scale 2^-6: the cast is exact
    (d,) = export_graph(function, (x, w.to(E4)))(x, w.to(E4))
    assert_same([d], [(x.float().view(-1, 32) @ w.t() / 2).bfloat16()])


def test_c15_scales_of_rows_and_columns(export_graph):
    def function(a, b, sa, sb):
        return torch._scaled_mm(a, b.t(), sa, sb, out_dtype=torch.float32)

    sa, sb = torch.arange(1.0, 33).reshape(32, 1), torch.arange(1.0, 49).reshape(1, 48) / 2
    args = (torch.ones(32, 32).to(E4), torch.ones(48, 32).to(E4), sa, sb)
    (d,) = export_graph(function, args)(*args)
    assert d[3, 5] == 384
    assert_same([d], [32 * sa * sb])


def test_c18_layouts(parse_graph):
    """B row-major, A a transposed view: values, not layouts, are multiplied."""
    graph = parse_graph("""
%a = input e4m3[32, s0]
%b = input e4m3[32, 48]
%s = input f32[]
%t = aten.t.default(self=%a) -> e4m3[s0, 32]
%d = aten._scaled_mm.default(self=%t, mat2=%b, scale_a=%s, scale_b=%s, out_dtype=!f32) -> f32[s0, 48]
return %d
""")
    a, b = integers((32, 19)), integers((32, 48), seed=1)
    assert_same(graph(a.to(E4), b.to(E4), ONE), [a.t() @ b])


def test_c18_copied_weight(export_graph):
    """permute and clone make a constant B row-major."""
    weight = integers((48, 32), seed=1)

    def function(self, x):
        b = self.w.permute(1, 0).clone(memory_format=torch.contiguous_format).t().contiguous().t()
        return torch._scaled_mm(x, b, torch.ones(()), torch.ones(()), out_dtype=torch.float32)

    x = integers((16, 32))
    assert_same(export_graph(Function(function, w=weight.to(E4)), (x.to(E4),))(x.to(E4)), [x @ weight.t()])


def test_d7_column_major_operand(export_graph):
    """y has strides (1, 64); its layout is kept."""
    def function(x, y):
        return torch._scaled_mm(x.to(E4), y.to(E4).t(), torch.ones(()), torch.ones(()), out_dtype=torch.float32), x @ y.t()

    x, y = integers((32, 64)), integers((96, 64), seed=1)
    assert_same(export_graph(function, (x, y))(x, y), [x @ y.t()] * 2)


@pytest.mark.parametrize("n,k", [(48, 32), (32, 32)])
def test_f4_transposed_weight(export_graph, n, k):
    weight = integers((n, k), seed=1)

    def function(self, x):
        return torch._scaled_mm(x, self.w.permute(1, 0), torch.ones(()), torch.ones(()), out_dtype=torch.float32)

    x = integers((16, k))
    assert_same(export_graph(Function(function, w=weight.to(E4)), (x.to(E4),))(x.to(E4)), [x @ weight.t()])


def test_f8_spellings(export_graph):
    """Positional, by name, mixed, no result type, and the second version of the operator."""
    from torch.nn.functional import ScalingType, scaled_mm

    def function(a, b, s, v):
        tensor = ScalingType.TensorWise
        return (torch.ops.aten._scaled_mm.default(a, b.t(), s, s, v, None, BF16, True),
                torch.ops.aten._scaled_mm.default(a, mat2=b.t(), scale_a=s, scale_b=s, bias=v, scale_result=None,
                                                  out_dtype=BF16, use_fast_accum=True),
                torch.ops.aten._scaled_mm.default(a, b.t(), scale_b=s, scale_a=s, out_dtype=BF16, bias=v),
                torch.ops.aten._scaled_mm.default(a, b.t(), s, s, out_dtype=None),
                scaled_mm(a, b.t(), s, tensor, s, tensor, bias=v, output_dtype=BF16))

    a, b, v = integers((16, 32), 4), integers((48, 32), 4, seed=1), integers((48,), seed=2)
    args = (a.to(E4), b.to(E4), torch.tensor(0.5), v.bfloat16())
    exact = (a @ b.t()) / 4
    biased = (exact + v).bfloat16()
    assert_same(export_graph(function, args)(*args), [biased] * 3 + [saturated(exact)] + [biased])


def test_f6_payloads(parse_graph, export_graph):
    """Every code of a weight is the file's, NaN and -0 too."""
    every = torch.arange(256, dtype=torch.uint8)

    def function(self, x):
        return self.a.view(torch.uint8) + x, self.b.view(torch.uint8) + x, self.a.clone(), self.b.clone()

    module = Function(function, a=every.view(E4), b=every.view(E5))
    zero = torch.zeros(256, dtype=torch.uint8)
    a, b, copy_a, copy_b = export_graph(module, (zero,))(zero)
    for tensor in (a, b, copy_a.view(torch.uint8), copy_b.view(torch.uint8)):
        assert torch.equal(tensor, every)
    assert codes(copy_a[[0x7E, 0x7F, 0x80]]) == "7E NaN 80" and f32(1).item() == 1
