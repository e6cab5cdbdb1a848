//===- ScalarTrace.cpp - Scalars through elementwise ops ------------------===//
//
// Part of fp8c, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ScalarTrace.h"

#include "fp8c/Dialect/FP8/FP8.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;
using namespace fp8c;

Type TracedScalar::getType() const {
  return value ? value.getType() : getElementTypeOrSelf(tensor.getType());
}

bool fp8c::isElementwise(linalg::GenericOp op) {
  return op.getNumReductionLoops() == 0 && op->getNumResults() == 1 &&
         op.getMatchingIndexingMap(op.getDpsInitOperand(0)).isIdentity() &&
         llvm::none_of(*op.getBody(),
                       llvm::IsaPred<linalg::IndexOp, tensor::ExtractOp>);
}

TracedScalar fp8c::traceYield(linalg::GenericOp op) {
  return {op.getBody()->getTerminator()->getOperand(0), op, Value(),
          AffineMap::getMultiDimIdentityMap(op.getNumLoops(), op.getContext())};
}

TracedScalar fp8c::leaveBody(TracedScalar scalar) {
  auto argument = dyn_cast_if_present<BlockArgument>(scalar.value);
  if (!argument || argument.getOwner() != scalar.op.getBody())
    return scalar;
  OpOperand *operand = scalar.op.getMatchingOpOperand(argument);
  if (!scalar.op.isDpsInput(operand) ||
      !isa<RankedTensorType>(operand->get().getType()))
    return scalar;
  AffineMap map = scalar.op.getMatchingIndexingMap(operand);
  return {Value(), scalar.op, operand->get(), map.compose(scalar.map)};
}

TracedScalar fp8c::enterProducers(TracedScalar scalar,
                                  function_ref<bool(linalg::GenericOp)> enter) {
  while (true) {
    TracedScalar outside = leaveBody(scalar);
    if (!outside.tensor)
      return scalar;
    auto made = outside.tensor.getDefiningOp<linalg::GenericOp>();
    if (!made || !isElementwise(made) || !enter(made))
      return outside;
    scalar = traceYield(made);
    scalar.map = outside.map;
  }
}

/// True for a scalar op that widens its operand exactly.
static bool isWideningScalar(Operation *op) {
  auto cast = dyn_cast<fp8::CastOp>(op);
  return isa<arith::ExtFOp>(op) ||
         (cast && fp8::isF8Type(cast.getInput().getType()));
}

bool fp8c::isWidening(linalg::GenericOp op) {
  return isElementwise(op) && op.getNumDpsInputs() == 1 &&
         llvm::all_of(op.getBody()->without_terminator(), [](Operation &inner) {
           return isWideningScalar(&inner) ||
                  isa<arith::ExtSIOp, arith::ExtUIOp>(inner);
         });
}

TracedScalar fp8c::stripWidening(TracedScalar scalar) {
  while (true) {
    scalar = enterProducers(scalar, isWidening);
    Operation *op = scalar.value ? scalar.value.getDefiningOp() : nullptr;
    if (!op || !isWideningScalar(op))
      return scalar;
    scalar = scalar.getOperand(op->getOperand(0));
  }
}
