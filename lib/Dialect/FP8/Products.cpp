//===- Products.cpp - Products and attention ------------------------------===//
//
// Part of fp8c, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Shapes.h"

#include "mlir/IR/Builders.h"

using namespace mlir;
using namespace fp8c;
using namespace fp8c::fp8;

/// The rules of shapes that both products share.
template <typename Op>
static LogicalResult verifyProduct(Op op, RankedTensorType lhs,
                                   RankedTensorType rhs,
                                   RankedTensorType result) {
  // scaled_matmul_c1, matmul_c1
  int64_t rank = lhs.getRank();
  if (rank < 2 || rhs.getRank() != rank || result.getRank() != rank)
    return op.emitOpError() << "expected operands and a result of one rank of "
                               "at least 2, got "
                            << lhs << ", " << rhs << " and " << result;
  // scaled_matmul_c2, matmul_c2
  ArrayRef<int64_t> a = lhs.getShape(), b = rhs.getShape();
  SmallVector<int64_t> expected(a.drop_back());
  expected.push_back(b.back());
  if (!mayBeEqual(a.back(), b[rank - 2]) ||
      !mayBeEqual(a.drop_back(2), b.drop_back(2)) ||
      !mayBeEqual(result.getShape(), expected))
    return op.emitOpError() << "expected (batch..., M, K) x (batch..., K, N) "
                               "to (batch..., M, N), got "
                            << lhs << ", " << rhs << " and " << result;
  return success();
}

/// (batch..., M, N) from the operands.
static LogicalResult reifyProduct(OpBuilder &builder, Location loc, Value lhs,
                                  Value rhs,
                                  ReifiedRankedShapedTypeDims &shapes) {
  SmallVector<OpFoldResult> sizes = tensor::getMixedSizes(builder, loc, lhs);
  sizes.back() = tensor::getMixedSize(builder, loc, rhs, sizes.size() - 1);
  shapes.push_back(sizes);
  return success();
}

//===----------------------------------------------------------------------===//
// ScaledMatmulOp
//===----------------------------------------------------------------------===//

/// The rules of one operand's scales. `inner` is the dim that K is.
static LogicalResult verifyOperandScale(ScaledMatmulOp op, StringRef name,
                                        RankedTensorType data,
                                        RankedTensorType scale,
                                        ScalingAttr scaling, int64_t inner) {
  // scaled_matmul_c6
  if (scaling.getRank() != data.getRank() ||
      !isScaleShape(scale.getShape(), data.getShape(), scaling))
    return op.emitOpError() << "expected scales of " << name << " for "
                            << scaling << ", got " << scale << " for " << data;
  // scaled_matmul_c7
  bool isMX = isa<Float8E8M0FNUType>(scale.getElementType());
  if (!isMX && !scale.getElementType().isF32())
    return op.emitOpError() << "expected scales of " << name
                            << " in f32 or f8E8M0FNU, got " << scale;
  // scaled_matmul_c8
  if (isMX && scaling.getBlock()[inner] != 32)
    return op.emitOpError() << "expected f8E8M0FNU scales over blocks of 32 "
                               "along K, got "
                            << scaling << " for " << name;
  return success();
}

LogicalResult ScaledMatmulOp::verify() {
  RankedTensorType lhs = getLhs().getType(), rhs = getRhs().getType();
  auto result = cast<RankedTensorType>(getResult().getType());
  if (failed(verifyProduct(*this, lhs, rhs, result)))
    return failure();
  Type a = lhs.getElementType(), b = rhs.getElementType();
  Type d = result.getElementType();
  // scaled_matmul_c3
  if (isa<Float8E5M2Type>(a) && isa<Float8E5M2Type>(b))
    return emitOpError() << "multiplication of two f8E5M2 matrices is not "
                            "supported: one of them must be f8E4M3FN";
  // scaled_matmul_c4
  bool isF8 = isF8Type(d);
  if (!isF8 && !isa<BFloat16Type, Float16Type, Float32Type>(d))
    return emitOpError() << "expected a result of bf16, f16, f32, f8E4M3FN or "
                            "f8E5M2, got "
                         << d;
  // scaled_matmul_c5
  if (isa<Float8E5M2Type>(d) && !isa<Float8E5M2Type>(a) &&
      !isa<Float8E5M2Type>(b))
    return emitOpError() << "expected no f8E5M2 result from two f8E4M3FN "
                            "operands";

  int64_t rank = lhs.getRank();
  if (failed(verifyOperandScale(*this, "lhs", lhs, getLhsScale().getType(),
                                getLhsScaling(), rank - 1)) ||
      failed(verifyOperandScale(*this, "rhs", rhs, getRhsScale().getType(),
                                getRhsScaling(), rank - 2)))
    return failure();
  // scaled_matmul_c9
  if (isF8 && !(getLhsScaling().isTensor() && getRhsScaling().isTensor()))
    return emitOpError() << "fp8 output unsupported for this scaling: an f8 "
                            "result needs one scale a tensor, got "
                         << getLhsScaling() << " and " << getRhsScaling();

  if (getBias()) {
    auto bias = getBias().getType();
    Type element = bias.getElementType();
    // scaled_matmul_c10
    if (bias.getRank() != 1 ||
        !mayBeEqual(bias.getDimSize(0), result.getShape().back()))
      return emitOpError() << "expected a bias of N elements in one dim, got "
                           << bias << " for " << result;
    // scaled_matmul_c11
    bool isLegal =
        isF8 ? element.isBF16() || element.isF16() : !d.isF32() && element == d;
    if (!isLegal)
      return emitOpError() << "expected a bias of the result's 16-bit type, or "
                              "bf16 or f16 for an f8 result, got "
                           << bias << " for " << result;
  }
  // scaled_matmul_c12
  if (getResultScale() && !(isF8 && hasOneElement(getResultScale().getType())))
    return emitOpError() << "expected a result_scale of one element, with an "
                            "f8 result alone, got "
                         << getResultScale().getType() << " for " << result;
  // scaled_matmul_c13
  if (getAmax() && !hasOneElement(cast<RankedTensorType>(getAmax().getType())))
    return emitOpError() << "expected an amax of one element, got "
                         << getAmax().getType();
  return success();
}

LogicalResult
ScaledMatmulOp::reifyResultShapes(OpBuilder &builder,
                                  ReifiedRankedShapedTypeDims &shapes) {
  (void)reifyProduct(builder, getLoc(), getLhs(), getRhs(), shapes);
  if (getAmax())
    shapes.emplace_back(cast<RankedTensorType>(getAmax().getType()).getRank(),
                        builder.getIndexAttr(1));
  return success();
}

//===----------------------------------------------------------------------===//
// MatmulOp
//===----------------------------------------------------------------------===//

LogicalResult MatmulOp::verify() {
  RankedTensorType lhs = getLhs().getType(), rhs = getRhs().getType();
  RankedTensorType result = getResult().getType();
  if (failed(verifyProduct(*this, lhs, rhs, result)))
    return failure();
  Type element = result.getElementType();
  // matmul_c3
  if (lhs.getElementType() != rhs.getElementType() ||
      (element != lhs.getElementType() && !element.isF32()))
    return emitOpError() << "expected operands of one type and a result of "
                            "theirs or f32, got "
                         << lhs << ", " << rhs << " and " << result;
  // matmul_c4
  if (getBias() && (getBias().getType().getRank() != 1 ||
                    !mayBeEqual(getBias().getType().getDimSize(0),
                                result.getShape().back()) ||
                    getBias().getType().getElementType() != element))
    return emitOpError() << "expected a bias of N elements of the result's "
                            "type in one dim, got "
                         << getBias().getType() << " for " << result;
  return success();
}

LogicalResult MatmulOp::reifyResultShapes(OpBuilder &builder,
                                          ReifiedRankedShapedTypeDims &shapes) {
  return reifyProduct(builder, getLoc(), getLhs(), getRhs(), shapes);
}

//===----------------------------------------------------------------------===//
// AttentionOp
//===----------------------------------------------------------------------===//

LogicalResult AttentionOp::verify() {
  RankedTensorType query = getQuery().getType(), key = getKey().getType();
  RankedTensorType value = getValue().getType(), result = getResult().getType();
  auto printAll = [&](InFlightDiagnostic diagnostic) -> LogicalResult {
    return diagnostic << ", got " << query << ", " << key << ", " << value
                      << " and " << result;
  };
  // attention_c1
  for (RankedTensorType type : {query, key, value, result})
    if (type.getRank() != 4)
      return printAll(emitOpError() << "expected query, key, value and result "
                                       "of rank 4");
  // attention_c2
  auto q = query.getShape(), k = key.getShape(), v = value.getShape();
  if (!mayBeEqual(q[0], k[0]) || !mayBeEqual(q[3], k[3]) ||
      !mayBeEqual(k.take_front(3), v.take_front(3)) ||
      !mayBeEqual(result.getShape(), {q[0], q[1], q[2], v[3]}))
    return printAll(emitOpError()
                    << "expected (batch, heads, queries, D), (batch, "
                       "kv_heads, keys, D), (batch, kv_heads, keys, DV) to "
                       "(batch, heads, queries, DV)");
  // attention_c3
  if (!ShapedType::isDynamic(q[1]) && !ShapedType::isDynamic(k[1]) &&
      (k[1] == 0 ? q[1] != 0 : q[1] % k[1] != 0))
    return emitOpError() << "expected a number of heads that kv_heads divides, "
                            "got "
                         << q[1] << " and " << k[1];
  // attention_c4
  Type element = query.getElementType();
  for (RankedTensorType type : {key, value, result})
    if (type.getElementType() != element)
      return printAll(emitOpError() << "expected query, key, value and result "
                                       "of one element type");
  if (!getMask())
    return success();
  // attention_c5
  auto mask = cast<RankedTensorType>(getMask().getType());
  int64_t full[] = {q[0], q[1], q[2], k[2]};
  bool broadcasts = mask.getRank() == 4;
  for (int64_t i = 0; broadcasts && i < 4; ++i)
    broadcasts =
        mask.getDimSize(i) == 1 || mayBeEqual(mask.getDimSize(i), full[i]);
  if (!broadcasts)
    return emitOpError() << "expected a mask of rank 4 that broadcasts to "
                         << printShape(full) << ", got " << mask;
  // attention_c6
  Type masked = mask.getElementType();
  if (!masked.isInteger(1) &&
      !isa<Float32Type, BFloat16Type, Float16Type>(masked))
    return emitOpError() << "expected a mask of i1, f32, bf16 or f16, got "
                         << masked;
  return success();
}

LogicalResult
AttentionOp::reifyResultShapes(OpBuilder &builder,
                               ReifiedRankedShapedTypeDims &shapes) {
  SmallVector<OpFoldResult> sizes =
      tensor::getMixedSizes(builder, getLoc(), getQuery());
  sizes.back() = tensor::getMixedSize(builder, getLoc(), getValue(), 3);
  shapes.push_back(sizes);
  return success();
}
