//===- CaptureOrder.cpp - Dims of captures in the order of loops ----------===//
//
// Part of fp8c, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A kernel that reads a tensor through a transpose captures the transposed
// tensor instead: a view, so that all that is known of a kernel's operands dim
// by dim (which of them lie side by side, whether all are dense) is known of
// their memory.
//
//===----------------------------------------------------------------------===//

#include "CaptureOrder.h"

#include "fp8c/Dialect/FP8/FP8.h"

#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Utils/IndexingUtils.h"
#include "llvm/ADT/Sequence.h"

using namespace mlir;
using namespace fp8c;

/// The order of the tensor's dims in which a read has them in the order of its
/// loops, or nothing where its indices are no loops.
static std::optional<SmallVector<int64_t>> getOrder(OpOperand &read) {
  auto generic = dyn_cast<linalg::GenericOp>(read.getOwner());
  if (!generic || !generic.isDpsInput(&read))
    return std::nullopt;
  SmallVector<unsigned> loops;
  for (AffineExpr expr : generic.getMatchingIndexingMap(&read).getResults()) {
    auto dim = dyn_cast<AffineDimExpr>(expr);
    if (!dim)
      return std::nullopt;
    loops.push_back(dim.getPosition());
  }
  auto order = llvm::to_vector(llvm::seq<int64_t>(0, loops.size()));
  llvm::sort(order, [&](int64_t left, int64_t right) {
    return std::make_pair(loops[left], left) <
           std::make_pair(loops[right], right);
  });
  return order;
}

/// The one order that all reads of a captured tensor ask for, if that is not
/// the tensor's own.
static std::optional<SmallVector<int64_t>> getOrder(BlockArgument captured) {
  std::optional<SmallVector<int64_t>> all;
  for (OpOperand &read : captured.getUses()) {
    std::optional<SmallVector<int64_t>> order = getOrder(read);
    if (!order || (all && *all != *order))
      return std::nullopt;
    all = std::move(order);
  }
  if (!all || isIdentityPermutation(*all))
    return std::nullopt;
  return all;
}

static Value transpose(OpBuilder &builder, Location loc, Value value,
                       ArrayRef<int64_t> order) {
  auto type = cast<RankedTensorType>(value.getType());
  SmallVector<OpFoldResult> sizes =
      applyPermutation(tensor::getMixedSizes(builder, loc, value), order);
  Value empty =
      tensor::EmptyOp::create(builder, loc, sizes, type.getElementType());
  return linalg::TransposeOp::create(builder, loc, value, empty, order)
      ->getResult(0);
}

void toplan::orderCaptures(func::FuncOp func) {
  for (auto kernel : func.getOps<fp8::KernelOp>()) {
    OpBuilder builder(kernel);
    for (OpOperand &capture : kernel->getOpOperands()) {
      BlockArgument inside =
          kernel.getBody().getArgument(capture.getOperandNumber());
      if (!isa<RankedTensorType>(inside.getType()))
        continue;
      std::optional<SmallVector<int64_t>> order = getOrder(inside);
      if (!order)
        continue;
      capture.set(transpose(builder, kernel.getLoc(), capture.get(), *order));
      inside.setType(capture.get().getType());
      for (OpOperand &read : inside.getUses()) {
        auto generic = cast<linalg::GenericOp>(read.getOwner());
        SmallVector<AffineMap> maps = generic.getIndexingMapsArray();
        AffineMap &map = maps[read.getOperandNumber()];
        map = AffineMap::get(map.getNumDims(), 0,
                             applyPermutation(map.getResults(), *order),
                             map.getContext());
        generic.setIndexingMapsAttr(builder.getAffineMapArrayAttr(maps));
      }
    }
  }
}
