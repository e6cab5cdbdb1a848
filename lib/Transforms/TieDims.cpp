//===- TieDims.cpp - Which loops and dims are the same --------------------===//
//
// Part of fp8c, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Propagation.h"

#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;
using namespace fp8c;

ArrayRef<int> Propagation::getDims(Value tensor) {
  auto it = valueDims.find(tensor);
  if (it != valueDims.end())
    return it->second;
  SmallVector<int> dims;
  for (SizeExpr size : shapes.getDims(tensor))
    dims.push_back(factors.make(size));
  return valueDims[tensor] = dims;
}

SmallVector<int> Propagation::getAtoms(ArrayRef<int> dims) {
  SmallVector<int> atoms;
  for (int dim : dims)
    factors.getAtoms(dim, atoms);
  return atoms;
}

bool fp8c::isEmptyOrFill(Value value) {
  return isa_and_nonnull<tensor::EmptyOp, linalg::FillOp>(
      value.getDefiningOp());
}

void Propagation::tieGeneric(linalg::GenericOp op) {
  if (!op.hasPureTensorSemantics())
    return;
  unsigned numLoops = op.getNumLoops();
  // The dims that each loop runs over. Units first: a loop over one is one.
  SmallVector<SmallVector<int>> dims(numLoops);
  SmallVector<bool> isUnit(numLoops, false);
  auto maps = op.getIndexingMapsArray();
  for (OpOperand &operand : op->getOpOperands()) {
    AffineMap map = maps[operand.getOperandNumber()];
    auto type = dyn_cast<RankedTensorType>(operand.get().getType());
    if (!type) {
      if (map.getNumResults() != 0)
        return;
      continue;
    }
    SmallVector<int> own(getDims(operand.get()));
    for (auto [dim, expr] : llvm::zip(own, map.getResults())) {
      if (auto position = dyn_cast<AffineDimExpr>(expr)) {
        if (dim == DimFactors::kUnit)
          isUnit[position.getPosition()] = true;
        dims[position.getPosition()].push_back(dim);
      } else if (!isa<AffineConstantExpr>(expr) || dim != DimFactors::kUnit) {
        return;
      }
    }
  }
  SmallVector<int> own(numLoops, DimFactors::kUnit);
  bool tied = true;
  for (unsigned i = 0; i < numLoops; ++i) {
    if (isUnit[i]) {
      tied &= llvm::all_of(dims[i],
                           [](int dim) { return dim == DimFactors::kUnit; });
      continue;
    }
    if (dims[i].empty())
      return;
    own[i] = dims[i].front();
    for (int other : ArrayRef<int>(dims[i]).drop_front())
      tied &= factors.tie({own[i]}, {other});
  }
  op.getBody()->walk([&](linalg::IndexOp index) {
    tied &= factors.forbidSplit(own[index.getDim()]);
  });
  if (!tied)
    return;
  // The results have the loops' dims, whatever their init had.
  for (auto [result, init] :
       llvm::zip(op.getResults(), op.getDpsInitsMutable())) {
    SmallVector<int> &known = valueDims[result];
    known.clear();
    for (AffineExpr expr : op.getMatchingIndexingMap(&init).getResults())
      known.push_back(isa<AffineDimExpr>(expr)
                          ? own[cast<AffineDimExpr>(expr).getPosition()]
                          : DimFactors::kUnit);
  }
  loops[op] = own;
}

/// A product has no name of its own: the reshape of its result has the node's.
/// The reshape may go, so the product, of the same elements, has the name too.
static void nameProduct(Operation *view) {
  Operation *product = view->getOperand(0).getDefiningOp();
  if (!isa_and_present<fp8::MatmulOp, fp8::ScaledMatmulOp, fp8::AttentionOp>(
          product) ||
      isa<linalg::TransposeOp>(view) || product->hasAttr(fp8::kNodeAttr))
    return;
  if (Attribute name = view->getAttr(fp8::kNodeAttr))
    product->setAttr(fp8::kNodeAttr, name);
}

void Propagation::tieView(Operation *op) {
  nameProduct(op);
  Value source = op->getOperand(0), result = op->getResult(0);
  SmallVector<int> from(getDims(source)), to(getDims(result));
  bool tied = true;
  auto tieGroups = [&](ArrayRef<int> many, ArrayRef<int> few,
                       ArrayRef<ReassociationIndices> groups) {
    if (few.empty())
      return;
    for (auto [one, group] : llvm::zip(few, groups)) {
      SmallVector<int> parts;
      for (int64_t dim : group)
        parts.push_back(many[dim]);
      tied &= factors.tie(parts, {one});
    }
  };
  if (auto collapse = dyn_cast<tensor::CollapseShapeOp>(op)) {
    tieGroups(from, to, collapse.getReassociationIndices());
  } else if (auto expand = dyn_cast<tensor::ExpandShapeOp>(op)) {
    tieGroups(to, from, expand.getReassociationIndices());
  } else if (isa<tensor::CastOp>(op)) {
    for (auto [a, b] : llvm::zip(from, to))
      tied &= factors.tie({a}, {b});
  } else if (auto transpose = dyn_cast<linalg::TransposeOp>(op)) {
    for (auto [dim, position] : llvm::zip(to, transpose.getPermutation()))
      tied &= factors.tie({from[position]}, {dim});
  }
  if (tied)
    tiedViews.insert(op);
}
