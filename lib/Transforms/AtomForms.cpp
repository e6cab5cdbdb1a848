//===- AtomForms.cpp - Tensors over atoms and back ------------------------===//
//
// Part of fp8c, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Propagation.h"
#include "UnitDims.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;
using namespace fp8c;

RankedTensorType Propagation::getType(ArrayRef<SizeExpr> sizes, Type element) {
  SmallVector<int64_t> shape;
  for (SizeExpr size : sizes)
    shape.push_back(
        SymbolicShape::getConstant(size).value_or(ShapedType::kDynamic));
  return RankedTensorType::get(shape, element);
}

Value Propagation::castTo(Value tensor, ArrayRef<SizeExpr> sizes) {
  RankedTensorType type =
      getType(sizes, cast<RankedTensorType>(tensor.getType()).getElementType());
  if (type == tensor.getType())
    return tensor;
  return tensor::CastOp::create(builder, loc, type, tensor);
}

Value Propagation::makeEmpty(ArrayRef<int> atoms, Type element) {
  SmallVector<OpFoldResult> sizes;
  for (int atom : atoms)
    sizes.push_back(
        shapes.materializeFold(builder, loc, factors.getSize(atom)));
  return tensor::EmptyOp::create(builder, loc, sizes, element);
}

Value Propagation::toAtoms(Value tensor) {
  SmallVector<int> dims(getDims(tensor));
  Type element = cast<RankedTensorType>(tensor.getType()).getElementType();
  SmallVector<SizeExpr> sizes, merged, atomSizes;
  SmallVector<bool> isUnit;
  SmallVector<ReassociationIndices> splits;
  for (int dim : dims) {
    SmallVector<int> atoms = getAtoms({dim});
    SizeExpr size = shapes.constant(1);
    ReassociationIndices &split = splits.emplace_back();
    for (int atom : atoms) {
      split.push_back(atomSizes.size());
      atomSizes.push_back(factors.getSize(atom));
      size = shapes.mul(size, atomSizes.back());
    }
    sizes.push_back(size);
    isUnit.push_back(atoms.empty());
    if (atoms.empty())
      splits.pop_back();
    else
      merged.push_back(size);
  }
  if (merged.size() != sizes.size()) {
    tensor = tensor::CollapseShapeOp::create(
        builder, loc, getType(merged, element), castTo(tensor, sizes),
        groupUnits(isUnit));
  }
  if (merged.size() != atomSizes.size()) {
    SmallVector<OpFoldResult> shape;
    for (SizeExpr size : atomSizes)
      shape.push_back(shapes.materializeFold(builder, loc, size));
    tensor =
        tensor::ExpandShapeOp::create(builder, loc, getType(atomSizes, element),
                                      castTo(tensor, merged), splits, shape);
  }
  return castTo(tensor, atomSizes);
}

Value Propagation::fromAtoms(const Form &form, Value tensor) {
  Value value = form.base;
  Type element = cast<RankedTensorType>(tensor.getType()).getElementType();
  SmallVector<int> dims(getDims(tensor));
  SmallVector<int> atoms = getAtoms(dims);
  if (!llvm::equal(form.perm, llvm::seq<unsigned>(0, form.perm.size()))) {
    Value init = makeEmpty(atoms, element);
    SmallVector<int64_t> order(form.perm.begin(), form.perm.end());
    value = linalg::TransposeOp::create(builder, loc, value, init, order)
                ->getResult(0);
  }
  SmallVector<SizeExpr> sizes, merged;
  SmallVector<bool> isUnit;
  SmallVector<ReassociationIndices> merges;
  int64_t position = 0;
  for (int dim : dims) {
    SizeExpr size = shapes.constant(1);
    ReassociationIndices group;
    for (int atom : getAtoms({dim})) {
      group.push_back(position++);
      size = shapes.mul(size, factors.getSize(atom));
    }
    sizes.push_back(size);
    isUnit.push_back(group.empty());
    if (group.empty())
      continue;
    merged.push_back(size);
    merges.push_back(group);
  }
  if (merged.size() != atoms.size())
    value = tensor::CollapseShapeOp::create(
        builder, loc, getType(merged, element), value, merges);
  if (merged.size() != sizes.size()) {
    SmallVector<OpFoldResult> shape;
    for (SizeExpr size : sizes)
      shape.push_back(shapes.materializeFold(builder, loc, size));
    value = tensor::ExpandShapeOp::create(builder, loc, getType(sizes, element),
                                          value, groupUnits(isUnit), shape);
  }
  if (value.getType() != tensor.getType())
    value = tensor::CastOp::create(builder, loc, tensor.getType(), value);
  return value;
}

const Form &Propagation::getForm(Value tensor) {
  auto it = forms.find(tensor);
  if (it != forms.end())
    return it->second;
  Form form;
  Operation *op = tensor.getDefiningOp();
  if (op && tiedViews.contains(op)) {
    form = getForm(op->getOperand(0));
    if (auto transpose = dyn_cast<linalg::TransposeOp>(op)) {
      // Where the atoms of each source dim begin.
      SmallVector<unsigned> begins, counts;
      unsigned position = 0;
      for (int dim : getDims(transpose.getInput())) {
        begins.push_back(position);
        counts.push_back(getAtoms({dim}).size());
        position += counts.back();
      }
      SmallVector<unsigned> perm;
      for (int64_t dim : transpose.getPermutation())
        for (unsigned i = 0; i < counts[dim]; ++i)
          perm.push_back(form.perm[begins[dim] + i]);
      form.perm = perm;
    }
  } else if (auto fill = dyn_cast_or_null<linalg::FillOp>(op)) {
    SmallVector<int> atoms = getAtoms(getDims(tensor));
    Value init = makeEmpty(
        atoms, cast<RankedTensorType>(tensor.getType()).getElementType());
    form.base =
        linalg::FillOp::create(builder, loc, fill.getInputs(), ValueRange{init})
            ->getResult(0);
    llvm::append_range(form.perm, llvm::seq<unsigned>(0, atoms.size()));
  } else {
    form.base = toAtoms(tensor);
    llvm::append_range(
        form.perm, llvm::seq<unsigned>(0, getAtoms(getDims(tensor)).size()));
  }
  return forms[tensor] = form;
}

Value Propagation::getOriginal(Value tensor) {
  Value &original = originals[tensor];
  if (!original) {
    Value made = fromAtoms(getForm(tensor), tensor);
    if (Operation *op = made.getDefiningOp();
        op && isa<OpResult>(tensor) && !op->hasAttr(fp8::kNodeAttr))
      if (Attribute name = tensor.getDefiningOp()->getAttr(fp8::kNodeAttr);
          name && tiedViews.contains(tensor.getDefiningOp()))
        op->setAttr(fp8::kNodeAttr, name);
    originals[tensor] = made;
    return made;
  }
  return original;
}
