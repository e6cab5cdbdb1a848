//===- SizeArith.cpp - Arithmetic on sizes --------------------------------===//
//
// Part of fp8c, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "fp8c/Import/SizeArith.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"

using namespace mlir;
using namespace fp8c;
using namespace fp8c::import;

Location SizeArith::location() { return loc ? *loc : builder.getUnknownLoc(); }

SizeExpr SizeArith::expr(OpFoldResult size) {
  SizeExpr result = shapes.get(size);
  if (auto value = dyn_cast<Value>(size))
    values.try_emplace(result, value);
  return result;
}

OpFoldResult SizeArith::fold(SizeExpr expr) {
  if (std::optional<int64_t> number = SymbolicShape::getConstant(expr)) {
    // The least number stands for a size that is not known.
    broken |= ShapedType::isDynamic(*number);
    return constant(broken ? 0 : *number);
  }
  return shapes.materialize(builder, location(), expr, &values);
}

OpFoldResult SizeArith::constant(int64_t value) const {
  return builder.getIndexAttr(value);
}

std::optional<int64_t> SizeArith::getConstant(OpFoldResult size) {
  return SymbolicShape::getConstant(expr(size));
}

OpFoldResult SizeArith::canonical(OpFoldResult size) {
  return fold(expr(size));
}

Value SizeArith::value(OpFoldResult size) {
  if (auto value = dyn_cast<Value>(size); value && !getConstantIntValue(size))
    return value;
  return shapes.materialize(builder, location(), expr(size), &values);
}

OpFoldResult SizeArith::add(OpFoldResult a, OpFoldResult b) {
  return fold(shapes.add(expr(a), expr(b)));
}

OpFoldResult SizeArith::sub(OpFoldResult a, OpFoldResult b) {
  return fold(shapes.sub(expr(a), expr(b)));
}

OpFoldResult SizeArith::mul(OpFoldResult a, OpFoldResult b) {
  return fold(shapes.mul(expr(a), expr(b)));
}

OpFoldResult SizeArith::product(ArrayRef<OpFoldResult> sizes) {
  SizeExpr result = shapes.constant(1);
  for (OpFoldResult size : sizes)
    result = shapes.mul(result, expr(size));
  return fold(result);
}

OpFoldResult SizeArith::floorDiv(OpFoldResult a, OpFoldResult b) {
  return fold(shapes.floorDiv(expr(a), expr(b)));
}

OpFoldResult SizeArith::exactDiv(OpFoldResult a, OpFoldResult b) {
  SizeExpr quotient = shapes.exactDiv(expr(a), expr(b));
  return quotient ? fold(quotient) : OpFoldResult();
}

OpFoldResult SizeArith::ceilDiv(OpFoldResult a, OpFoldResult b) {
  return fold(shapes.ceilDiv(expr(a), expr(b)));
}

OpFoldResult SizeArith::mod(OpFoldResult a, OpFoldResult b) {
  return fold(shapes.mod(expr(a), expr(b)));
}

OpFoldResult SizeArith::min(OpFoldResult a, OpFoldResult b) {
  return fold(shapes.min(expr(a), expr(b)));
}

OpFoldResult SizeArith::max(OpFoldResult a, OpFoldResult b) {
  return fold(shapes.max(expr(a), expr(b)));
}

bool SizeArith::equal(OpFoldResult a, OpFoldResult b) {
  return SymbolicShape::isEqual(expr(a), expr(b));
}

std::optional<int64_t> SizeArith::lowerBound(OpFoldResult size) {
  return shapes.getLowerBound(expr(size));
}

bool SizeArith::knownLessEqual(OpFoldResult a, OpFoldResult b) {
  std::optional<int64_t> bound =
      shapes.getDifferenceRange(expr(b), expr(a)).lower;
  return bound && *bound >= 0;
}
