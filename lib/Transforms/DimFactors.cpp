//===- DimFactors.cpp - Dims as products of smaller dims ------------------===//
//
// Part of fp8c, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "DimFactors.h"

using namespace fp8c;

int DimFactors::make(SizeExpr size) {
  if (SymbolicShape::isConstant(size, 1))
    return kUnit;
  int id = dims.size();
  dims.push_back({id, size, /*canSplit=*/true, /*parts=*/{}});
  return id;
}

int DimFactors::find(int dim) {
  while (dims[dim].parent != dim)
    dim = dims[dim].parent = dims[dims[dim].parent].parent;
  return dim;
}

bool DimFactors::forbidSplit(int dim) {
  if (dim == kUnit)
    return true;
  Dim &root = dims[find(dim)];
  root.canSplit = false;
  return root.parts.empty();
}

void DimFactors::getAtoms(int dim, llvm::SmallVectorImpl<int> &atoms) {
  if (dim == kUnit)
    return;
  int root = find(dim);
  if (dims[root].parts.empty()) {
    atoms.push_back(root);
    return;
  }
  // The parts may be extended while they are walked.
  llvm::SmallVector<int, 2> parts = dims[root].parts;
  for (int part : parts)
    getAtoms(part, atoms);
}

int DimFactors::split(int dim, int first) {
  SizeExpr whole = dims[dim].size, part = dims[first].size;
  std::optional<int64_t> known = SymbolicShape::getConstant(part);
  if (!dims[dim].canSplit || (known && *known < 2))
    return kUnit;
  SizeExpr rest = shapes.floorDiv(whole, part);
  if (shapes.mul(rest, part) != whole || SymbolicShape::isConstant(rest, 0))
    return kUnit;
  int id = make(rest);
  if (id != kUnit)
    dims[dim].parts = {first, id};
  return id;
}

bool DimFactors::tie(llvm::ArrayRef<int> left, llvm::ArrayRef<int> right) {
  // Stacks of atoms, the outermost on top.
  llvm::SmallVector<int> a, b;
  auto fill = [&](llvm::ArrayRef<int> from, llvm::SmallVectorImpl<int> &to) {
    for (int dim : from)
      getAtoms(dim, to);
    std::reverse(to.begin(), to.end());
  };
  fill(left, a);
  fill(right, b);
  // The top of a stack, which may have been split since it was pushed.
  auto top = [&](llvm::SmallVectorImpl<int> &stack) {
    while (!dims[find(stack.back())].parts.empty()) {
      int dim = find(stack.pop_back_val());
      llvm::SmallVector<int> parts;
      getAtoms(dim, parts);
      stack.append(parts.rbegin(), parts.rend());
    }
    return find(stack.back());
  };
  while (!a.empty() && !b.empty()) {
    int x = top(a), y = top(b);
    bool last = a.size() == 1 && b.size() == 1;
    if (x != y && (dims[x].size == dims[y].size || last)) {
      bool keepY = SymbolicShape::getConstant(dims[y].size).has_value();
      int root = keepY ? y : x, other = keepY ? x : y;
      dims[root].canSplit &= dims[other].canSplit;
      dims[other].parent = root;
      x = y = root;
    }
    if (x == y) {
      a.pop_back();
      b.pop_back();
      continue;
    }
    int rest = split(x, y);
    llvm::SmallVectorImpl<int> *longer = &a;
    if (rest == kUnit) {
      rest = split(y, x);
      longer = &b;
    }
    if (rest == kUnit)
      return false;
    a.pop_back();
    b.pop_back();
    longer->push_back(rest);
  }
  return a.empty() && b.empty();
}
