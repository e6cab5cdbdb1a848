//===- GraphViews.cpp - Views and movement of tensors ---------------------===//
//
// Part of fp8c, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "fp8c/Import/GraphBuilder.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Utils/IndexingUtils.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"

using namespace mlir;
using namespace fp8c;
using namespace fp8c::import;

//===----------------------------------------------------------------------===//
// Reshapes
//===----------------------------------------------------------------------===//

Value GraphBuilder::refine(Value tensor, ArrayRef<OpFoldResult> newSizes) {
  RankedTensorType type = getType(newSizes, elementOf(tensor));
  // A cast only ever adds what is known.
  SmallVector<int64_t> shape(type.getShape());
  for (auto [size, old] : llvm::zip(shape, typeOf(tensor).getShape()))
    if (ShapedType::isDynamic(size))
      size = old;
  type = RankedTensorType::get(shape, elementOf(tensor));
  if (type == tensor.getType())
    return tensor;
  return remember(tensor::CastOp::create(builder, loc, type, tensor),
                  Sizes(newSizes));
}

namespace {
/// A maximal run of dims that a reshape merges, and what it splits them into.
struct Group {
  SmallVector<int64_t, 2> from, to;
};
} // namespace

/// The groups of a reshape: each one's products are equal and it is as short as
/// can be. Fails where the products cannot be compared.
static FailureOr<SmallVector<Group>> findGroups(SizeArith &arith,
                                                ArrayRef<OpFoldResult> from,
                                                ArrayRef<OpFoldResult> to) {
  SmallVector<Group> groups;
  size_t i = 0, j = 0;
  while (i < from.size() && j < to.size()) {
    Group group;
    OpFoldResult left = from[i], right = to[j];
    group.from.push_back(i++);
    group.to.push_back(j++);
    while (!arith.equal(left, right)) {
      bool rightIsPart = bool(arith.exactDiv(left, right));
      bool leftIsPart = bool(arith.exactDiv(right, left));
      if (rightIsPart == leftIsPart) {
        // Neither divides the other: both grow, if they can.
        if (i == from.size() || j == to.size())
          return failure();
        left = arith.mul(left, from[i]);
        group.from.push_back(i++);
        right = arith.mul(right, to[j]);
        group.to.push_back(j++);
      } else if (rightIsPart) {
        if (j == to.size())
          return failure();
        right = arith.mul(right, to[j]);
        group.to.push_back(j++);
      } else {
        if (i == from.size())
          return failure();
        left = arith.mul(left, from[i]);
        group.from.push_back(i++);
      }
    }
    groups.push_back(std::move(group));
  }
  // What is left can only be ones.
  for (; i < from.size(); ++i) {
    if (groups.empty() || !isConstantIntValue(from[i], 1))
      return failure();
    groups.back().from.push_back(i);
  }
  for (; j < to.size(); ++j) {
    if (groups.empty() || !isConstantIntValue(to[j], 1))
      return failure();
    groups.back().to.push_back(j);
  }
  return groups;
}

Value GraphBuilder::reshape(Value tensor, ArrayRef<OpFoldResult> newSizes) {
  Sizes from = sizes(tensor), to(newSizes);
  for (OpFoldResult &size : to)
    size = arith.canonical(size);
  if (from.size() == to.size() &&
      llvm::all_of(llvm::zip(from, to), [&](auto pair) {
        return arith.equal(std::get<0>(pair), std::get<1>(pair));
      }))
    return refine(tensor, to);
  Type element = elementOf(tensor);
  if (llvm::any_of(to, [](OpFoldResult s) { return isConstantIntValue(s, 0); }))
    return remember(empty(to, element), to);
  std::optional<int64_t> before = arith.getConstant(arith.product(from));
  std::optional<int64_t> after = arith.getConstant(arith.product(to));
  if (before && after && *before != *after)
    fail("cannot show " + Twine(*before) + " elements as " + Twine(*after));
  getType(to, element);
  if (isBroken())
    return remember(empty(to, element), to);

  FailureOr<SmallVector<Group>> found = failure();
  if (!from.empty() && !to.empty())
    found = findGroups(arith, from, to);
  SmallVector<Group> groups;
  if (succeeded(found)) {
    groups = std::move(*found);
  } else if (!from.empty() && !to.empty()) {
    Group all;
    llvm::append_range(all.from, llvm::seq<int64_t>(0, from.size()));
    llvm::append_range(all.to, llvm::seq<int64_t>(0, to.size()));
    groups.push_back(std::move(all));
    checkEqual(arith.product(from), arith.product(to),
               "a reshape keeps the number of elements");
  }

  // Merge each group to one dim, then split it.
  SmallVector<ReassociationIndices> merges, splits;
  Sizes merged;
  for (const Group &group : groups) {
    merges.emplace_back(group.from.begin(), group.from.end());
    splits.emplace_back(group.to.begin(), group.to.end());
    SmallVector<OpFoldResult> parts;
    for (int64_t dim : group.from)
      parts.push_back(from[dim]);
    merged.push_back(arith.product(parts));
  }
  if (merged.size() != from.size()) {
    RankedTensorType type = getType(merged, element);
    Value collapsed = tensor::CollapseShapeOp::create(
        builder, loc,
        tensor::CollapseShapeOp::inferCollapsedType(typeOf(tensor), merges),
        tensor, merges);
    tensor = collapsed;
    if (typeOf(collapsed) != type)
      tensor = refine(collapsed, merged);
    remember(tensor, merged);
  }
  if (merged.size() != to.size()) {
    RankedTensorType type = getType(to, element);
    // A source that is known must not be split into what is unknown, nor the
    // other way round.
    SmallVector<int64_t> source;
    for (auto [dim, split] : llvm::enumerate(splits)) {
      int64_t product = 1;
      for (int64_t i : split)
        product = ShapedType::isDynamic(type.getDimSize(i)) ||
                          ShapedType::isDynamic(product)
                      ? ShapedType::kDynamic
                      : product * type.getDimSize(i);
      source.push_back(product);
    }
    auto sourceType = RankedTensorType::get(source, element);
    if (sourceType != tensor.getType())
      tensor = tensor::CastOp::create(builder, loc, sourceType, tensor);
    tensor =
        tensor::ExpandShapeOp::create(builder, loc, type, tensor, splits, to);
  }
  return remember(tensor, to);
}

Value GraphBuilder::flatten(Value tensor, int64_t first, int64_t last) {
  Sizes old = sizes(tensor), result;
  int64_t rank = old.size();
  if (rank == 0)
    return reshape(tensor, {arith.constant(1)});
  first = wrapDim(first, rank);
  last = wrapDim(last, rank);
  OpFoldResult merged = arith.constant(1);
  for (int64_t dim = 0; dim < rank; ++dim) {
    if (dim < first || dim > last) {
      result.push_back(old[dim]);
      continue;
    }
    merged = arith.mul(merged, old[dim]);
    if (dim == last)
      result.push_back(merged);
  }
  return reshape(tensor, result);
}

Value GraphBuilder::unsqueeze(Value tensor, int64_t dim) {
  Sizes result = sizes(tensor);
  dim = wrapDim(dim, result.size() + 1);
  if (!checkDim(dim, result.size() + 1))
    return tensor;
  result.insert(result.begin() + dim, arith.constant(1));
  return reshape(tensor, result);
}

Value GraphBuilder::squeeze(Value tensor, ArrayRef<int64_t> dims) {
  Sizes result;
  Sizes old = sizes(tensor);
  int64_t rank = old.size();
  for (int64_t dim = 0; dim < rank; ++dim) {
    bool named = llvm::any_of(
        dims, [&](int64_t other) { return wrapDim(other, rank) == dim; });
    if (!named || !isConstantIntValue(old[dim], 1))
      result.push_back(old[dim]);
  }
  return reshape(tensor, result);
}

//===----------------------------------------------------------------------===//
// Movement
//===----------------------------------------------------------------------===//

Value GraphBuilder::permute(Value tensor, ArrayRef<int64_t> permutation) {
  Sizes old = sizes(tensor), result;
  SmallVector<int64_t> order;
  for (int64_t dim : permutation)
    order.push_back(wrapDim(dim, old.size()));
  if (order.size() != old.size() || !isPermutationVector(order)) {
    fail("expected each of the " + Twine(old.size()) + " dims once");
    return tensor;
  }
  for (int64_t dim : order)
    result.push_back(old[dim]);
  if (llvm::equal(order, llvm::seq<int64_t>(0, order.size())))
    return tensor;
  Value init = empty(result, elementOf(tensor));
  auto op = linalg::TransposeOp::create(builder, loc, tensor, init, order);
  return remember(op->getResult(0), result);
}

Value GraphBuilder::transpose(Value tensor, int64_t a, int64_t b) {
  int64_t rank = rankOf(tensor);
  if (rank == 0)
    return tensor;
  SmallVector<int64_t> order = llvm::to_vector(llvm::seq<int64_t>(0, rank));
  std::swap(order[wrapDim(a, rank)], order[wrapDim(b, rank)]);
  return permute(tensor, order);
}

OpFoldResult GraphBuilder::wrapIndex(OpFoldResult index, OpFoldResult size) {
  OpFoldResult zero = arith.constant(0);
  if (arith.knownLessEqual(zero, index))
    return index;
  if (getConstantIntValue(index))
    return arith.add(size, index);
  // 1 for an index below 0, else 0.
  OpFoldResult fromEnd =
      arith.max(zero, arith.min(arith.constant(1), arith.sub(zero, index)));
  return arith.add(index, arith.mul(size, fromEnd));
}

bool GraphBuilder::checkDim(int64_t dim, size_t rank) {
  if (dim >= 0 && dim < static_cast<int64_t>(rank))
    return true;
  fail("there is no dim " + Twine(dim) + " among " + Twine(rank));
  return false;
}

Value GraphBuilder::slice(Value tensor, int64_t dim, OpFoldResult start,
                          OpFoldResult count, int64_t step) {
  Sizes result = sizes(tensor);
  dim = wrapDim(dim, result.size());
  if (!checkDim(dim, result.size()))
    return tensor;
  if (isConstantIntValue(start, 0) && step == 1 &&
      arith.equal(result[dim], count))
    return tensor;
  SmallVector<OpFoldResult> offsets(result.size(), arith.constant(0)),
      steps(result.size(), arith.constant(1));
  offsets[dim] = start;
  steps[dim] = arith.constant(step);
  result[dim] = arith.canonical(count);
  // It may begin at the end, which is no place of the tensor.
  if (isConstantIntValue(count, 0))
    return empty(result, elementOf(tensor));
  return remember(tensor::ExtractSliceOp::create(builder, loc, tensor, offsets,
                                                 result, steps),
                  result);
}

Value GraphBuilder::select(Value tensor, int64_t dim, OpFoldResult index) {
  Sizes result = sizes(tensor);
  dim = wrapDim(dim, result.size());
  if (!checkDim(dim, result.size()))
    return tensor;
  result.erase(result.begin() + dim);
  return reshape(slice(tensor, dim, index, arith.constant(1)), result);
}

Value GraphBuilder::insertSlice(Value tensor, Value source, int64_t dim,
                                OpFoldResult start, int64_t step) {
  Sizes all = sizes(tensor), part = sizes(source);
  if (all.size() != part.size() || elementOf(tensor) != elementOf(source)) {
    fail("cannot write a tensor of another rank or dtype into a part");
    return tensor;
  }
  dim = wrapDim(dim, all.size());
  if (!checkDim(dim, all.size()) || isConstantIntValue(part[dim], 0))
    return tensor;
  SmallVector<OpFoldResult> offsets(all.size(), arith.constant(0)),
      steps(all.size(), arith.constant(1));
  offsets[dim] = start;
  steps[dim] = arith.constant(step);
  for (size_t i = 0; i < all.size(); ++i)
    if (static_cast<int64_t>(i) != dim)
      checkEqual(all[i], part[i], "what is written over a part has its sizes");
  return remember(tensor::InsertSliceOp::create(builder, loc, source, tensor,
                                                offsets, part, steps),
                  all);
}

Value GraphBuilder::expand(Value tensor, ArrayRef<OpFoldResult> newSizes) {
  Sizes old = sizes(tensor), result(newSizes);
  if (result.size() < old.size()) {
    fail("cannot expand a tensor with " + Twine(old.size()) + " dims to " +
         Twine(result.size()));
    return empty(result, elementOf(tensor));
  }
  size_t added = result.size() - old.size();
  bool changes = added != 0;
  for (size_t i = 0; i < old.size(); ++i) {
    OpFoldResult &size = result[added + i];
    if (isConstantIntValue(size, -1))
      size = old[i];
    size = arith.canonical(size);
    std::optional<int64_t> from = getConstantIntValue(old[i]),
                           to = getConstantIntValue(size);
    if (from && to && *from != 1 && *from != *to)
      fail("cannot expand a dim of size " + Twine(*from) + " to " + Twine(*to));
    changes |= from == 1 && to != 1;
  }
  if (!changes)
    return refine(tensor, result);
  // Dims in front of size 1 are a reshape alone.
  bool repeats = false;
  for (size_t i = 0; i < result.size(); ++i)
    repeats |= !isConstantIntValue(result[i], 1) &&
               (i < added || isConstantIntValue(old[i - added], 1));
  if (!repeats)
    return reshape(tensor, result);
  return elementwise(
      tensor, elementOf(tensor),
      [](Scalars &, ValueRange args) { return args[0]; }, result);
}

Value GraphBuilder::concat(ValueRange tensors, int64_t dim) {
  if (tensors.size() == 1)
    return tensors[0];
  Sizes result = sizes(tensors[0]);
  dim = wrapDim(dim, result.size());
  if (!checkDim(dim, result.size()))
    return tensors[0];
  for (Value tensor : tensors.drop_front()) {
    Sizes other = sizes(tensor);
    if (other.size() != result.size() ||
        elementOf(tensor) != elementOf(tensors[0])) {
      fail("cannot join tensors of different ranks or dtypes");
      return tensors[0];
    }
    for (int64_t i = 0; i < (int64_t)result.size(); ++i) {
      if (i == dim) {
        result[i] = arith.add(result[i], other[i]);
        continue;
      }
      if (isa<Attribute>(result[i]) && isa<Attribute>(other[i]) &&
          !arith.equal(result[i], other[i]))
        fail("cannot join tensors whose other sizes differ");
      checkEqual(result[i], other[i], "tensors that are joined fit");
      if (isa<Attribute>(other[i]))
        result[i] = other[i];
    }
  }
  SmallVector<Value> parts;
  for (Value tensor : tensors) {
    Sizes refined = result;
    refined[dim] = sizes(tensor)[dim];
    parts.push_back(refine(tensor, refined));
  }
  Value joined = tensor::ConcatOp::create(
      builder, loc, getType(result, elementOf(parts[0])), dim, parts);
  return remember(joined, result);
}
