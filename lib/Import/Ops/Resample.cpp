//===- Resample.cpp - Interpolation over the last dims -----------------===//
//
// Part of fp8c, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Positions are f32 and weights have the input's type, as in PyTorch; the sum
// is f32 and rounded once.
//
//===----------------------------------------------------------------------===//

#include "Common.h"

using namespace mlir;
using namespace fp8c;
using namespace fp8c::import;

namespace {
/// One dim's step from output to input positions, if it is a known number.
struct Axis {
  OpFoldResult from, to;
  double factor = 0;
};
} // namespace

/// The axes after batch and channels; sizes are those that the archive states.
static FailureOr<SmallVector<Axis>> readAxes(ImportContext &c, Value input) {
  Sizes from = c.graph.sizes(input), to = c.outputSizes();
  if (from.size() < 3 || to.size() != from.size())
    return c.error() << "expected (batch, channels, positions...), got "
                     << from.size() << " dims";
  SmallVector<double> factors;
  if (c.has("scale_factors"))
    for (double factor : c.floats("scale_factors"))
      factors.push_back(factor);
  SmallVector<Axis> axes;
  for (size_t i = 2; i < from.size(); ++i)
    axes.push_back(
        {from[i], to[i], i - 2 < factors.size() ? factors[i - 2] : 0.0});
  return axes;
}

/// A size as f32 in a body.
static Value sizeAsFloat(Scalars &s, OpFoldResult size) {
  Type f32 = s.getBuilder().getF32Type();
  if (auto number = getConstantIntValue(size))
    return s.number(f32, static_cast<double>(*number));
  return s.convert(cast<Value>(size), f32);
}

/// Input positions per output position.
static Value stepOf(Scalars &s, const Axis &axis) {
  Type f32 = s.getBuilder().getF32Type();
  if (axis.factor > 0)
    return s.number(f32, 1.0 / axis.factor);
  return s.div(sizeAsFloat(s, axis.from), sizeAsFloat(s, axis.to));
}

/// A float position as an index of at most the last element.
static Value floorIndex(Scalars &s, Value position, const Axis &axis) {
  Type type = s.getBuilder().getIndexType();
  auto number = getConstantIntValue(axis.from);
  Value size = number ? s.integer(type, *number) : cast<Value>(axis.from);
  Value index = s.convert(s.math<math::FloorOp>(position), type);
  return s.min(index, s.sub(size, s.integer(type, 1)));
}

/// The f32 value after a rounding to `type`.
static Value rounded(Scalars &s, Value value, Type type) {
  return s.convert(s.convert(value, type), value.getType());
}

static Results nearest(ImportContext &c) {
  Value input = c.tensor("input");
  FailureOr<SmallVector<Axis>> axes = readAxes(c, input);
  if (failed(axes))
    return failure();
  return one(c.graph.generate(
      c.outputSizes(), elementOf(input), [&](Scalars &s, ValueRange v) {
        SmallVector<Value> position(v);
        Type f32 = s.getBuilder().getF32Type();
        for (auto [i, axis] : llvm::enumerate(*axes))
          position[2 + i] = floorIndex(
              s, s.mul(s.convert(v[2 + i], f32), stepOf(s, axis)), axis);
        return GraphBuilder::extract(s, input, position);
      }));
}

static Results linear(ImportContext &c) {
  Value input = c.tensor("input");
  FailureOr<SmallVector<Axis>> axes = readAxes(c, input);
  if (failed(axes) || failed(refuseF8(c, input)))
    return failure();
  bool alignCorners = c.boolean("align_corners");
  Type type = elementOf(input), compute = getComputeType(type);
  return one(
      c.graph.generate(c.outputSizes(), type, [&](Scalars &s, ValueRange v) {
        Type f32 = s.getBuilder().getF32Type();
        Value unit = s.number(f32, 1), half = s.number(f32, 0.5);
        SmallVector<Value> low, high, weight;
        for (auto [i, axis] : llvm::enumerate(*axes)) {
          Value at = s.convert(v[2 + i], f32);
          if (alignCorners) {
            Value span = s.max(s.sub(sizeAsFloat(s, axis.to), unit), unit);
            at = s.mul(at, s.div(s.sub(sizeAsFloat(s, axis.from), unit), span));
          } else {
            at = s.sub(s.mul(s.add(at, half), stepOf(s, axis)), half);
            at = s.max(at, s.number(f32, 0));
          }
          low.push_back(floorIndex(s, at, axis));
          high.push_back(
              floorIndex(s, s.add(s.convert(low.back(), f32), unit), axis));
          weight.push_back(
              rounded(s, s.sub(at, s.convert(low.back(), f32)), type));
        }
        // The corners around the position, weighted.
        Value sum;
        for (unsigned corner = 0; corner < 1u << axes->size(); ++corner) {
          SmallVector<Value> position(v);
          Value share;
          for (unsigned i = 0; i < axes->size(); ++i) {
            bool isHigh = corner >> i & 1;
            position[2 + i] = isHigh ? high[i] : low[i];
            Value part =
                isHigh ? weight[i] : rounded(s, s.sub(unit, weight[i]), type);
            share = share ? s.mul(share, part) : part;
          }
          Value element =
              s.convert(GraphBuilder::extract(s, input, position), compute);
          Value term = s.mul(s.convert(share, compute), element);
          sum = sum ? s.add(sum, term) : term;
        }
        return s.convert(sum, type);
      }));
}

void fp8c::import::addResampleOps(OpTable &table) {
  auto add = [&](StringRef name, StringRef schema, Converter convert) {
    table.add("interpolation", ("aten." + name + ".vec").str(), schema,
              convert);
  };
  StringRef plain = "Tensor input, SymInt[]? output_size, float[]? "
                    "scale_factors";
  StringRef aligned = "Tensor input, SymInt[]? output_size, bool "
                      "align_corners, float[]? scale_factors";
  add("upsample_nearest1d", plain, nearest);
  add("upsample_nearest2d", plain, nearest);
  add("upsample_nearest3d", plain, nearest);
  add("upsample_linear1d", aligned, linear);
  add("upsample_bilinear2d", aligned, linear);
}
