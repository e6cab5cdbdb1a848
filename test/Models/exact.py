"""A traced graph once more, its sums and functions in f64: what its values are but for their errors.

PyTorch's own sums and functions are off by parts in 10^7, so now and then it rounds the wrong way, and what is added next
may cancel: a value differs by several units from one that is right. Lock-step decides such values by these. Its products of
f8 values on the CPU (each operand times its scale, rounded) are less good than the sum that they stand for; end to end they
part, too.
"""

import torch
from torch import fx

aten = torch.ops.aten

# What is not one operation with one rounding: norms and softmaxes, sums, functions.
INEXACT = {
    overload for op in (
        aten.layer_norm, aten.native_layer_norm, aten.rms_norm, aten.group_norm, aten.native_group_norm, aten.softmax,
        aten._softmax, aten.mean, aten.sum, aten.var, aten.silu, aten.gelu, aten.sigmoid, aten.tanh, aten.exp, aten.erf,
        aten.rsqrt, aten.sin, aten.cos, aten.log)
    for overload in (getattr(op, name) for name in op.overloads() if "out" not in name)
}
# Products: of values that are rounded the sum is exact in f64.
PRODUCTS = {
    overload for op in (
        aten.linear, aten.mm, aten.bmm, aten.addmm, aten.baddbmm, aten.matmul, aten.convolution, aten.conv2d,
        aten.scaled_dot_product_attention)
    for overload in (getattr(op, name) for name in op.overloads())
}
SCALED = {aten._scaled_mm.default, aten._scaled_mm_v2.default}


def narrow(value, dtype):
    """Of an f64 value, by one rounding to nearest."""
    if dtype == torch.float64 or not dtype.is_floating_point:
        return value.to(dtype)
    single = value.float()
    if dtype == torch.float32:
        return single
    # Rounded to odd first: torch rounds f64 by way of f32.
    above = single.double().abs() > value.abs()
    toward_zero = torch.where(above, torch.nextafter(single, torch.zeros_like(single)), single)
    odd = (toward_zero.view(torch.int32) | 1).view(torch.float32)
    inexact = (single.double() != value) & value.isfinite()
    return torch.where(inexact, odd, single).to(dtype)


def widen(argument):
    if torch.is_tensor(argument):
        return argument.double() if argument.is_floating_point() else argument
    if isinstance(argument, torch.dtype):
        return torch.float64 if argument.is_floating_point else argument
    return argument


def differ(a, b):
    """Whether a value that is not NaN on both sides has other bits."""
    return bool(((a.double() != b.double()) & ~(a.double().isnan() & b.double().isnan())).any())


def scaled_product(a, b, scale_a, scale_b, bias, blocks=False):
    """Scales of one number, of rows and columns, or of blocks of 1 x 128 and 128 x 128."""
    if blocks:
        scale_a = scale_a.repeat_interleave(128, 1)
        scale_b = scale_b.repeat_interleave(128, 0).repeat_interleave(128, 1)
        a, b, scale_a, scale_b = scale_a * a, scale_b * b, 1, 1
    result = (a @ b) * scale_a * scale_b
    return result if bias is None else result + bias


class Exact(fx.Interpreter):
    """Runs a graph exactly. Given a trace, products and attention have its values, and `differing` are the values that are
    others than in the trace, by node name."""

    def __init__(self, module, traced=None):
        super().__init__(module)
        self.traced, self.differing = traced, {}

    def run_node(self, node):
        if node.op != "call_function":
            return super().run_node(node)
        if self.traced and node.target in PRODUCTS | SCALED:
            return self.traced[node.name].clone()
        value = self.compute(node)
        traced = self.traced.get(node.name) if self.traced else None
        # Wider values are held by distance.
        if traced is not None and value.is_floating_point() and value.element_size() < 4 and differ(value, traced):
            self.differing[node.name] = value.detach().clone()
        return value

    def compute(self, node):
        """The node's value; if it is not exact, from f64, rounded to the types that the graph states."""
        args, kwargs = self.fetch_args_kwargs_from_env(node)
        if node.target not in INEXACT | PRODUCTS | SCALED:
            return node.target(*args, **kwargs)
        args, kwargs = fx.node.map_aggregate(args, widen), fx.node.map_aggregate(kwargs, widen)
        if node.target is aten._scaled_mm.default:
            value = scaled_product(*args[:4], args[4] if len(args) > 4 else kwargs.get("bias"))
        elif node.target is aten._scaled_mm_v2.default:
            a, b, (scale_a,), recipe, _, (scale_b,), _, _, bias = args[:9]
            value = scaled_product(a, b, scale_a, scale_b, bias, blocks=recipe == [4])
        elif node.target is aten._softmax.default:
            value = node.target(*args[:2], False)
        else:
            value = node.target(*args, **kwargs)
        stated = node.meta["val"]
        if torch.is_tensor(value):
            return narrow(value, stated.dtype)
        return tuple(narrow(a, b.dtype) for a, b in zip(value, stated))
