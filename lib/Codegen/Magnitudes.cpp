//===- Magnitudes.cpp - Values no larger than what they are of ------------===//
//
// Part of fp8c, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Intervals, and multiples of the one element that a value depends on. Errors
// of f32 operations in between are far below half a unit of the narrow type
// that the value has in the end, and rounding to that is monotonic: a value of
// at most x (1 + 2^-10) becomes at most x.
//
//===----------------------------------------------------------------------===//

#include "Magnitudes.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/IR/Matchers.h"
#include "llvm/ADT/TypeSwitch.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>

using namespace mlir;
using namespace fp8c;
using namespace fp8c::codegen;

static constexpr double kInfinity = std::numeric_limits<double>::infinity();
/// Beyond this f32 may be infinite; below its inverse it may be 0.
static constexpr double kMostF32 = 0x1p120;

namespace {
/// low <= v <= high and |v| <= ratio * |x|.
struct Bounds {
  double low, high, ratio;

  double top() const { return std::max(std::abs(low), std::abs(high)); }
};

class Magnitudes {
public:
  explicit Magnitudes(const RowProgram &program) : program(program) {}

  std::optional<Bounds> ofTensor(Value tensor);
  OpOperand *getRead() const { return read; }

private:
  std::optional<Bounds> ofScalar(Value value);
  std::optional<Bounds> ofOp(Operation *op);
  std::optional<Bounds> ofArgument(BlockArgument argument);

  const RowProgram &program;
  OpOperand *read = nullptr;
  DenseMap<Value, std::optional<Bounds>> known;
};
} // namespace

std::optional<Bounds> Magnitudes::ofTensor(Value tensor) {
  auto op = tensor.getDefiningOp<linalg::GenericOp>();
  if (!op || op.getNumReductionLoops() > 0)
    return std::nullopt;
  auto number = cast<OpResult>(tensor).getResultNumber();
  return ofScalar(op.getBody()->getTerminator()->getOperand(number));
}

std::optional<Bounds> Magnitudes::ofArgument(BlockArgument argument) {
  auto op = dyn_cast<linalg::GenericOp>(argument.getOwner()->getParentOp());
  if (!op)
    return std::nullopt;
  OpOperand *operand = op.getMatchingOpOperand(argument);
  AffineMap map = op.getMatchingIndexingMap(operand);
  if (!isa<BlockArgument>(operand->get()))
    return map.isIdentity() ? ofTensor(operand->get()) : std::nullopt;
  // One element only, wherever it is read.
  AffineMap here = program.getReadMap(op, *operand);
  if (!getElementTypeOrSelf(operand->get()).isBF16() || !map.isIdentity() ||
      (read && (read->get() != operand->get() ||
                program.getReadMap(cast<linalg::GenericOp>(read->getOwner()),
                                   *read) != here)))
    return std::nullopt;
  if (!read)
    read = operand;
  return Bounds{-kLargestElement, kLargestElement, 1};
}

std::optional<Bounds> Magnitudes::ofScalar(Value value) {
  auto [entry, isNew] = known.try_emplace(value, std::nullopt);
  if (!isNew)
    return entry->second;
  std::optional<Bounds> bounds;
  FloatAttr constant;
  if (matchPattern(value, m_Constant(&constant))) {
    double number = constant.getValueAsDouble();
    if (std::abs(number) <= kMostF32)
      bounds = Bounds{number, number, number == 0 ? 0 : kInfinity};
  } else if (auto argument = dyn_cast<BlockArgument>(value)) {
    bounds = ofArgument(argument);
  } else if (isa<FloatType>(value.getType())) {
    bounds = ofOp(value.getDefiningOp());
  }
  // What may overflow may become a NaN.
  if (bounds && !(bounds->top() <= kMostF32))
    bounds = std::nullopt;
  known[value] = bounds;
  return bounds;
}

std::optional<Bounds> Magnitudes::ofOp(Operation *op) {
  SmallVector<Bounds> in;
  for (Value operand : op->getOperands()) {
    std::optional<Bounds> bounds = ofScalar(operand);
    if (!bounds)
      return std::nullopt;
    in.push_back(*bounds);
  }
  auto times = [](double ratio, double by) { return by == 0 ? 0 : ratio * by; };
  return TypeSwitch<Operation *, std::optional<Bounds>>(op)
      .Case<arith::ExtFOp, arith::TruncFOp>([&](auto) { return in[0]; })
      .Case([&](arith::NegFOp) {
        return Bounds{-in[0].high, -in[0].low, in[0].ratio};
      })
      .Case([&](math::AbsFOp) { return Bounds{0, in[0].top(), in[0].ratio}; })
      .Case([&](arith::AddFOp) {
        return Bounds{in[0].low + in[1].low, in[0].high + in[1].high,
                      in[0].ratio + in[1].ratio};
      })
      .Case([&](arith::SubFOp) {
        return Bounds{in[0].low - in[1].high, in[0].high - in[1].low,
                      in[0].ratio + in[1].ratio};
      })
      .Case([&](arith::MulFOp) {
        std::initializer_list<double> ends = {
            in[0].low * in[1].low, in[0].low * in[1].high,
            in[0].high * in[1].low, in[0].high * in[1].high};
        double low =
            op->getOperand(0) == op->getOperand(1) ? 0 : std::min(ends);
        return Bounds{low, std::max(ends),
                      std::min(times(in[0].ratio, in[1].top()),
                               times(in[1].ratio, in[0].top()))};
      })
      .Case([&](arith::MaximumFOp) {
        return Bounds{std::max(in[0].low, in[1].low),
                      std::max(in[0].high, in[1].high),
                      std::max(in[0].ratio, in[1].ratio)};
      })
      .Case([&](arith::MinimumFOp) {
        return Bounds{std::min(in[0].low, in[1].low),
                      std::min(in[0].high, in[1].high),
                      std::max(in[0].ratio, in[1].ratio)};
      })
      .Case<math::TanhOp, math::ErfOp>(
          [&](auto) { return Bounds{-1, 1, kInfinity}; })
      .Default([](Operation *) { return std::nullopt; });
}

OpOperand *codegen::findLargerRead(const RowProgram &program, Value value) {
  if (!getElementTypeOrSelf(value.getType()).isBF16())
    return nullptr;
  Magnitudes magnitudes(program);
  std::optional<Bounds> bounds = magnitudes.ofTensor(value);
  return bounds && bounds->ratio <= 1 ? magnitudes.getRead() : nullptr;
}
