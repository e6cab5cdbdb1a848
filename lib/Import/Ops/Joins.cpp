//===- Joins.cpp - Concatenations and repetitions ----------------------===//
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

/// The tensors of a list in the output's type; empty vectors of the old kind,
/// of shape (0), are left out.
static FailureOr<SmallVector<Value>> parts(ImportContext &c) {
  SmallVector<Value> result;
  int64_t rank = 0;
  for (Value tensor : c.tensors("tensors"))
    rank = std::max(rank, tensor ? rankOf(tensor) : 0);
  for (Value tensor : c.tensors("tensors")) {
    if (!tensor)
      return c.error() << "expected tensors, got None";
    if (rankOf(tensor) == 1 && rank != 1 &&
        isConstantIntValue(c.graph.size(tensor, 0), 0))
      continue;
    if (rankOf(tensor) != rank)
      return c.error() << "expected tensors of one rank";
    result.push_back(asOutput(c, tensor));
  }
  if (result.empty())
    return c.error() << "expected at least one tensor";
  return result;
}

static Results cat(ImportContext &c) {
  FailureOr<SmallVector<Value>> tensors = parts(c);
  if (failed(tensors))
    return failure();
  FailureOr<int64_t> dim = getDim(c, "dim", rankOf((*tensors)[0]));
  if (failed(dim))
    return failure();
  if (rankOf((*tensors)[0]) == 0)
    return c.error() << "cannot concatenate tensors without dims";
  return one(c.graph.concat(*tensors, *dim));
}

static Results stack(ImportContext &c) {
  FailureOr<SmallVector<Value>> tensors = parts(c);
  if (failed(tensors))
    return failure();
  FailureOr<int64_t> dim = getDim(c, "dim", rankOf((*tensors)[0]) + 1);
  if (failed(dim))
    return failure();
  for (Value &tensor : *tensors)
    tensor = c.graph.unsqueeze(tensor, *dim);
  return one(c.graph.concat(*tensors, *dim));
}

/// Each dim as often as `repeats` says: (r, d) and then merged.
static Results repeat(ImportContext &c) {
  Value self = c.tensor("self");
  GraphBuilder &g = c.graph;
  Sizes repeats = c.sizes("repeats"), sizes = g.sizes(self);
  if (repeats.size() < sizes.size())
    return c.error() << "'repeats' must have at least " << sizes.size()
                     << " numbers, got " << repeats.size();
  sizes.insert(sizes.begin(), repeats.size() - sizes.size(),
               g.arith.constant(1));
  Sizes split, wide, result;
  for (auto [count, size] : llvm::zip(repeats, sizes)) {
    split.append({g.arith.constant(1), size});
    wide.append({count, size});
    result.push_back(g.arith.mul(count, size));
  }
  return one(g.reshape(g.expand(g.reshape(self, split), wide), result));
}

/// Each element `repeats` times in a row.
static Results repeatInterleave(ImportContext &c) {
  Value self = c.tensor("self");
  GraphBuilder &g = c.graph;
  int64_t dim = 0;
  if (!c.has("dim")) {
    self = g.flatten(self, 0, -1);
  } else {
    FailureOr<int64_t> wrapped = getDim(c, "dim", rankOf(self));
    if (failed(wrapped))
      return failure();
    dim = *wrapped;
  }
  OpFoldResult repeats = c.size("repeats");
  Value wide = g.unsqueeze(self, dim + 1);
  Sizes sizes = g.sizes(wide);
  sizes[dim + 1] = repeats;
  return one(g.flatten(g.expand(wide, sizes), dim, dim + 1));
}

void fp8c::import::addJoinOps(OpTable &table) {
  auto add = [&](StringRef name, StringRef schema, Converter convert) {
    table.add("joins", ("aten." + name).str(), schema, convert);
  };
  add("cat.default", "Tensor[] tensors, int dim=0", cat);
  add("concat.default", "Tensor[] tensors, int dim=0", cat);
  add("stack.default", "Tensor[] tensors, int dim=0", stack);
  add("repeat.default", "Tensor self, SymInt[] repeats", repeat);
  add("repeat_interleave.self_int",
      "Tensor self, SymInt repeats, int? dim=None, *, SymInt? "
      "output_size=None",
      repeatInterleave);
}
