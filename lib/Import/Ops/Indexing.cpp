//===- Indexing.cpp - Gathers, rolls, pads, triangles ---------------------===//
//
// Part of fp8c, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A gather is a generic that reads its source with tensor.extract. An index out
// of range, which PyTorch refuses, reads the nearest element instead of other
// memory. f8 values move as they are.
//
//===----------------------------------------------------------------------===//

#include "Common.h"

using namespace mlir;
using namespace fp8c;
using namespace fp8c::import;

/// An index value in [0, size): Python's negative indices count from the end.
static Value inRange(GraphBuilder &g, Scalars &s, Value index,
                     OpFoldResult size, bool wrap = true) {
  OpBuilder &builder = s.getBuilder();
  Type indexType = builder.getIndexType();
  index = s.convert(index, indexType);
  auto constant = getConstantIntValue(size);
  Value limit = constant ? s.integer(indexType, *constant) : cast<Value>(size);
  Value zero = s.integer(indexType, 0);
  if (wrap)
    index = s.select(s.compare(Compare::LT, index, zero), s.add(index, limit),
                     index);
  Value last = s.sub(limit, s.integer(indexType, 1));
  return s.max(s.min(index, last), zero);
}

/// Where there are indices there is something to index: the last element that
/// an index out of range reads.
static void checkIndexed(GraphBuilder &g, const Sizes &indices,
                         OpFoldResult limit) {
  g.checkLessEqual(g.arith.min(g.arith.product(indices), g.arith.constant(1)),
                   limit, "a dim that is indexed has an element");
}

/// An index size as an operand of a body.
static Value sizeIn(Scalars &s, OpFoldResult size) {
  if (auto constant = getConstantIntValue(size))
    return s.integer(s.getBuilder().getIndexType(), *constant);
  return cast<Value>(size);
}

static LogicalResult requireIntegers(ImportContext &c, StringRef name,
                                     Value indices) {
  Type type = elementOf(indices);
  if (isa<FloatType>(type) || type.isInteger(1))
    return c.error() << "'" << name << "' must hold integers, got " << type;
  return success();
}

static Results embedding(ImportContext &c) {
  Value weight = c.tensor("weight"), indices = c.tensor("indices");
  if (rankOf(weight) != 2)
    return c.error() << "'weight' must have 2 dims, got " << rankOf(weight);
  if (failed(requireIntegers(c, "indices", indices)))
    return failure();
  GraphBuilder &g = c.graph;
  Sizes sizes = g.sizes(indices);
  sizes.push_back(g.size(weight, 1));
  OpFoldResult rows = g.size(weight, 0);
  checkIndexed(g, g.sizes(indices), rows);
  return one(g.generate(sizes, elementOf(weight), indices, {allDims(indices)},
                        [&](Scalars &s, ValueRange v) {
                          Value row = inRange(g, s, v[0], rows, false);
                          return g.extract(s, weight, {row, v.back()});
                        }));
}

static Results indexSelect(ImportContext &c) {
  Value self = c.tensor("self"), index = c.tensor("index");
  FailureOr<int64_t> dim = getDim(c, "dim", rankOf(self));
  if (failed(dim) || failed(requireIntegers(c, "index", index)))
    return failure();
  GraphBuilder &g = c.graph;
  if (rankOf(self) == 0 || rankOf(index) > 1)
    return c.error() << "expected a tensor with a dim and a vector of indices";
  index = g.flatten(index, 0, -1);
  Sizes sizes = g.sizes(self);
  OpFoldResult limit = sizes[*dim];
  sizes[*dim] = g.size(index, 0);
  checkIndexed(g, g.sizes(index), limit);
  return one(g.generate(sizes, elementOf(self), index,
                        {SmallVector<int64_t>{*dim}},
                        [&](Scalars &s, ValueRange v) {
                          SmallVector<Value> position(v.drop_front());
                          position[*dim] = inRange(g, s, v[0], limit);
                          return g.extract(s, self, position);
                        }));
}

static Results gather(ImportContext &c) {
  Value self = c.tensor("self"), index = c.tensor("index");
  FailureOr<int64_t> dim = getDim(c, "dim", rankOf(self));
  if (failed(dim) || failed(requireIntegers(c, "index", index)))
    return failure();
  GraphBuilder &g = c.graph;
  if (rankOf(self) != rankOf(index) || rankOf(self) == 0)
    return c.error() << "expected a tensor and indices of one rank";
  OpFoldResult limit = g.size(self, *dim);
  checkIndexed(g, g.sizes(index), limit);
  for (int64_t other = 0; other < rankOf(self); ++other)
    if (other != *dim)
      g.checkLessEqual(g.size(index, other), g.size(self, other),
                       "the indices of a gather have no dim that is larger "
                       "than the tensor's");
  return one(g.generate(g.sizes(index), elementOf(self), index,
                        {allDims(index)}, [&](Scalars &s, ValueRange v) {
                          SmallVector<Value> position(v.drop_front());
                          position[*dim] = inRange(g, s, v[0], limit);
                          return g.extract(s, self, position);
                        }));
}

/// self[i, :, j] with tensors of integers: the broadcast indices' dims stand
/// where they are if they are adjacent, else in front.
static Results index(ImportContext &c) {
  Value self = c.tensor("self");
  SmallVector<Value> indices = c.tensors("indices");
  GraphBuilder &g = c.graph;
  int64_t rank = rankOf(self);
  indices.resize(std::max<size_t>(indices.size(), rank));
  SmallVector<Value> given;
  SmallVector<Sizes> all;
  int64_t first = -1, last = -1;
  for (auto [dim, tensor] : llvm::enumerate(indices)) {
    if (!tensor)
      continue;
    if (static_cast<int64_t>(dim) >= rank)
      return c.error() << "expected at most " << rank << " indices";
    if (elementOf(tensor).isInteger(1))
      return c.error() << "an index of bools gives a size that depends on "
                          "data: not supported";
    if (failed(requireIntegers(c, "indices", tensor)))
      return failure();
    given.push_back(tensor);
    all.push_back(g.sizes(tensor));
    first = first < 0 ? dim : first;
    last = dim;
  }
  if (given.empty())
    return one(self);
  bool adjacent = last - first + 1 == static_cast<int64_t>(given.size());
  Sizes broadcast = g.broadcastSizes(all), sizes, selfSizes = g.sizes(self);
  for (int64_t dim = 0; dim < rank; ++dim)
    if (indices[dim])
      checkIndexed(g, broadcast, selfSizes[dim]);
  int64_t place = adjacent ? first : 0;
  for (int64_t dim = 0; dim < rank; ++dim)
    if (!indices[dim])
      sizes.push_back(selfSizes[dim]);
  sizes.insert(sizes.begin() + place, broadcast.begin(), broadcast.end());
  SmallVector<SmallVector<int64_t>> dims;
  for (Value tensor : given) {
    SmallVector<int64_t> own;
    int64_t skip = broadcast.size() - rankOf(tensor);
    for (int64_t i = 0; i < rankOf(tensor); ++i)
      own.push_back(place + skip + i);
    dims.push_back(own);
  }
  return one(g.generate(
      sizes, elementOf(self), given, dims, [&](Scalars &s, ValueRange v) {
        ValueRange values = v.take_front(given.size());
        ValueRange output = v.drop_front(given.size());
        SmallVector<Value> position;
        unsigned nextIndex = 0, nextDim = 0;
        for (int64_t dim = 0; dim < rank; ++dim) {
          if (indices[dim]) {
            position.push_back(
                inRange(g, s, values[nextIndex++], selfSizes[dim]));
            continue;
          }
          if (nextDim == place)
            nextDim += broadcast.size();
          position.push_back(output[nextDim++]);
        }
        return g.extract(s, self, position);
      }));
}

static Results roll(ImportContext &c) {
  Value self = c.tensor("self");
  GraphBuilder &g = c.graph;
  Sizes shifts = c.sizes("shifts"), sizes = g.sizes(self);
  SmallVector<int64_t> dims = c.integers("dims");
  Value source = self;
  if (dims.empty()) {
    if (shifts.size() != 1)
      return c.error() << "expected one shift, got " << shifts.size();
    source = g.flatten(self, 0, -1);
    dims = {0};
  }
  if (dims.size() != shifts.size())
    return c.error() << "expected a shift for each of the " << dims.size()
                     << " dims, got " << shifts.size();
  for (auto [dim, shift] : llvm::zip(dims, shifts)) {
    int64_t rank = rankOf(source);
    if (dim < -rank || dim >= rank)
      return c.error() << "'dims' must be in [" << -rank << ", " << rank - 1
                       << "], got " << dim;
    int64_t axis = GraphBuilder::wrapDim(dim, rank);
    OpFoldResult size = g.size(source, axis);
    if (isConstantIntValue(size, 0))
      continue;
    // out[i] = in[(i - shift) mod size] with a shift in [0, size).
    OpFoldResult amount =
        g.arith.mod(shift, g.arith.max(size, g.arith.constant(1)));
    Value from = source;
    source = g.generate(
        g.sizes(from), elementOf(from), [&](Scalars &s, ValueRange v) {
          SmallVector<Value> position(v);
          Type type = s.getBuilder().getIndexType();
          Value shifted = s.sub(v[axis], sizeIn(s, amount));
          position[axis] =
              s.select(s.compare(Compare::LT, shifted, s.integer(type, 0)),
                       s.add(shifted, sizeIn(s, size)), shifted);
          return g.extract(s, from, position);
        });
  }
  return one(g.reshape(source, sizes));
}

static Results flip(ImportContext &c) {
  Value self = c.tensor("self");
  if (c.integers("dims").empty())
    return one(self);
  FailureOr<SmallVector<int64_t>> dims = getDims(c, "dims", rankOf(self));
  if (failed(dims))
    return failure();
  GraphBuilder &g = c.graph;
  Sizes sizes = g.sizes(self);
  return one(g.generate(sizes, elementOf(self), [&](Scalars &s, ValueRange v) {
    SmallVector<Value> position(v);
    Type type = s.getBuilder().getIndexType();
    for (int64_t dim : *dims)
      position[dim] =
          s.sub(s.sub(sizeIn(s, sizes[dim]), s.integer(type, 1)), v[dim]);
    return g.extract(s, self, position);
  }));
}

//===----------------------------------------------------------------------===//
// Pads and triangles
//===----------------------------------------------------------------------===//

/// Pads the last dims by pairs (before, after), last dim first.
static Results padBy(ImportContext &c, const Number &value, StringRef mode) {
  Value self = c.tensor("self");
  Sizes pads = c.sizes("pad");
  GraphBuilder &g = c.graph;
  int64_t rank = rankOf(self);
  if (pads.size() % 2 != 0 || static_cast<int64_t>(pads.size()) > 2 * rank)
    return c.error() << "'pad' must have a pair for at most " << rank
                     << " dims, got " << pads.size() << " numbers";
  Sizes old = g.sizes(self), sizes = old;
  Sizes before(rank, g.arith.constant(0));
  for (size_t i = 0; i < pads.size() / 2; ++i) {
    int64_t dim = rank - 1 - i;
    before[dim] = pads[2 * i];
    for (OpFoldResult pad : {pads[2 * i], pads[2 * i + 1]})
      if (mode == "reflect")
        g.checkLessEqual(g.arith.add(pad, g.arith.constant(1)), old[dim],
                         "what is padded by reflection is smaller than its "
                         "dim");
      else if (mode == "replicate")
        g.checkLessEqual(g.arith.constant(1), old[dim],
                         "a dim that is padded with its edge has one");
    sizes[dim] =
        g.arith.add(old[dim], g.arith.add(pads[2 * i], pads[2 * i + 1]));
  }
  Type type = elementOf(self);
  TypedAttr fill = getNumberAttr(type, value);
  return one(g.generate(sizes, type, [&](Scalars &s, ValueRange v) {
    SmallVector<Value> position(v);
    OpBuilder &builder = s.getBuilder();
    Type indexType = builder.getIndexType();
    Value zero = s.integer(indexType, 0);
    Value inside = s.integer(builder.getI1Type(), 1);
    for (int64_t dim = 0; dim < rank; ++dim) {
      if (g.arith.equal(sizes[dim], old[dim]) &&
          isConstantIntValue(before[dim], 0))
        continue;
      Value at = s.sub(v[dim], sizeIn(s, before[dim]));
      Value last = s.sub(sizeIn(s, old[dim]), s.integer(indexType, 1));
      if (mode == "reflect") {
        // -1 is 1, and the same at the end.
        at = s.abs(at);
        at = s.sub(last, s.abs(s.sub(last, at)));
      }
      Value clamped = s.max(s.min(at, last), zero);
      // In an empty dim nothing is inside, 0 neither.
      if (mode == "constant")
        inside = s.mul(inside, s.mul(s.compare(Compare::EQ, at, clamped),
                                     s.compare(Compare::LE, at, last)));
      position[dim] = clamped;
    }
    Value element = g.extract(s, self, position);
    if (mode != "constant")
      return element;
    return s.select(inside, element,
                    arith::ConstantOp::create(builder, s.getLoc(), fill));
  }));
}

static Results constantPad(ImportContext &c) {
  return padBy(c, c.number("value"), "constant");
}

static Results pad(ImportContext &c) {
  StringRef mode = c.string("mode");
  if (mode != "constant" && mode != "reflect" && mode != "replicate")
    return c.error() << "'mode' must be constant, reflect or replicate, got '"
                     << mode << "'";
  return padBy(c, c.has("value") ? c.number("value") : Number(), mode);
}

/// Zero above (lower) or below the diagonal.
template <bool isLower> static Results triangle(ImportContext &c) {
  Value self = c.tensor("self");
  int64_t rank = rankOf(self);
  if (rank < 2)
    return c.error() << "expected at least 2 dims, got " << rank;
  OpFoldResult diagonal = c.size("diagonal");
  Type type = elementOf(self);
  TypedAttr zero = getNumberAttr(type, Number());
  return one(c.graph.generate(
      c.graph.sizes(self), type, self, {allDims(self)},
      [&](Scalars &s, ValueRange v) -> Value {
        Value edge = s.add(v[rank - 1], sizeIn(s, diagonal));
        Value keep =
            s.compare(isLower ? Compare::LE : Compare::GE, v[rank], edge);
        return s.select(
            keep, v[0],
            arith::ConstantOp::create(s.getBuilder(), s.getLoc(), zero));
      }));
}

void fp8c::import::addIndexingOps(OpTable &table) {
  auto add = [&](StringRef name, StringRef schema, Converter convert) {
    table.add("indexing", ("aten." + name).str(), schema, convert);
  };
  add("embedding.default",
      "Tensor weight, Tensor indices, SymInt padding_idx=-1, bool "
      "scale_grad_by_freq=False, bool sparse=False",
      embedding);
  add("index.Tensor", "Tensor self, Tensor?[] indices", index);
  add("index_select.default", "Tensor self, int dim, Tensor index",
      indexSelect);
  add("gather.default",
      "Tensor self, int dim, Tensor index, *, bool sparse_grad=False", gather);
  add("roll.default", "Tensor self, SymInt[1] shifts, int[1] dims=[]", roll);
  add("flip.default", "Tensor self, int[] dims", flip);
  add("constant_pad_nd.default", "Tensor self, SymInt[] pad, Scalar value=0",
      constantPad);
  add("pad.default",
      "Tensor self, SymInt[] pad, str mode=\"constant\", float? value=None",
      pad);
  add("tril.default", "Tensor self, SymInt diagonal=0", triangle<true>);
  add("triu.default", "Tensor self, SymInt diagonal=0", triangle<false>);
}
