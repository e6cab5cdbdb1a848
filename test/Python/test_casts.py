"""fp8.cast, folded and compiled, against ml_dtypes: every bf16 and f16, boundary f32s, every code back.

The folder calls the host's exact casts, which the runtime uses too; compiled code is vectors, their rest, and scalars. Bytes
are equal; of a NaN only that it is one.
"""

import re

import ml_dtypes
import numpy
import pytest
import torch
from safetensors.torch import load_file, save_file

FORMATS = {
    "f8E4M3FN": (ml_dtypes.float8_e4m3fn, 448.0),
    "f8E5M2": (ml_dtypes.float8_e5m2, 57344.0),
}
WIDE = {"f32": numpy.float32, "bf16": ml_dtypes.bfloat16, "f16": numpy.float16}
TORCH = {"f32": torch.float32, "bf16": torch.bfloat16, "f16": torch.float16, "f8E4M3FN": torch.float8_e4m3fn,
         "f8E5M2": torch.float8_e5m2}
SIGNED = {1: numpy.int8, 2: numpy.int16, 4: numpy.int32}


def cast(tool, path, values, source, target, overflow="saturate"):
    """The bytes that `fp8-opt -canonicalize` folds a cast of `values` to."""
    bits = {"f32": "i32", "bf16": "i16", "f16": "i16"}.get(target, "i8")
    count = values.size
    result = {"i32": numpy.uint32, "i16": numpy.uint16, "i8": numpy.uint8}[bits]
    module = f"""
func.func @f() -> tensor<{count}x{bits}> {{
  %c = arith.constant dense<"0x{values.tobytes().hex()}"> : tensor<{count}x{source}>
  %0 = fp8.cast %c overflow = {overflow} : tensor<{count}x{source}> to tensor<{count}x{target}>
  %1 = arith.bitcast %0 : tensor<{count}x{target}> to tensor<{count}x{bits}>
  return %1 : tensor<{count}x{bits}>
}}
"""
    file = path / "cast.mlir"
    file.write_text(module)
    text, _ = tool("fp8-opt", file, "-canonicalize")
    data = re.search(r'dense<"0x([0-9A-Fa-f]+)"> : tensor<%dx%s>' % (count, bits), text)
    assert data, text[:400]
    return numpy.frombuffer(bytes.fromhex(data.group(1)), dtype=result)


def inputs(source):
    """Every value of a 16-bit type; of f32 what lies around all values and midpoints of the f8 formats."""
    if source != "f32":
        return numpy.arange(1 << 16, dtype=numpy.uint16).view(WIDE[source])
    centers = []
    for dtype, _ in FORMATS.values():
        codes = numpy.arange(256, dtype=numpy.uint8).view(dtype).astype(numpy.float64)
        values = numpy.unique(codes[numpy.isfinite(codes)])
        top = values[-1] + (values[-1] - values[-2])
        values = numpy.concatenate([[-top], values, [top]])
        centers += [values, (values[1:] + values[:-1]) / 2]
    exact = numpy.concatenate(centers).astype(numpy.float32)
    specials = numpy.array([numpy.nan, numpy.inf, -numpy.inf, 0.0, -0.0, 1e30, -1e30], numpy.float32)
    tiny = numpy.array([1, 0x80000001, 0x7F7FFFFF, 0xFF7FFFFF], numpy.uint32).view(numpy.float32)
    up, down = numpy.float32(numpy.inf), numpy.float32(-numpy.inf)
    near = [exact, numpy.nextafter(exact, up), numpy.nextafter(exact, down)]
    return numpy.concatenate(near + [specials, tiny]).astype(numpy.float32)


def narrow(values, target, overflow):
    """What ml_dtypes makes of a cast."""
    dtype, largest = FORMATS[target]
    wide = values.astype(numpy.float32)
    if overflow == "saturate":
        # numpy's clip keeps NaN.
        wide = numpy.clip(wide, numpy.float32(-largest), numpy.float32(largest))
    return wide.astype(dtype)


def assert_equal_codes(bits, expected):
    is_nan = numpy.isnan(expected.astype(numpy.float32))
    assert numpy.array_equal(numpy.isnan(bits.view(expected.dtype).astype(numpy.float32)), is_nan)
    assert numpy.array_equal(bits[~is_nan], expected.view(numpy.uint8)[~is_nan])


def assert_equal_values(result, codes):
    """Widened codes: the same values, and -0 keeps its sign."""
    wide, expected = result.astype(numpy.float32), codes.astype(numpy.float32)
    assert numpy.array_equal(wide, expected, equal_nan=True)
    finite = ~numpy.isnan(expected)
    assert numpy.array_equal(numpy.signbit(wide)[finite], numpy.signbit(expected)[finite])


@pytest.mark.parametrize("overflow", ["saturate", "ieee"])
@pytest.mark.parametrize("target", FORMATS)
@pytest.mark.parametrize("source", WIDE)
def test_narrow(tool, tmp_path, source, target, overflow):
    values = inputs(source)
    bits = cast(tool, tmp_path, values, source, target, overflow)
    assert_equal_codes(bits, narrow(values, target, overflow))
    assert len(bits) >= 1000 and bits.any()


@pytest.mark.parametrize("source", FORMATS)
@pytest.mark.parametrize("target", WIDE)
def test_widen(tool, tmp_path, source, target):
    dtype, _ = FORMATS[source]
    values = numpy.arange(256, dtype=numpy.uint8).view(dtype)
    assert_equal_values(cast(tool, tmp_path, values, source, target).view(WIDE[target]), values)


class Compiled:
    """Casts of one type to several, compiled for any number of elements, or for a scalar."""

    def __init__(self, tool, folder, source, casts, shape="?"):
        self.tool, self.folder, self.source = tool, folder, source
        dims = f'["n"]' if shape else "[]"
        kind = lambda element: f"tensor<{shape}x{element}>" if shape else f"tensor<{element}>"
        results = ", ".join(f'{kind(target)} {{fp8.name = "output{i}"}}' for i, (target, _) in enumerate(casts))
        lines = [f'func.func @forward(%x: {kind(source)} {{fp8.name = "x", fp8.dims = {dims}}}) -> ({results}) {{']
        if shape:
            lines.append('  %n = fp8.symbol "n" min = 0')
        lines += [f"  %{i} = fp8.cast %x overflow = {overflow} : {kind(source)} to {kind(target)}"
                  for i, (target, overflow) in enumerate(casts)]
        lines += [f"  return {', '.join(f'%{i}' for i in range(len(casts)))} : {', '.join(kind(t) for t, _ in casts)}", "}"]
        (folder / "casts.mlir").write_text("\n".join(lines))
        tool("fp8-compile", folder / "casts.mlir", "-o", folder / "casts.fp8")

    def __call__(self, values):
        files = [self.folder / f"{name}.safetensors" for name in ("inputs", "outputs")]
        bits = torch.from_numpy(values.copy().view(SIGNED[values.itemsize]))
        save_file({"x": bits.view(TORCH[self.source])}, files[0])
        self.tool("fp8-run", self.folder / "casts.fp8", f"--inputs={files[0]}", f"--outputs={files[1]}")
        outputs = load_file(files[1])
        results = []
        for i in range(len(outputs)):
            dtype = next(name for name in TORCH if TORCH[name] == outputs[f"output{i}"].dtype)
            kind = WIDE[dtype] if dtype in WIDE else FORMATS[dtype][0]
            bits = outputs[f"output{i}"].view(getattr(torch, f"int{8 * numpy.dtype(kind).itemsize}"))
            results.append(bits.numpy().view(kind))
        return results


NARROW = [(target, overflow) for target in FORMATS for overflow in ("saturate", "ieee")]
# All of a vector, its rest, less than a vector, one, none; from any place.
LENGTHS = [0, 1, 2, 3, 5, 17, 1023]


@pytest.mark.parametrize("source", WIDE)
def test_narrow_compiled(tool, tmp_path, source):
    values = inputs(source)
    compiled = Compiled(tool, tmp_path, source, NARROW)
    for part in [values, values[:-1]] + [values[len(values) // 3:][:length] for length in LENGTHS]:
        for got, (target, overflow) in zip(compiled(part), NARROW, strict=True):
            assert_equal_codes(got.view(numpy.uint8), narrow(part, target, overflow))


@pytest.mark.parametrize("source", FORMATS)
def test_widen_compiled(tool, tmp_path, source):
    values = numpy.arange(256, dtype=numpy.uint8).view(FORMATS[source][0])
    compiled = Compiled(tool, tmp_path, source, [(target, "saturate") for target in WIDE])
    for part in [values, values[1:], values[:77]] + [values[100:][:length] for length in LENGTHS]:
        for got, target in zip(compiled(part), WIDE, strict=True):
            assert got.dtype == WIDE[target]
            assert_equal_values(got, part)


@pytest.mark.parametrize("source", WIDE)
def test_scalar_compiled(tool, tmp_path, source):
    compiled = Compiled(tool, tmp_path, source, NARROW, shape="")
    for value in (1.0625, -464.0, 480.0, 2.0**-10, float("nan")):
        scalar = numpy.array(value).astype(WIDE[source])
        for got, (target, overflow) in zip(compiled(scalar), NARROW, strict=True):
            assert_equal_codes(got.reshape(1).view(numpy.uint8), narrow(scalar.reshape(1), target, overflow))
