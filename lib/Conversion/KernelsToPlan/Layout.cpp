//===- Layout.cpp - Where the elements of a tensor are --------------------===//
//
// Part of fp8c, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Layout.h"

#include "mlir/Dialect/Utils/IndexingUtils.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "llvm/ADT/SmallBitVector.h"

using namespace mlir;
using namespace fp8c;
using namespace fp8c::toplan;

Sizes toplan::getDenseStrides(SizeArith &arith, ArrayRef<OpFoldResult> sizes) {
  Sizes strides(sizes.size());
  OpFoldResult stride = arith.constant(1);
  for (size_t i = sizes.size(); i-- > 0;) {
    strides[i] = stride;
    stride = arith.mul(stride, sizes[i]);
  }
  return strides;
}

Layout Layout::dense(SizeArith &arith, Value root, Sizes sizes) {
  Sizes strides = getDenseStrides(arith, sizes);
  return {root, std::move(sizes), std::move(strides), arith.constant(0)};
}

Layout Layout::transpose(ArrayRef<int64_t> permutation) const {
  Layout result{root, {}, {}, offset};
  for (int64_t dim : permutation) {
    result.sizes.push_back(sizes[dim]);
    result.strides.push_back(strides[dim]);
  }
  return result;
}

Layout Layout::untranspose(ArrayRef<int64_t> permutation) const {
  return transpose(invertPermutationVector(permutation));
}

Layout Layout::slice(SizeArith &arith, ArrayRef<OpFoldResult> offsets,
                     ArrayRef<OpFoldResult> newSizes,
                     ArrayRef<OpFoldResult> steps,
                     const llvm::SmallBitVector &dropped) const {
  Layout result{root, {}, {}, offset};
  for (size_t i = 0; i < sizes.size(); ++i) {
    result.offset = arith.add(result.offset, arith.mul(offsets[i], strides[i]));
    if (dropped.test(i))
      continue;
    result.sizes.push_back(newSizes[i]);
    result.strides.push_back(arith.mul(strides[i], steps[i]));
  }
  return result;
}

std::optional<Layout> Layout::collapse(SizeArith &arith,
                                       ArrayRef<ReassociationIndices> groups,
                                       const Sizes &resultSizes) const {
  Layout result{root, resultSizes, {}, offset};
  for (const ReassociationIndices &group : groups) {
    // Strides of dims with one element have no meaning.
    std::optional<int64_t> inner;
    for (int64_t dim : llvm::reverse(group)) {
      if (isConstantIntValue(sizes[dim], 1))
        continue;
      if (inner &&
          !arith.equal(strides[dim], arith.mul(strides[*inner], sizes[*inner])))
        return std::nullopt;
      // The extents of the dims inside have been checked one by one.
      inner = dim;
    }
    OpFoldResult stride = arith.constant(1);
    for (int64_t dim : group)
      if (!isConstantIntValue(sizes[dim], 1) || !inner)
        stride = strides[dim];
    result.strides.push_back(stride);
  }
  return result;
}

Layout Layout::expand(SizeArith &arith, ArrayRef<ReassociationIndices> groups,
                      const Sizes &resultSizes) const {
  Layout result{root, resultSizes, Sizes(resultSizes.size()), offset};
  // Dims that belong to no group (a rank 0 source) have one element.
  for (OpFoldResult &stride : result.strides)
    stride = arith.constant(1);
  for (auto [dim, group] : llvm::enumerate(groups)) {
    OpFoldResult stride = strides[dim];
    for (int64_t inner : llvm::reverse(group)) {
      result.strides[inner] = stride;
      stride = arith.mul(stride, resultSizes[inner]);
    }
  }
  return result;
}

bool Layout::isSame(SizeArith &arith, const Layout &other) const {
  if (root != other.root || sizes.size() != other.sizes.size() ||
      !arith.equal(offset, other.offset))
    return false;
  for (size_t i = 0; i < sizes.size(); ++i)
    if (!arith.equal(sizes[i], other.sizes[i]) ||
        !arith.equal(strides[i], other.strides[i]))
      return false;
  return true;
}

bool Layout::isDense(SizeArith &arith) const {
  Sizes dense = getDenseStrides(arith, sizes);
  for (size_t i = 0; i < sizes.size(); ++i)
    if (!isConstantIntValue(sizes[i], 1) && !arith.equal(strides[i], dense[i]))
      return false;
  return true;
}

int64_t Layout::getUnitDim() const {
  for (size_t i = sizes.size(); i-- > 0;)
    if (isConstantIntValue(strides[i], 1) && !isConstantIntValue(sizes[i], 1))
      return i;
  if (!sizes.empty() && isConstantIntValue(strides.back(), 1))
    return sizes.size() - 1;
  return -1;
}

MemRefType Layout::getType(Type element) const {
  auto fixed = [](OpFoldResult value) {
    return getConstantIntValue(value).value_or(ShapedType::kDynamic);
  };
  SmallVector<int64_t> shape(llvm::map_range(sizes, fixed));
  SmallVector<int64_t> steps(llvm::map_range(strides, fixed));
  auto layout =
      StridedLayoutAttr::get(element.getContext(), fixed(offset), steps);
  return MemRefType::get(shape, element, layout);
}
