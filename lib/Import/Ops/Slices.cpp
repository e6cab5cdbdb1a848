//===- Slices.cpp - Slices, selections and splits ----------------------===//
//
// Part of fp8c, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Common.h"

using namespace mlir;
using namespace fp8c;
using namespace fp8c::import;

namespace {
/// A part of one dim.
struct Span {
  int64_t dim = 0;
  OpFoldResult start, count;
  int64_t step = 1;
};
} // namespace

/// A Python index as one in [0, size].
static OpFoldResult clampIndex(GraphBuilder &g, OpFoldResult index,
                               OpFoldResult size) {
  // "To the end" is written as a very large number.
  if (getConstantIntValue(index).value_or(0) >
      std::numeric_limits<int64_t>::max() / 2)
    return size;
  index = g.wrapIndex(index, size);
  return g.arith.max(g.arith.constant(0), g.arith.min(index, size));
}

/// Puts what was written to a view back over its part of the base.
static FailureOr<Value> putBack(ImportContext &c, Value base, Value written,
                                const Span &range) {
  c.graph.checkEqual(c.graph.size(written, range.dim), range.count,
                     "what is written over a part has its sizes");
  return c.graph.insertSlice(base, written, range.dim, range.start, range.step);
}

/// The range of a slice, by Python's rules.
static FailureOr<Span> sliceRange(ImportContext &c) {
  Value self = c.tensor("self");
  if (rankOf(self) == 0)
    return c.error() << "expected a tensor with a dim";
  FailureOr<int64_t> dim = getDim(c, "dim", rankOf(self));
  if (failed(dim))
    return failure();
  std::optional<int64_t> step = getConstantIntValue(c.size("step"));
  if (!step || *step <= 0)
    return c.error() << "'step' must be a positive number";
  SizeArith &arith = c.graph.arith;
  OpFoldResult size = c.graph.size(self, *dim);
  Span range;
  range.dim = *dim;
  range.step = *step;
  range.start = c.has("start") ? clampIndex(c.graph, c.size("start"), size)
                               : arith.constant(0);
  OpFoldResult end =
      c.has("end") ? clampIndex(c.graph, c.size("end"), size) : size;
  range.count =
      arith.max(arith.constant(0), arith.ceilDiv(arith.sub(end, range.start),
                                                 arith.constant(*step)));
  return range;
}

/// Where the archive states another size than the one that follows from the
/// bounds, its size holds and the call is checked.
static void refineCount(ImportContext &c, Span &range, OpFoldResult stated) {
  if (!stated || c.graph.arith.equal(range.count, stated))
    return;
  c.graph.checkEqual(range.count, stated,
                     "a slice has the size that the export found");
  range.count = stated;
}

static Value take(GraphBuilder &g, Value self, const Span &range) {
  return g.slice(self, range.dim, range.start, range.count, range.step);
}

static Results slice(ImportContext &c) {
  FailureOr<Span> range = sliceRange(c);
  if (failed(range))
    return failure();
  Sizes stated = c.outputSizes();
  if (static_cast<int64_t>(stated.size()) > range->dim)
    refineCount(c, *range, stated[range->dim]);
  return one(take(c.graph, c.tensor("self"), *range));
}

static FailureOr<Value> sliceBack(ImportContext &c, Value base, Value written) {
  FailureOr<Span> range = sliceRange(c);
  if (failed(range))
    return failure();
  return putBack(c, base, written, *range);
}

/// self with src in the place of a slice.
static Results sliceScatter(ImportContext &c) {
  FailureOr<Value> result = sliceBack(c, c.tensor("self"), c.tensor("src"));
  if (failed(result))
    return failure();
  return one(*result);
}

static FailureOr<Span> narrowRange(ImportContext &c) {
  Value self = c.tensor("self");
  FailureOr<int64_t> dim = getDim(c, "dim", rankOf(self));
  if (failed(dim))
    return failure();
  if (rankOf(self) == 0)
    return c.error() << "expected a tensor with a dim";
  SizeArith &arith = c.graph.arith;
  OpFoldResult size = c.graph.size(self, *dim), length = c.size("length");
  OpFoldResult start = c.graph.wrapIndex(c.size("start"), size);
  OpFoldResult zero = arith.constant(0);
  c.graph.checkLessEqual(zero, start, "the start of a narrow is in its dim");
  c.graph.checkLessEqual(zero, length, "the length of a narrow is at least 0");
  c.graph.checkLessEqual(arith.add(start, length), size,
                         "start + length of a narrow is within its dim");
  return Span{*dim, start, length, 1};
}

static Results narrow(ImportContext &c) {
  FailureOr<Span> range = narrowRange(c);
  if (failed(range))
    return failure();
  return one(take(c.graph, c.tensor("self"), *range));
}

static FailureOr<Value> narrowBack(ImportContext &c, Value base,
                                   Value written) {
  FailureOr<Span> range = narrowRange(c);
  if (failed(range))
    return failure();
  return putBack(c, base, written, *range);
}

//===----------------------------------------------------------------------===//
// Selections
//===----------------------------------------------------------------------===//

/// The dim and the index of a select, in range.
static FailureOr<std::pair<int64_t, OpFoldResult>> selection(ImportContext &c) {
  Value self = c.tensor("self");
  if (rankOf(self) == 0)
    return c.error() << "expected a tensor with a dim";
  FailureOr<int64_t> dim = getDim(c, "dim", rankOf(self));
  if (failed(dim))
    return failure();
  OpFoldResult size = c.graph.size(self, *dim), index = c.size("index");
  std::optional<int64_t> number = getConstantIntValue(index);
  std::optional<int64_t> limit = getConstantIntValue(size);
  if (number && limit && (*number < -*limit || *number >= *limit))
    return c.error() << "'index' must be in [" << -*limit << ", " << *limit - 1
                     << "], got " << *number;
  SizeArith &arith = c.graph.arith;
  index = c.graph.wrapIndex(index, size);
  StringRef message = "the index of a select is in its dim";
  c.graph.checkLessEqual(arith.constant(0), index, message);
  c.graph.checkLessEqual(arith.add(index, arith.constant(1)), size, message);
  return std::make_pair(*dim, index);
}

static Results select(ImportContext &c) {
  auto found = selection(c);
  if (failed(found))
    return failure();
  return one(c.graph.select(c.tensor("self"), found->first, found->second));
}

static FailureOr<Value> selectBack(ImportContext &c, Value base,
                                   Value written) {
  auto found = selection(c);
  if (failed(found))
    return failure();
  return c.graph.insertSlice(base, c.graph.unsqueeze(written, found->first),
                             found->first, found->second);
}

static Results selectScatter(ImportContext &c) {
  FailureOr<Value> result = selectBack(c, c.tensor("self"), c.tensor("src"));
  if (failed(result))
    return failure();
  return one(*result);
}

//===----------------------------------------------------------------------===//
// Splits
//===----------------------------------------------------------------------===//

/// The parts of a split; how many and how large the archive says.
static FailureOr<SmallVector<Span>> splitRanges(ImportContext &c) {
  Value self = c.tensor("self");
  if (rankOf(self) == 0)
    return c.error() << "expected a tensor with a dim";
  FailureOr<int64_t> dim = getDim(c, "dim", rankOf(self));
  if (failed(dim))
    return failure();
  SizeArith &arith = c.graph.arith;
  SmallVector<Span> ranges;
  OpFoldResult start = arith.constant(0);
  for (unsigned i = 0; i < c.getNumOutputs(); ++i) {
    Sizes sizes = c.outputSizes(i);
    if (static_cast<int64_t>(sizes.size()) != rankOf(self))
      return c.error() << "expected parts of " << rankOf(self) << " dims, got "
                       << sizes.size();
    ranges.push_back({*dim, start, sizes[*dim], 1});
    start = arith.add(start, sizes[*dim]);
  }
  c.graph.checkEqual(start, c.graph.size(self, *dim),
                     "a split has the parts that the export found");
  return ranges;
}

static Results split(ImportContext &c) {
  FailureOr<SmallVector<Span>> ranges = splitRanges(c);
  if (failed(ranges))
    return failure();
  SmallVector<Value> parts;
  for (const Span &range : *ranges)
    parts.push_back(take(c.graph, c.tensor("self"), range));
  return many(parts);
}

static FailureOr<Value> splitBack(ImportContext &c, Value base, Value written) {
  FailureOr<SmallVector<Span>> ranges = splitRanges(c);
  if (failed(ranges))
    return failure();
  if (c.getViewIndex() >= ranges->size())
    return c.error() << "has no part " << c.getViewIndex();
  return putBack(c, base, written, (*ranges)[c.getViewIndex()]);
}

static Results unbind(ImportContext &c) {
  Value self = c.tensor("self");
  if (rankOf(self) == 0)
    return c.error() << "expected a tensor with a dim";
  FailureOr<int64_t> dim = getDim(c, "dim", rankOf(self));
  if (failed(dim))
    return failure();
  c.graph.checkEqual(c.graph.size(self, *dim),
                     c.graph.arith.constant(c.getNumOutputs()),
                     "an unbind has the parts that the export found");
  SmallVector<Value> parts;
  for (unsigned i = 0; i < c.getNumOutputs(); ++i)
    parts.push_back(c.graph.select(self, *dim, c.graph.arith.constant(i)));
  return many(parts);
}

static FailureOr<Value> unbindBack(ImportContext &c, Value base,
                                   Value written) {
  FailureOr<int64_t> dim = getDim(c, "dim", rankOf(base));
  if (failed(dim))
    return failure();
  return c.graph.insertSlice(base, c.graph.unsqueeze(written, *dim), *dim,
                             c.graph.arith.constant(c.getViewIndex()));
}

void fp8c::import::addSliceOps(OpTable &table) {
  auto view = [&](StringRef name, StringRef schema, Converter convert,
                  Scatter scatter) {
    table.add("slices", ("aten." + name).str(), schema, convert, OpKind::View,
              scatter);
  };
  view("slice.Tensor",
       "Tensor self, int dim=0, SymInt? start=None, SymInt? end=None, SymInt "
       "step=1",
       slice, sliceBack);
  view("narrow.default", "Tensor self, int dim, SymInt start, SymInt length",
       narrow, narrowBack);
  view("select.int", "Tensor self, int dim, SymInt index", select, selectBack);
  view("chunk.default", "Tensor self, int chunks, int dim=0", split, splitBack);
  view("split.Tensor", "Tensor self, SymInt split_size, int dim=0", split,
       splitBack);
  view("split.sizes", "Tensor self, SymInt[] split_size, int dim=0", split,
       splitBack);
  view("split_with_sizes.default",
       "Tensor self, SymInt[] split_sizes, int dim=0", split, splitBack);
  view("tensor_split.sections", "Tensor self, SymInt sections, int dim=0",
       split, splitBack);
  view("unbind.int", "Tensor self, int dim=0", unbind, unbindBack);
  table.add("slices", "aten.slice_scatter.default",
            "Tensor self, Tensor src, int dim=0, SymInt? start=None, SymInt? "
            "end=None, SymInt step=1",
            sliceScatter);
  table.add("slices", "aten.select_scatter.default",
            "Tensor self, Tensor src, int dim, SymInt index", selectScatter);
}
