//===- ScaledOps.cpp - Scaled casts, amax, scales, histories --------------===//
//
// Part of fp8c, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Shapes.h"

#include "fp8c/Dialect/FP8/Decoding.h"

#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/Builders.h"

using namespace mlir;
using namespace fp8c;
using namespace fp8c::fp8;

/// The rules that all ops with data and a scale tensor share.
template <typename Op>
static LogicalResult verifyScale(Op op, RankedTensorType data,
                                 RankedTensorType scale) {
  ScalingAttr scaling = op.getScaling();
  // quantize_c1, dequantize_c1, amax_c1
  if (scaling.getRank() != data.getRank())
    return op.emitOpError() << "expected a scaling with an extent a dim of the "
                               "data, got "
                            << scaling << " and " << data;
  // quantize_c2, dequantize_c2, amax_c2
  if (!isScaleShape(scale.getShape(), data.getShape(), scaling))
    return op.emitOpError()
           << "expected scales of shape "
           << printShape(getScaleShape(data.getShape(), scaling)) << ", got "
           << scale;
  return success();
}

/// A result of the input's shape.
template <typename Op> static LogicalResult verifySameShape(Op op) {
  // quantize_c3, dequantize_c3
  if (!mayBeEqual(op.getInput().getType().getShape(),
                  op.getResult().getType().getShape()))
    return op.emitOpError()
           << "expected a result of the input's shape, got "
           << op.getInput().getType() << " and " << op.getResult().getType();
  return success();
}

/// The sizes of `tensor` as the only entry of `shapes`.
static LogicalResult reifyAs(OpBuilder &builder, Location loc, Value tensor,
                             ReifiedRankedShapedTypeDims &shapes) {
  shapes.push_back(tensor::getMixedSizes(builder, loc, tensor));
  return success();
}

//===----------------------------------------------------------------------===//
// QuantizeOp, DequantizeOp
//===----------------------------------------------------------------------===//

LogicalResult QuantizeOp::verify() {
  if (failed(verifyScale(*this, getInput().getType(), getScale().getType())))
    return failure();
  return verifySameShape(*this);
}

LogicalResult
QuantizeOp::reifyResultShapes(OpBuilder &builder,
                              ReifiedRankedShapedTypeDims &shapes) {
  return reifyAs(builder, getLoc(), getInput(), shapes);
}

LogicalResult DequantizeOp::verify() {
  if (failed(verifyScale(*this, getInput().getType(), getScale().getType())))
    return failure();
  return verifySameShape(*this);
}

LogicalResult
DequantizeOp::reifyResultShapes(OpBuilder &builder,
                                ReifiedRankedShapedTypeDims &shapes) {
  return reifyAs(builder, getLoc(), getInput(), shapes);
}

bool fp8::isDecodedByProduct(DequantizeOp op) {
  // A product rounds what it decodes to the scale's type and no further.
  if (op.getScale().getType().getElementType() !=
      op.getResult().getType().getElementType())
    return false;
  SmallVector<Value> values = {op.getResult()};
  while (!values.empty()) {
    Value value = values.pop_back_val();
    for (OpOperand &use : value.getUses()) {
      Operation *user = use.getOwner();
      if (isa<tensor::CollapseShapeOp, tensor::ExpandShapeOp, tensor::CastOp,
              tensor::ExtractSliceOp>(user) ||
          (isa<linalg::TransposeOp>(user) && use.getOperandNumber() == 0))
        values.push_back(user->getResult(0));
      else if (!isa<MatmulOp>(user) || use.getOperandNumber() != 1)
        return false;
    }
  }
  return true;
}

//===----------------------------------------------------------------------===//
// AmaxOp
//===----------------------------------------------------------------------===//

LogicalResult AmaxOp::verify() {
  if (failed(verifyScale(*this, getInput().getType(), getResult().getType())))
    return failure();
  Type from = getInput().getType().getElementType();
  Type to = getResult().getType().getElementType();
  // amax_c3
  if (to != from && !to.isF32())
    return emitOpError() << "expected a result of " << from << " or f32, got "
                         << to;
  return success();
}

LogicalResult AmaxOp::reifyResultShapes(OpBuilder &builder,
                                        ReifiedRankedShapedTypeDims &shapes) {
  SmallVector<OpFoldResult> sizes =
      tensor::getMixedSizes(builder, getLoc(), getInput());
  for (auto [i, block] : llvm::enumerate(getScaling().getBlock())) {
    if (!getResult().getType().isDynamicDim(i)) {
      sizes[i] = builder.getIndexAttr(getResult().getType().getDimSize(i));
    } else if (block > 1) {
      Value size = getValueOrCreateConstantIndexOp(builder, getLoc(), sizes[i]);
      Value extent = arith::ConstantIndexOp::create(builder, getLoc(), block);
      sizes[i] = arith::CeilDivSIOp::create(builder, getLoc(), size, extent)
                     .getResult();
    }
  }
  shapes = {sizes};
  return success();
}

//===----------------------------------------------------------------------===//
// ComputeScaleOp
//===----------------------------------------------------------------------===//

LogicalResult ComputeScaleOp::verify() {
  // compute_scale_c1
  if (getScale().getType() != getAmax().getType() ||
      getInverse().getType() != getAmax().getType())
    return emitOpError() << "expected scales of the type of the amax, got "
                         << getScale().getType() << " and "
                         << getInverse().getType() << " for "
                         << getAmax().getType();
  // compute_scale_c2
  if (!isF8Type(getFormat()))
    return emitOpError() << "expected the format f8E4M3FN or f8E5M2, got "
                         << getFormat();
  // compute_scale_c3
  int32_t margin = getMargin();
  if (margin < -126 || margin > 127)
    return emitOpError() << "expected a margin of -126 to 127, got " << margin;
  // compute_scale_c4
  if (!getEps().isFinite() || getEps().isNegative())
    return emitOpError() << "expected a finite eps of at least 0, got "
                         << getEpsAttr();
  return success();
}

LogicalResult
ComputeScaleOp::reifyResultShapes(OpBuilder &builder,
                                  ReifiedRankedShapedTypeDims &shapes) {
  (void)reifyAs(builder, getLoc(), getAmax(), shapes);
  return reifyAs(builder, getLoc(), getAmax(), shapes);
}

ScaleRule ComputeScaleOp::getRule() {
  ScaleRule rule;
  rule.max = getF8Max(getF8Format(getFormat()));
  rule.margin = getMargin();
  rule.eps = getEps().convertToFloat();
  rule.pow2 = getPow2();
  return rule;
}

//===----------------------------------------------------------------------===//
// UpdateHistoryOp
//===----------------------------------------------------------------------===//

LogicalResult UpdateHistoryOp::verify() {
  RankedTensorType history = getHistory().getType();
  // update_history_c1
  if (history.getRank() != 1 || history.getDimSize(0) == 0)
    return emitOpError() << "expected a history of rank 1 that is not empty, "
                            "got "
                         << history;
  // update_history_c2
  if (!hasOneElement(getAmax().getType()) ||
      !hasOneElement(getUsed().getType()))
    return emitOpError() << "expected one amax to write and one to use, got "
                         << getAmax().getType() << " and "
                         << getUsed().getType();
  // update_history_c3
  if (getUpdated().getType() != history)
    return emitOpError() << "expected an updated history of type " << history
                         << ", got " << getUpdated().getType();
  return success();
}

LogicalResult
UpdateHistoryOp::reifyResultShapes(OpBuilder &builder,
                                   ReifiedRankedShapedTypeDims &shapes) {
  shapes.emplace_back(getUsed().getType().getRank(), builder.getIndexAttr(1));
  return reifyAs(builder, getLoc(), getHistory(), shapes);
}
