//===- CastOp.cpp - fp8.cast ----------------------------------------------===//
//
// Part of fp8c, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Shapes.h"

#include "mlir/IR/Builders.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace fp8c;
using namespace fp8c::fp8;

LogicalResult CastOp::verify() {
  Type from = getElementTypeOrSelf(getInput());
  Type to = getElementTypeOrSelf(getResult());
  auto isWide = [](Type type) {
    return isa<Float32Type, BFloat16Type, Float16Type>(type);
  };
  // cast_c1
  if (!(isWide(from) && isF8Type(to)) && !(isF8Type(from) && isWide(to)))
    return emitOpError() << "expected a cast between f32, bf16 or f16 and "
                            "f8E4M3FN or f8E5M2, got "
                         << from << " to " << to;
  return success();
}

LogicalResult CastOp::reifyResultShapes(OpBuilder &builder,
                                        ReifiedRankedShapedTypeDims &shapes) {
  if (!isa<RankedTensorType>(getInput().getType()))
    return failure();
  shapes = {tensor::getMixedSizes(builder, getLoc(), getInput())};
  return success();
}

/// One value cast as the op casts it, by the host's exact casts.
static APFloat castValue(const APFloat &value, Type from, Type to,
                         Overflow overflow) {
  const llvm::fltSemantics &semantics = cast<FloatType>(to).getFloatSemantics();
  APInt bits = value.bitcastToAPInt();
  if (isF8Type(from)) {
    // Exact in every wide type; NaN keeps its sign.
    APFloat wide(decodeF8(bits.getZExtValue(), getF8Format(from)));
    bool losesInfo;
    wide.convert(semantics, APFloat::rmNearestTiesToEven, &losesInfo);
    return wide;
  }
  float wide = from.isF32()    ? value.convertToFloat()
               : from.isBF16() ? decodeBF16(bits.getZExtValue())
                               : decodeF16(bits.getZExtValue());
  uint8_t code = encodeF8(wide, getF8Format(to),
                          overflow == Overflow::Saturate ? F8Overflow::Saturate
                                                         : F8Overflow::IEEE);
  return APFloat(semantics, APInt(8, code));
}

OpFoldResult CastOp::fold(FoldAdaptor adaptor) {
  Type from = getElementTypeOrSelf(getInput());
  Type to = getElementTypeOrSelf(getResult());

  // A widened E4M3FN comes back as it was: each of its values is in range, and
  // it has one NaN a sign. Not so E5M2: `saturate` changes Inf, and its three
  // NaNs become one.
  if (auto widen = getInput().getDefiningOp<CastOp>())
    if (widen.getInput().getType() == getType() && isa<Float8E4M3FNType>(to))
      return widen.getInput();

  auto cast = [&](const APFloat &value) {
    return castValue(value, from, to, getOverflow());
  };
  if (auto scalar = dyn_cast_if_present<FloatAttr>(adaptor.getInput()))
    return FloatAttr::get(to, cast(scalar.getValue()));
  auto elements = dyn_cast_if_present<DenseFPElementsAttr>(adaptor.getInput());
  if (!elements)
    return {};
  auto type = elements.getType().clone(to);
  if (elements.isSplat())
    return DenseElementsAttr::get(type,
                                  cast(elements.getSplatValue<APFloat>()));
  SmallVector<APFloat> values;
  values.reserve(elements.size());
  for (const APFloat &value : elements)
    values.push_back(cast(value));
  return DenseElementsAttr::get(type, values);
}
