"""fp8.cast, as the folder computes it, against ml_dtypes: every bf16 and f16, boundary f32s, every code back.

The folder calls the host's exact casts, which the runtime uses too. Bytes are
equal; of a NaN only that it is one.
"""

import re

import ml_dtypes
import numpy
import pytest

FORMATS = {
    "f8E4M3FN": (ml_dtypes.float8_e4m3fn, 448.0),
    "f8E5M2": (ml_dtypes.float8_e5m2, 57344.0),
}
WIDE = {"f32": numpy.float32, "bf16": ml_dtypes.bfloat16, "f16": numpy.float16}


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


@pytest.mark.parametrize("overflow", ["saturate", "ieee"])
@pytest.mark.parametrize("target", FORMATS)
@pytest.mark.parametrize("source", WIDE)
def test_narrow(tool, tmp_path, source, target, overflow):
    values = inputs(source)
    dtype, largest = FORMATS[target]
    wide = values.astype(numpy.float32)
    if overflow == "saturate":
        # numpy's clip keeps NaN.
        wide = numpy.clip(wide, numpy.float32(-largest), numpy.float32(largest))
    expected = wide.astype(dtype)
    bits = cast(tool, tmp_path, values, source, target, overflow)
    is_nan = numpy.isnan(expected.astype(numpy.float32))
    assert numpy.array_equal(numpy.isnan(bits.view(dtype).astype(numpy.float32)), is_nan)
    assert numpy.array_equal(bits[~is_nan], expected.view(numpy.uint8)[~is_nan])
    assert len(bits) >= 1000 and bits.any()


@pytest.mark.parametrize("source", FORMATS)
@pytest.mark.parametrize("target", WIDE)
def test_widen(tool, tmp_path, source, target):
    dtype, _ = FORMATS[source]
    values = numpy.arange(256, dtype=numpy.uint8).view(dtype)
    bits = cast(tool, tmp_path, values, source, target)
    result = bits.view(WIDE[target]).astype(numpy.float32)
    expected = values.astype(numpy.float32)
    assert numpy.array_equal(result, expected, equal_nan=True)
    # -0 keeps its sign.
    finite = ~numpy.isnan(expected)
    assert numpy.array_equal(numpy.signbit(result)[finite], numpy.signbit(expected)[finite])
