//===- Views.cpp - Reshapes and permutations ---------------------------===//
//
// Part of fp8c, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A view whose base is written has a scatter: the base with what was written
// put back.
//
//===----------------------------------------------------------------------===//

#include "Common.h"
#include "llvm/ADT/SmallBitVector.h"

using namespace mlir;
using namespace fp8c;
using namespace fp8c::import;

//===----------------------------------------------------------------------===//
// Reshapes
//===----------------------------------------------------------------------===//

/// The scatter of every view that keeps the order of elements.
static FailureOr<Value> reshapeBack(ImportContext &c, Value base,
                                    Value written) {
  return c.graph.reshape(written, c.graph.sizes(base));
}

static Results reshapeTo(ImportContext &c, ArrayRef<OpFoldResult> requested) {
  Value self = c.tensor("self");
  int unknown = llvm::count_if(requested, [](OpFoldResult size) {
    return isConstantIntValue(size, -1);
  });
  if (unknown > 1)
    return c.error() << "at most one size may be -1";
  SizeArith &arith = c.graph.arith;
  OpFoldResult elements = arith.product(c.graph.sizes(self));
  Sizes sizes = c.graph.inferSizes(requested, elements);
  std::optional<int64_t> from = arith.getConstant(elements);
  std::optional<int64_t> to = arith.getConstant(arith.product(sizes));
  if (from && to && *from != *to)
    return c.error() << "cannot show " << *from << " elements as " << *to;
  return one(c.graph.reshape(self, sizes));
}

static Results view(ImportContext &c) { return reshapeTo(c, c.sizes("size")); }
static Results reshape(ImportContext &c) {
  return reshapeTo(c, c.sizes("shape"));
}
static Results viewAs(ImportContext &c) {
  return reshapeTo(c, c.graph.sizes(c.tensor("other")));
}

static Results flatten(ImportContext &c) {
  Value self = c.tensor("self");
  FailureOr<int64_t> first = getDim(c, "start_dim", rankOf(self));
  FailureOr<int64_t> last = getDim(c, "end_dim", rankOf(self));
  if (failed(first) || failed(last))
    return failure();
  if (*first > *last)
    return c.error() << "'start_dim' must not be after 'end_dim'";
  return one(c.graph.flatten(self, *first, *last));
}

static Results unflatten(ImportContext &c) {
  Value self = c.tensor("self");
  FailureOr<int64_t> dim = getDim(c, "dim", rankOf(self));
  if (failed(dim))
    return failure();
  Sizes sizes = c.graph.sizes(self);
  if (sizes.empty())
    return c.error() << "expected a tensor with a dim";
  Sizes parts = c.graph.inferSizes(c.sizes("sizes"), sizes[*dim]);
  sizes.erase(sizes.begin() + *dim);
  sizes.insert(sizes.begin() + *dim, parts.begin(), parts.end());
  return reshapeTo(c, sizes);
}

static Results unsqueeze(ImportContext &c) {
  Value self = c.tensor("self");
  FailureOr<int64_t> dim = getDim(c, "dim", rankOf(self) + 1);
  if (failed(dim))
    return failure();
  return one(c.graph.unsqueeze(self, *dim));
}

/// Drops dims of size 1; which ones the archive says for a dynamic dim.
static Results squeezeDims(ImportContext &c, ArrayRef<int64_t> dims) {
  return one(c.graph.squeeze(c.tensor("self"), dims));
}

static Results squeeze(ImportContext &c) {
  return squeezeDims(c, allDims(c.tensor("self")));
}
static Results squeezeDim(ImportContext &c) {
  FailureOr<int64_t> dim = getDim(c, "dim", rankOf(c.tensor("self")));
  if (failed(dim))
    return failure();
  return squeezeDims(c, *dim);
}
static Results squeezeSeveral(ImportContext &c) {
  if (c.integers("dim").empty())
    return one(c.tensor("self"));
  FailureOr<SmallVector<int64_t>> dims =
      getDims(c, "dim", rankOf(c.tensor("self")));
  if (failed(dims))
    return failure();
  return squeezeDims(c, *dims);
}

//===----------------------------------------------------------------------===//
// Permutations
//===----------------------------------------------------------------------===//

/// The order of a permuting view's dims.
static FailureOr<SmallVector<int64_t>> permuteOrder(ImportContext &c) {
  Value self = c.tensor("self");
  int64_t rank = rankOf(self);
  SmallVector<int64_t> order = c.integers("dims");
  llvm::SmallBitVector seen(rank);
  for (int64_t &dim : order) {
    if (dim < -rank || dim >= rank || seen[dim < 0 ? dim + rank : dim])
      return c.error() << "'dims' must name each of the " << rank
                       << " dims once";
    dim = dim < 0 ? dim + rank : dim;
    seen.set(dim);
  }
  if (static_cast<int64_t>(order.size()) != rank)
    return c.error() << "'dims' must name each of the " << rank << " dims once";
  return order;
}

/// The two dims swapped.
static FailureOr<SmallVector<int64_t>> transposeOrder(ImportContext &c) {
  int64_t rank = rankOf(c.tensor("self"));
  FailureOr<int64_t> a = getDim(c, "dim0", rank), b = getDim(c, "dim1", rank);
  if (failed(a) || failed(b))
    return failure();
  SmallVector<int64_t> order = allDims(c.tensor("self"));
  if (rank)
    std::swap(order[*a], order[*b]);
  return order;
}

/// A matrix transposed; a vector as it is.
static FailureOr<SmallVector<int64_t>> matrixOrder(ImportContext &c) {
  SmallVector<int64_t> order = allDims(c.tensor("self"));
  if (order.size() > 2)
    return c.error() << "expected at most 2 dims, got " << order.size();
  return SmallVector<int64_t>(llvm::reverse(order));
}

static FailureOr<SmallVector<int64_t>> movedimOrder(ImportContext &c) {
  int64_t rank = rankOf(c.tensor("self"));
  FailureOr<int64_t> from = getDim(c, "source", rank);
  FailureOr<int64_t> to = getDim(c, "destination", rank);
  if (failed(from) || failed(to))
    return failure();
  SmallVector<int64_t> order = allDims(c.tensor("self"));
  if (rank) {
    order.erase(order.begin() + *from);
    order.insert(order.begin() + *to, *from);
  }
  return order;
}

namespace {
using Order = FailureOr<SmallVector<int64_t>> (*)(ImportContext &);
} // namespace

template <Order getOrder> static Results permute(ImportContext &c) {
  FailureOr<SmallVector<int64_t>> order = getOrder(c);
  if (failed(order))
    return failure();
  return one(c.graph.permute(c.tensor("self"), *order));
}

template <Order getOrder>
static FailureOr<Value> permuteBack(ImportContext &c, Value base,
                                    Value written) {
  FailureOr<SmallVector<int64_t>> order = getOrder(c);
  if (failed(order))
    return failure();
  SmallVector<int64_t> inverse(order->size());
  for (auto [to, from] : llvm::enumerate(*order))
    inverse[from] = to;
  return c.graph.permute(written, inverse);
}

//===----------------------------------------------------------------------===//
// Expands
//===----------------------------------------------------------------------===//

static Results expandTo(ImportContext &c, const Sizes &sizes) {
  Value self = c.tensor("self");
  Sizes old = c.graph.sizes(self);
  if (sizes.size() < old.size())
    return c.error() << "expected at least " << old.size() << " sizes, got "
                     << sizes.size();
  for (size_t i = 0; i < old.size(); ++i) {
    std::optional<int64_t> from = getConstantIntValue(old[i]);
    std::optional<int64_t> to =
        getConstantIntValue(sizes[sizes.size() - old.size() + i]);
    if (from && to && *from != 1 && *to != -1 && *from != *to)
      return c.error() << "cannot expand a dim of size " << *from << " to "
                       << *to;
  }
  return one(c.graph.expand(self, sizes));
}

static Results expand(ImportContext &c) { return expandTo(c, c.sizes("size")); }
static Results expandAs(ImportContext &c) {
  return expandTo(c, c.graph.sizes(c.tensor("other")));
}

void fp8c::import::addViewOps(OpTable &table) {
  auto add = [&](StringRef name, StringRef schema, Converter convert,
                 Scatter scatter, OpKind kind = OpKind::View) {
    table.add("views", ("aten." + name).str(), schema, convert, kind, scatter);
  };
  add("view.default", "Tensor self, SymInt[] size", view, reshapeBack);
  add("_unsafe_view.default", "Tensor self, SymInt[] size", view, reshapeBack);
  add("view_as.default", "Tensor self, Tensor other", viewAs, reshapeBack);
  add("reshape.default", "Tensor self, SymInt[] shape", reshape, reshapeBack,
      OpKind::MaybeView);
  add("reshape_as.default", "Tensor self, Tensor other", viewAs, reshapeBack,
      OpKind::MaybeView);
  add("flatten.using_ints", "Tensor self, int start_dim=0, int end_dim=-1",
      flatten, reshapeBack, OpKind::MaybeView);
  add("unflatten.int", "Tensor self, int dim, SymInt[] sizes", unflatten,
      reshapeBack);
  add("unsqueeze.default", "Tensor self, int dim", unsqueeze, reshapeBack);
  add("squeeze.default", "Tensor self", squeeze, reshapeBack);
  add("squeeze.dim", "Tensor self, int dim", squeezeDim, reshapeBack);
  add("squeeze.dims", "Tensor self, int[] dim", squeezeSeveral, reshapeBack);
  add("permute.default", "Tensor self, int[] dims", permute<permuteOrder>,
      permuteBack<permuteOrder>);
  add("transpose.int", "Tensor self, int dim0, int dim1",
      permute<transposeOrder>, permuteBack<transposeOrder>);
  add("t.default", "Tensor self", permute<matrixOrder>,
      permuteBack<matrixOrder>);
  add("numpy_T.default", "Tensor self", permute<matrixOrder>,
      permuteBack<matrixOrder>);
  add("movedim.int", "Tensor self, int source, int destination",
      permute<movedimOrder>, permuteBack<movedimOrder>);
  // Several elements of an expand are one in memory: no scatter.
  add("expand.default", "Tensor self, SymInt[] size, *, bool implicit=False",
      expand, nullptr);
  add("expand_as.default", "Tensor self, Tensor other", expandAs, nullptr);
}
