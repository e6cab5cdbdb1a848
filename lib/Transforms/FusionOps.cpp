//===- FusionOps.cpp - What groups begin with -----------------------------===//
//
// Part of fp8c, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "FusionGroups.h"

#include "ScalarTrace.h"

#include "fp8c/Dialect/FP8/Decoding.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;
using namespace fp8c;

/// Bodies up to this many ops are cheap enough to be computed again.
static constexpr unsigned kCheapOps = 12;

//===----------------------------------------------------------------------===//
// Ops
//===----------------------------------------------------------------------===//

/// True for a fill that something else than a kernel's op reads.
static bool isFillInMemory(Operation *op) {
  return isa<linalg::FillOp>(op) &&
         llvm::any_of(op->getUsers(), [](Operation *user) {
           return !isa<linalg::GenericOp>(user);
         });
}

bool fp8c::isKernelOp(Operation *op) {
  if (auto dequantize = dyn_cast<fp8::DequantizeOp>(op))
    return !fp8::isDecodedByProduct(dequantize);
  return isFillInMemory(op) ||
         isa<linalg::GenericOp, fp8::AmaxOp, fp8::QuantizeOp,
             fp8::ComputeScaleOp, fp8::UpdateHistoryOp>(op);
}

SmallVector<Value> fp8c::getTensorReads(Operation *op) {
  SmallVector<Value> reads;
  op->walk([&](Operation *inner) {
    for (Value operand : inner->getOperands()) {
      if (!isa<RankedTensorType>(operand.getType()) ||
          op->isAncestor(operand.getParentBlock()->getParentOp()))
        continue;
      if (!isa_and_nonnull<tensor::EmptyOp, linalg::FillOp>(
              operand.getDefiningOp()))
        reads.push_back(operand);
    }
  });
  return reads;
}

/// The dims of a tensor accessed by `map`, as loops.
static SmallVector<int> getLoops(AffineMap map) {
  SmallVector<int> loops;
  for (AffineExpr expr : map.getResults()) {
    auto dim = dyn_cast<AffineDimExpr>(expr);
    loops.push_back(dim ? static_cast<int>(dim.getPosition()) : -1);
  }
  return loops;
}

void FusionGroups::addOp(Operation *op) {
  Group &group = *groups.emplace_back(std::make_unique<Group>());
  groupOf[op] = &group;
  group.ops.push_back(op);
  group.first = group.last = order[op];
  auto rankOf = [](Value value) {
    return cast<RankedTensorType>(value.getType()).getRank();
  };
  auto all = [](unsigned count) {
    return count >= 64 ? ~GroupDims(0) : (GroupDims(1) << count) - 1;
  };
  auto identity = [&](Value value) {
    SmallVector<int> dims = llvm::to_vector(llvm::seq<int>(0, rankOf(value)));
    return GroupAccess{value, dims};
  };
  if (auto generic = dyn_cast<linalg::GenericOp>(op)) {
    group.numDims = generic.getNumLoops();
    for (OpOperand *input : generic.getDpsInputOperands())
      if (isa<RankedTensorType>(input->get().getType()))
        group.reads.push_back(
            {input->get(), getLoops(generic.getMatchingIndexingMap(input))});
    for (OpOperand &init : generic.getDpsInitsMutable()) {
      AffineMap map = generic.getMatchingIndexingMap(&init);
      if (!isa_and_nonnull<tensor::EmptyOp, linalg::FillOp>(
              init.get().getDefiningOp()))
        group.reads.push_back({init.get(), getLoops(map)});
      group.writes.push_back({generic.getTiedOpResult(&init), getLoops(map)});
    }
    GroupDims reduced = 0;
    for (auto [i, iterator] : llvm::enumerate(generic.getIteratorTypesArray()))
      if (iterator == utils::IteratorType::reduction && i < 64)
        reduced |= GroupDims(1) << i;
    if (reduced)
      group.reduced.push_back(reduced);
    group.common = all(group.numDims) & ~reduced;
    generic.getBody()->walk([&](tensor::ExtractOp extract) {
      group.gathers.push_back(extract.getTensor());
    });
    group.canGrow = group.numDims < 64;
    return;
  }
  for (Value result : op->getResults())
    group.writes.push_back(identity(result));
  if (auto amax = dyn_cast<fp8::AmaxOp>(op);
      amax && amax.getScaling().isTensor()) {
    group.numDims = rankOf(amax.getInput());
    group.reads.push_back(identity(amax.getInput()));
    group.writes.clear();
  } else if (isa<linalg::FillOp>(op)) {
    group.numDims = rankOf(op->getResult(0));
  } else {
    group.canGrow = false;
  }
  group.common = all(group.numDims);
}

//===----------------------------------------------------------------------===//
// Copies
//===----------------------------------------------------------------------===//

/// True for an elementwise op that costs no more than reading its result.
static bool isCheap(linalg::GenericOp op) {
  if (op.getNumReductionLoops() > 0)
    return false;
  unsigned count = 0;
  return llvm::all_of(
      op.getBody()->without_terminator(), [&](Operation &inner) {
        if (isa<arith::ConstantOp>(inner))
          return true;
        if (isa<arith::DivFOp, arith::RemFOp, arith::DivSIOp, arith::DivUIOp,
                arith::RemSIOp, arith::RemUIOp>(inner))
          return false;
        auto cast = dyn_cast<fp8::CastOp>(inner);
        return ++count <= kCheapOps &&
               ((cast && fp8::isF8Type(cast.getInput().getType())) ||
                isa<math::AbsFOp>(inner) ||
                isa<arith::ArithDialect>(inner.getDialect()));
      });
}

void FusionGroups::duplicateCheapOps() {
  OpBuilder builder(block.getParentOp());
  for (Operation &op : llvm::make_early_inc_range(llvm::reverse(block))) {
    auto generic = dyn_cast<linalg::GenericOp>(op);
    if (!generic || op.getNumResults() != 1 || op.use_empty())
      continue;
    // Ops that read the result only elementwise.
    auto canCopyInto = [&](Operation *user, bool larger) {
      auto consumer = dyn_cast<linalg::GenericOp>(user);
      return consumer &&
             (!larger || consumer.getNumLoops() > generic.getNumLoops()) &&
             llvm::is_contained(consumer.getDpsInputs(), op.getResult(0));
    };
    llvm::SmallSetVector<Operation *, 8> users(op.user_begin(), op.user_end());
    bool widens = isWidening(generic);
    if (!widens && !(isCheap(generic) && llvm::all_of(users, [&](auto *user) {
                       return canCopyInto(user, /*larger=*/true);
                     })))
      continue;
    for (Operation *user : users) {
      if (!canCopyInto(user, !widens))
        continue;
      Operation *copy = &op;
      if (!op.hasOneUse()) {
        builder.setInsertionPoint(user);
        copy = builder.clone(op);
        op.getResult(0).replaceUsesWithIf(
            copy->getResult(0),
            [&](OpOperand &use) { return use.getOwner() == user; });
      }
      copies.insert(copy);
    }
    if (op.use_empty())
      op.erase();
  }
}
