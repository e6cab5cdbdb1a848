//===- Quantize.cpp - Scaled casts as libraries spell them -------------===//
//
// Part of fp8c, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// torchao, quantized_decomposed and TensorRT's operators, as the arithmetic
// that their reference implementations do, each rounding included.
//
//===----------------------------------------------------------------------===//

#include "Common.h"

using namespace mlir;
using namespace fp8c;
using namespace fp8c::import;

/// The largest finite value of an f8 type.
static double largest(Type type) {
  return isa<Float8E5M2Type>(type) ? 57344.0 : 448.0;
}

static FailureOr<Type> f8Type(ImportContext &c, StringRef name) {
  Type type = c.dtype(name);
  if (!type || !fp8::isF8Type(type))
    return c.error() << "'" << name << "' must be f8E4M3FN or f8E5M2";
  return type;
}

/// The tensor with each dim split in (blocks, block), and the dims of blocks.
static FailureOr<std::pair<Sizes, SmallVector<int64_t>>>
splitBlocks(ImportContext &c, Value tensor, const Sizes &block) {
  GraphBuilder &g = c.graph;
  Sizes sizes = g.sizes(tensor), split;
  SmallVector<int64_t> dims;
  if (block.size() != sizes.size())
    return c.error() << "'block_size' must have " << sizes.size()
                     << " numbers, got " << block.size();
  for (auto [size, part] : llvm::zip(sizes, block)) {
    OpFoldResult count = g.arith.exactDiv(size, part);
    if (isConstantIntValue(part, 1)) {
      split.push_back(size);
    } else if (g.arith.equal(size, part)) {
      dims.push_back(split.size());
      split.push_back(size);
    } else if (count) {
      split.push_back(count);
      dims.push_back(split.size());
      split.push_back(part);
    } else {
      return c.error() << "'block_size' must divide the tensor's sizes";
    }
  }
  return std::make_pair(split, dims);
}

/// amax / max over blocks, in the tensor's own type, then f32.
static Results chooseScale(ImportContext &c) {
  Value tensor = c.tensor("tensor");
  FailureOr<Type> format = f8Type(c, "float8_dtype");
  if (failed(format) || failed(refuseF8(c, tensor)))
    return failure();
  Type scaleType = c.dtype("scale_dtype");
  if (!scaleType || !scaleType.isF32())
    return c.error() << "'scale_dtype' must be f32";
  GraphBuilder &g = c.graph;
  auto blocks = splitBlocks(c, tensor, c.sizes("block_size"));
  if (failed(blocks))
    return failure();
  Type type = elementOf(tensor), compute = getComputeType(type);
  Value split = g.reshape(tensor, blocks->first);
  Value magnitude = g.elementwise(split, type, [&](Scalars &s, ValueRange v) {
    return s.convert(s.abs(s.convert(v[0], compute)), type);
  });
  Value amax = g.convert(
      g.amax(magnitude, blocks->second, /*keepDim=*/true, compute), type);
  if (c.has("hp_value_lb") || c.has("hp_value_ub"))
    amax = g.elementwise(amax, type, [&](Scalars &s, ValueRange v) {
      Value x = s.convert(v[0], compute);
      if (c.has("hp_value_lb"))
        x = s.max(x, readNumber(c, s, c.number("hp_value_lb"), type, compute));
      if (c.has("hp_value_ub"))
        x = s.min(x, readNumber(c, s, c.number("hp_value_ub"), type, compute));
      return s.convert(x, type);
    });
  Value scale = g.elementwise(amax, type, [&](Scalars &s, ValueRange v) {
    Value x = s.convert(v[0], compute),
          max = s.number(compute, largest(*format));
    if (c.options.divideByReciprocal)
      return s.convert(s.mul(x, s.div(s.number(compute, 1), max)), type);
    return s.convert(s.div(x, max), type);
  });
  scale = g.convert(scale, g.getBuilder().getF32Type());
  return one(g.reshape(scale, c.outputSizes()));
}

/// The scale broadcast to the tensor: blocks are repeated.
static FailureOr<Value> spreadScale(ImportContext &c, Value scale,
                                    Value tensor) {
  GraphBuilder &g = c.graph;
  Sizes sizes = g.sizes(tensor), own = g.sizes(scale);
  if (isConstantIntValue(g.arith.product(own), 1))
    return g.reshape(scale, {});
  if (own.size() != sizes.size())
    return c.error() << "'scale' must have " << sizes.size() << " dims, got "
                     << own.size();
  Sizes split, wide;
  for (auto [size, count] : llvm::zip(sizes, own)) {
    bool whole = isConstantIntValue(count, 1) || g.arith.equal(size, count);
    OpFoldResult block =
        whole ? g.arith.constant(1) : g.arith.exactDiv(size, count);
    if (!block)
      return c.error() << "'scale' must divide the tensor's sizes";
    split.append({count, g.arith.constant(1)});
    wide.append({count, block});
  }
  Value spread = g.expand(g.reshape(scale, split), wide);
  Sizes merged;
  for (size_t i = 0; i < wide.size(); i += 2)
    merged.push_back(g.arith.mul(wide[i], wide[i + 1]));
  return g.reshape(spread, merged);
}

/// cast(clamp(f32(x) / scale)).
static Results quantizeAffine(ImportContext &c) {
  Value tensor = c.tensor("tensor");
  FailureOr<Type> format = f8Type(c, "float8_dtype");
  if (failed(format) || failed(refuseF8(c, tensor)))
    return failure();
  FailureOr<Value> scale = spreadScale(c, c.tensor("scale"), tensor);
  if (failed(scale))
    return failure();
  Type f32 = c.graph.getBuilder().getF32Type();
  double max = largest(*format);
  return one(c.graph.elementwise(
      {tensor, *scale}, *format, [&](Scalars &s, ValueRange v) {
        Value x = s.div(s.convert(v[0], f32), s.convert(v[1], f32));
        x = s.min(s.max(x, s.number(f32, -max)), s.number(f32, max));
        return s.convert(x, *format, false, c.options.castOverflow);
      }));
}

/// f32(x) * scale, rounded to the output's type.
static Results dequantizeAffine(ImportContext &c) {
  Value tensor = c.tensor("tensor");
  FailureOr<Value> scale = spreadScale(c, c.tensor("scale"), tensor);
  if (failed(scale))
    return failure();
  Type f32 = c.graph.getBuilder().getF32Type(), type = c.outputType();
  return one(c.graph.elementwise(
      {tensor, *scale}, type, [&](Scalars &s, ValueRange v) {
        return s.convert(s.mul(s.convert(v[0], f32), s.convert(v[1], f32)),
                         type);
      }));
}

/// A scale that is a number or a tensor of one element, as f32 in a body.
static SmallVector<Value> scaleInputs(GraphBuilder &g, ImportContext &c,
                                      Value input) {
  SmallVector<Value> inputs{input};
  if (!c.isNumber("scale"))
    inputs.push_back(g.reshape(c.tensor("scale"), {}));
  return inputs;
}

/// clamp(round(x * (1 / scale)) + zero_point): the rounding to integers is in
/// the reference, whatever the type.
static Results quantizePerTensor(ImportContext &c) {
  Value input = c.tensor("input");
  if (failed(refuseF8(c, input)))
    return failure();
  if (!c.isNumber("scale") &&
      !isConstantIntValue(
          c.graph.arith.product(c.graph.sizes(c.tensor("scale"))), 1))
    return c.error() << "'scale' must have one element";
  GraphBuilder &g = c.graph;
  Type f32 = g.getBuilder().getF32Type(), type = c.outputType();
  double low = c.integer("quant_min"), high = c.integer("quant_max");
  double zeroPoint = c.integer("zero_point");
  return one(g.elementwise(
      scaleInputs(g, c, input), type, [&](Scalars &s, ValueRange v) {
        Value inverse = v.size() == 2
                            ? s.div(s.number(f32, 1), s.convert(v[1], f32))
                            : s.number(f32, 1.0 / c.number("scale").asDouble());
        Value x = s.mul(s.convert(v[0], f32), inverse);
        x = s.math<math::RoundEvenOp>(x);
        x = s.add(x, s.number(f32, zeroPoint));
        x = s.min(s.max(x, s.number(f32, low)), s.number(f32, high));
        return s.convert(x, type, false, c.options.castOverflow);
      }));
}

/// (x - zero_point) * scale.
static Results dequantizePerTensor(ImportContext &c) {
  Value input = c.tensor("input");
  GraphBuilder &g = c.graph;
  if (!c.isNumber("scale") &&
      !isConstantIntValue(g.arith.product(g.sizes(c.tensor("scale"))), 1))
    return c.error() << "'scale' must have one element";
  Type f32 = g.getBuilder().getF32Type(), type = c.outputType();
  double zeroPoint = c.integer("zero_point");
  bool isUnsigned = c.isUnsigned("input");
  return one(g.elementwise(
      scaleInputs(g, c, input), type, [&](Scalars &s, ValueRange v) {
        Value x = s.convert(v[0], f32, isUnsigned);
        x = s.sub(x, s.number(f32, zeroPoint));
        Value scale = v.size() == 2
                          ? s.convert(v[1], f32)
                          : s.number(f32, c.number("scale").asDouble());
        return s.convert(s.mul(x, scale), type);
      }));
}

/// TensorRT's fake quantisation: to E4M3 by 448 / amax and back.
static Results tensorrtQuantize(ImportContext &c) {
  Value input = c.tensor("input"), amax = c.tensor("amax");
  if (c.integer("num_bits") != 8 || c.integer("exponent_bits") != 4)
    return c.error() << "expected 8 bits with 4 of exponent, got "
                     << c.integer("num_bits") << " with "
                     << c.integer("exponent_bits");
  FailureOr<Value> spread = spreadScale(c, amax, input);
  if (failed(refuseF8(c, input)) || failed(spread))
    return failure();
  GraphBuilder &g = c.graph;
  Builder &builder = g.getBuilder();
  Type f32 = builder.getF32Type(), type = c.outputType();
  Type f8 = Float8E4M3FNType::get(builder.getContext());
  Value codes =
      g.elementwise({input, *spread}, f8, [&](Scalars &s, ValueRange v) {
        Value scale = s.div(s.number(f32, 448), s.convert(v[1], f32));
        return s.convert(s.mul(s.convert(v[0], f32), scale), f8, false,
                         c.options.castOverflow);
      });
  return one(
      g.elementwise({codes, *spread}, type, [&](Scalars &s, ValueRange v) {
        Value scale = s.div(s.convert(v[1], f32), s.number(f32, 448));
        return s.convert(s.mul(s.convert(v[0], f32), scale), type);
      }));
}

void fp8c::import::addQuantizeOps(OpTable &table) {
  auto add = [&](StringRef name, StringRef schema, Converter convert) {
    table.add("scaled casts", name, schema, convert);
  };
  // Dtypes by the archive's numbers: 29 is f8E4M3FN, 7 is f32.
  add("torchao.choose_scale_float8.default",
      "Tensor tensor, SymInt[] block_size, ScalarType float8_dtype=29, "
      "ScalarType scale_dtype=7, float? hp_value_lb=None, float? "
      "hp_value_ub=None",
      chooseScale);
  for (StringRef suffix : {"", "_non_decomposed"}) {
    add(("torchao.quantize_affine_float8" + suffix + ".default").str(),
        "Tensor tensor, Tensor scale, ScalarType float8_dtype=29",
        quantizeAffine);
    add(("torchao.dequantize_affine_float8" + suffix + ".default").str(),
        "Tensor tensor, Tensor scale, ScalarType output_dtype=7",
        dequantizeAffine);
  }
  for (StringRef overload : {"default", "tensor"}) {
    std::string scale = overload == "default" ? "float scale, int zero_point"
                                              : "Tensor scale, int zero_point";
    std::string tail = ", int quant_min, int quant_max, ScalarType dtype";
    add(("quantized_decomposed.quantize_per_tensor." + overload).str(),
        "Tensor input, " + scale + tail, quantizePerTensor);
    add(("quantized_decomposed.dequantize_per_tensor." + overload).str(),
        "Tensor input, " + scale + tail + ", *, ScalarType? out_dtype=None",
        dequantizePerTensor);
  }
  add("tensorrt.quantize_op.default",
      "Tensor input, Tensor amax, int num_bits, int exponent_bits, bool "
      "unsigned=False, bool narrow_range=False",
      tensorrtQuantize);
}
