//===- ScaledOpExpander.cpp - What all expansions need --------------------===//
//
// Part of fp8c, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ScaledOpExpander.h"

using namespace mlir;
using namespace fp8c;
using namespace fp8c::fp8;

using utils::IteratorType;

Value ScaledOpExpander::widen(Value value) {
  Type type = value.getType();
  if (type.isF32())
    return value;
  Type f32 = rewriter.getF32Type();
  if (isF8Type(type))
    return CastOp::create(rewriter, loc, f32, value, Overflow::Saturate);
  if (!isa<Float8E8M0FNUType>(type))
    return arith::ExtFOp::create(rewriter, loc, f32, value);
  // The code is an f32's exponent, but for 2^-127, which is subnormal, and NaN.
  Value byte =
      arith::BitcastOp::create(rewriter, loc, rewriter.getI8Type(), value);
  Value code =
      arith::ExtUIOp::create(rewriter, loc, rewriter.getI32Type(), byte);
  Value shifted =
      arith::ShLIOp::create(rewriter, loc, code, constant(uint32_t(23)));
  Value isLeast = compare(arith::CmpIPredicate::eq, code, 0);
  Value isNaN = compare(arith::CmpIPredicate::eq, code, 0xFF);
  shifted = select(isLeast, constant(uint32_t(0x00400000)), shifted);
  return fromBits(select(isNaN, constant(uint32_t(0x7FC00000)), shifted));
}

Value ScaledOpExpander::narrow(Value f32, Type type) {
  if (type == f32.getType())
    return f32;
  return arith::TruncFOp::create(rewriter, loc, type, f32);
}

SmallVector<OpFoldResult> ScaledOpExpander::getSizes(Value tensor) {
  Value source = tensor;
  while (auto result = dyn_cast<OpResult>(source)) {
    if (auto made = dyn_cast<tensor::EmptyOp>(result.getOwner()))
      return made.getMixedSizes();
    auto structured = dyn_cast<DestinationStyleOpInterface>(result.getOwner());
    if (!structured)
      break;
    source = structured.getTiedOpOperand(result)->get();
  }
  return tensor::getMixedSizes(rewriter, loc, tensor);
}

AffineMap ScaledOpExpander::scaleMap(Value scale, ScalingAttr scaling) {
  auto type = cast<RankedTensorType>(scale.getType());
  SmallVector<AffineExpr> results;
  for (auto [i, block] : llvm::enumerate(scaling.getBlock())) {
    AffineExpr dim = rewriter.getAffineDimExpr(i);
    if (ShapedType::isDynamic(block) || (block > 1 && type.getDimSize(i) == 1))
      dim = rewriter.getAffineConstantExpr(0);
    else if (block > 1)
      dim = dim.floorDiv(block);
    results.push_back(dim);
  }
  return map(type.getRank(), results);
}

linalg::GenericOp
ScaledOpExpander::generic(ValueRange inputs, ValueRange inits,
                          ArrayRef<AffineMap> maps,
                          ArrayRef<IteratorType> iterators, int64_t result,
                          function_ref<SmallVector<Value>(ValueRange)> body) {
  auto made = linalg::GenericOp::create(
      rewriter, loc, inits.getTypes(), inputs, inits, maps, iterators,
      [&](OpBuilder &, Location, ValueRange arguments) {
        linalg::YieldOp::create(rewriter, loc, body(arguments));
      });
  Attribute node = op->getAttr(kNodeAttr);
  if (auto names = dyn_cast_if_present<ArrayAttr>(node); names && result >= 0)
    node = static_cast<size_t>(result) < names.size() ? names[result] : nullptr;
  auto name = dyn_cast_if_present<StringAttr>(node);
  if (node && result != -1 && !(name && name.empty()))
    made->setAttr(kNodeAttr, node);
  return made;
}
