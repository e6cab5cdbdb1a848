//===- FlattenProducts.cpp - Batches with one right side ------------------===//
//
// Part of fp8c, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "fp8c/Dialect/FP8/FP8.h"
#include "fp8c/Transforms/Passes.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

namespace fp8c {
#define GEN_PASS_DEF_FLATTENPRODUCTSPASS
#include "fp8c/Transforms/Passes.h.inc"
} // namespace fp8c

using namespace mlir;
using namespace fp8c;

/// The matrix that `value` repeats along all its outer dims; null if it does
/// not.
static Value getRepeatedMatrix(Value value) {
  auto op = value.getDefiningOp<linalg::GenericOp>();
  if (!op || op.getNumDpsInputs() != 1 || op.getNumResults() != 1 ||
      op.getNumParallelLoops() != op.getNumLoops())
    return {};
  Block *body = op.getBody();
  AffineMap matrix =
      AffineMap::getMultiDimIdentityMap(op.getNumLoops(), op.getContext())
          .getMinorSubMap(2);
  bool repeats = body->getTerminator()->getOperand(0) == body->getArgument(0) &&
                 op.getIndexingMapsArray()[0] == matrix &&
                 op.getIndexingMapsArray()[1].isIdentity();
  return repeats ? op.getDpsInputs()[0] : Value();
}

static void flatten(IRRewriter &rewriter, fp8::MatmulOp op) {
  auto type = op.getResult().getType();
  unsigned rank = type.getRank();
  Value matrix = rank > 2 ? getRepeatedMatrix(op.getRhs()) : Value();
  if (!matrix)
    return;
  Location loc = op.getLoc();
  rewriter.setInsertionPoint(op);
  SmallVector<ReassociationIndices> rows(2);
  for (unsigned i = 0; i + 1 < rank; ++i)
    rows[0].push_back(i);
  rows[1].push_back(rank - 1);
  SmallVector<OpFoldResult> sizes =
      tensor::getMixedSizes(rewriter, loc, op.getLhs());
  sizes.back() = tensor::getMixedSize(rewriter, loc, matrix, 1);
  Value lhs = tensor::CollapseShapeOp::create(rewriter, loc, op.getLhs(), rows);
  auto flat = RankedTensorType::get(
      {cast<RankedTensorType>(lhs.getType()).getDimSize(0),
       type.getDimSize(rank - 1)},
      type.getElementType());
  auto product =
      fp8::MatmulOp::create(rewriter, loc, flat, lhs, matrix, op.getBias());
  // The values are the node's, whatever their shape.
  if (Attribute node = op->getAttr(fp8::kNodeAttr))
    product->setAttr(fp8::kNodeAttr, node);
  rewriter.replaceOpWithNewOp<tensor::ExpandShapeOp>(op, type, product, rows,
                                                     sizes);
}

namespace {
struct FlattenProductsPass
    : public fp8c::impl::FlattenProductsPassBase<FlattenProductsPass> {
  void runOnOperation() override {
    IRRewriter rewriter(&getContext());
    getOperation().walk([&](fp8::MatmulOp op) { flatten(rewriter, op); });
  }
};
} // namespace
