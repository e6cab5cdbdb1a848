//===- PropagateReshapes.cpp - Reshapes out of the way of fusion ----------===//
//
// Part of fp8c, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Bit-exact: loops are split, merged units dropped, maps composed; each element
// is computed as before, and reductions add in the same order.
//
// All loops of linalg.generics and all dims of tensors are tied to each other
// where an access, a reshape or a transpose says that they are the same. What
// is left are the atoms of the finest common iteration space (DimFactors). Then
// each generic is written once over its atoms, without dims of size 1, and
// reads through reshapes and transposes; views are left at the borders, where
// products, slices and results want a tensor as the graph has it.
//
//===----------------------------------------------------------------------===//

#include "Propagation.h"
#include "UnitDims.h"

#include "fp8c/Transforms/Passes.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

namespace fp8c {
#define GEN_PASS_DEF_PROPAGATERESHAPESPASS
#include "fp8c/Transforms/Passes.h.inc"
} // namespace fp8c

using namespace mlir;
using namespace fp8c;

//===----------------------------------------------------------------------===//
// Rewriting
//===----------------------------------------------------------------------===//

void Propagation::fixOperands(Operation *op, Operation *before) {
  builder.setInsertionPoint(before ? before : op);
  loc = op->getLoc();
  op->walk([&](Operation *inner) {
    for (OpOperand &operand : inner->getOpOperands())
      if (replaced.contains(operand.get()))
        operand.set(getOriginal(operand.get()));
  });
}

bool Propagation::isUntouched(linalg::GenericOp op) {
  auto isWhole = [&](int dim) { return getAtoms({dim}).size() == 1; };
  if (!llvm::all_of(loops[op], isWhole))
    return false;
  for (OpOperand *operand : op.getDpsInputOperands()) {
    Value value = operand->get();
    if (!isa<RankedTensorType>(value.getType()))
      continue;
    const Form &form = getForm(value);
    if (form.base != value ||
        !llvm::equal(form.perm, llvm::seq<unsigned>(0, form.perm.size())))
      return false;
  }
  for (Value init : op.getDpsInits())
    if (replaced.contains(init))
      return false;
  return llvm::all_of(op.getResults(), [&](Value result) {
    ArrayRef<int> dims = getDims(result);
    return getAtoms(dims).size() == dims.size();
  });
}

void Propagation::rewrite(linalg::GenericOp op) {
  for (Operation &inner : *op.getBody())
    fixOperands(&inner, op);
  builder.setInsertionPoint(op);
  loc = op.getLoc();
  SmallVector<int> own = loops[op];
  SmallVector<SmallVector<unsigned>> positions;
  SmallVector<int> atoms;
  SmallVector<utils::IteratorType> iterators;
  auto oldIterators = op.getIteratorTypesArray();
  for (auto [i, dim] : llvm::enumerate(own)) {
    SmallVector<int> parts = getAtoms({dim});
    auto &list = positions.emplace_back();
    for (int part : parts) {
      list.push_back(atoms.size());
      atoms.push_back(part);
      iterators.push_back(oldIterators[i]);
    }
  }
  MLIRContext *context = op.getContext();
  // The loops of a tensor's flattened positions.
  auto getPositions = [&](AffineMap map) {
    SmallVector<unsigned> result;
    for (AffineExpr expr : map.getResults())
      if (auto dim = dyn_cast<AffineDimExpr>(expr))
        llvm::append_range(result, positions[dim.getPosition()]);
    return result;
  };
  auto getMap = [&](ArrayRef<unsigned> flat, ArrayRef<unsigned> perm) {
    SmallVector<AffineExpr> exprs(flat.size());
    for (auto [from, to] : llvm::zip(flat, perm))
      exprs[to] = getAffineDimExpr(from, context);
    return AffineMap::get(atoms.size(), 0, exprs, context);
  };
  SmallVector<Value> inputs, inits;
  SmallVector<AffineMap> maps;
  SmallVector<Type> types;
  for (OpOperand *operand : op.getDpsInputOperands()) {
    AffineMap map = op.getMatchingIndexingMap(operand);
    if (!isa<RankedTensorType>(operand->get().getType())) {
      inputs.push_back(operand->get());
      maps.push_back(AffineMap::get(atoms.size(), 0, {}, context));
      continue;
    }
    Form form = getForm(operand->get());
    inputs.push_back(form.base);
    maps.push_back(getMap(getPositions(map), form.perm));
  }
  SmallVector<SmallVector<unsigned>> perms;
  for (OpOperand &init : op.getDpsInitsMutable()) {
    SmallVector<unsigned> flat = getPositions(op.getMatchingIndexingMap(&init));
    Type element =
        cast<RankedTensorType>(init.get().getType()).getElementType();
    SmallVector<unsigned> perm =
        llvm::to_vector(llvm::seq<unsigned>(0, flat.size()));
    Value value = init.get();
    if (isEmptyOrFill(value)) {
      SmallVector<int> kept;
      for (unsigned position : flat)
        kept.push_back(atoms[position]);
      Value empty = makeEmpty(kept, element);
      if (auto fill = value.getDefiningOp<linalg::FillOp>())
        empty = linalg::FillOp::create(builder, loc, fill.getInputs(),
                                       ValueRange{empty})
                    ->getResult(0);
      value = empty;
    } else {
      Form form = getForm(value);
      value = form.base;
      perm = form.perm;
    }
    inits.push_back(value);
    types.push_back(value.getType());
    maps.push_back(getMap(flat, perm));
    perms.push_back(perm);
  }
  auto made = linalg::GenericOp::create(builder, loc, types, inputs, inits,
                                        maps, iterators);
  made->setDiscardableAttrs(op->getDiscardableAttrDictionary());
  IRMapping mapping;
  op.getRegion().cloneInto(&made.getRegion(), mapping);
  made.getBody()->walk([&](linalg::IndexOp index) {
    const auto &list = positions[index.getDim()];
    if (!list.empty()) {
      index.setDim(list.front());
      return;
    }
    OpBuilder::InsertionGuard guard(builder);
    builder.setInsertionPoint(index);
    index.replaceAllUsesWith(
        arith::ConstantIndexOp::create(builder, loc, 0).getResult());
    index.erase();
  });
  for (auto [i, result] : llvm::enumerate(op.getResults())) {
    forms[result] = {made.getResult(i), perms[i]};
    replaced.insert(result);
  }
  dead.insert(op);
}

void Propagation::rewriteAmax(fp8::AmaxOp op) {
  builder.setInsertionPoint(op);
  loc = op->getLoc();
  Form form = getForm(op.getInput());
  if (form.base == op.getInput())
    return;
  int64_t rank = cast<RankedTensorType>(form.base.getType()).getRank();
  auto type = RankedTensorType::get(SmallVector<int64_t>(rank, 1),
                                    op.getType().getElementType());
  auto made =
      fp8::AmaxOp::create(builder, loc, type, form.base,
                          fp8::ScalingAttr::tensor(op.getContext(), rank));
  made->setDiscardableAttrs(op->getDiscardableAttrDictionary());
  Value flat = made.getResult();
  if (rank > 0)
    flat = tensor::CollapseShapeOp::create(
        builder, loc, RankedTensorType::get({}, type.getElementType()), flat,
        ArrayRef<ReassociationIndices>{});
  forms[op.getResult()] = {flat, {}};
  replaced.insert(op.getResult());
  dead.insert(op);
}

void Propagation::run() {
  if (func.isExternal() || !llvm::hasSingleElement(func.getBody()))
    return;
  Block &block = func.getBody().front();
  for (Operation &op : block) {
    if (auto generic = dyn_cast<linalg::GenericOp>(op))
      tieGeneric(generic);
    else if (isa<tensor::CollapseShapeOp, tensor::ExpandShapeOp, tensor::CastOp,
                 linalg::TransposeOp>(op) &&
             isa<RankedTensorType>(op.getResult(0).getType()))
      tieView(&op);
  }
  for (Operation &op : llvm::make_early_inc_range(block)) {
    if (loops.contains(&op)) {
      auto generic = cast<linalg::GenericOp>(op);
      builder.setInsertionPoint(&op);
      loc = op.getLoc();
      if (isUntouched(generic)) {
        fixOperands(&op);
        for (Value result : op.getResults()) {
          Form &form = forms[result];
          form.base = result;
          llvm::append_range(form.perm,
                             llvm::seq<unsigned>(0, getDims(result).size()));
        }
        continue;
      }
      rewrite(generic);
      continue;
    }
    auto amax = dyn_cast<fp8::AmaxOp>(op);
    if (amax && amax.getScaling().isTensor()) {
      rewriteAmax(amax);
      continue;
    }
    if (tiedViews.contains(&op) && replaced.contains(op.getOperand(0))) {
      replaced.insert(op.getResult(0));
      dead.insert(&op);
      continue;
    }
    fixOperands(&op);
  }
  for (Operation *op : llvm::reverse(dead)) {
    op->dropAllDefinedValueUses();
    op->erase();
  }
}

namespace {
struct PropagateReshapesPass
    : public fp8c::impl::PropagateReshapesPassBase<PropagateReshapesPass> {
  void runOnOperation() override { Propagation(getOperation()).run(); }
};
} // namespace
