//===- Scans.cpp - Cumulative sums and differences ------------------------===//
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

/// sum of x[j] for j <= i: a reduction over j with a select.
static Results cumulativeSum(ImportContext &c) {
  Value self = c.tensor("self");
  FailureOr<int64_t> dim = getDim(c, "dim", rankOf(self));
  if (failed(dim) || failed(refuseF8(c, self)))
    return failure();
  if (c.has("dtype"))
    self = c.graph.convert(self, c.dtype("dtype"));
  if (rankOf(self) == 0)
    return one(asOutput(c, self));
  GraphBuilder &g = c.graph;
  OpBuilder &builder = g.getBuilder();
  unsigned rank = rankOf(self);
  Type element = elementOf(self);
  Type accumulator = isa<FloatType>(element) ? getComputeType(element)
                                             : Type(builder.getI64Type());
  SmallVector<AffineExpr> from, to;
  for (unsigned i = 0; i < rank; ++i) {
    to.push_back(builder.getAffineDimExpr(i));
    from.push_back(builder.getAffineDimExpr(i == *dim ? rank : i));
  }
  AffineMap maps[] = {AffineMap::get(rank + 1, 0, from, builder.getContext()),
                      AffineMap::get(rank + 1, 0, to, builder.getContext())};
  SmallVector<utils::IteratorType> iterators(rank,
                                             utils::IteratorType::parallel);
  iterators.push_back(utils::IteratorType::reduction);
  Value init =
      g.full(g.sizes(self), cast<TypedAttr>(builder.getZeroAttr(accumulator)));
  auto generic = linalg::GenericOp::create(
      builder, g.getLoc(), TypeRange{init.getType()}, ValueRange{self},
      ValueRange{init}, maps, iterators,
      [&](OpBuilder &nested, Location loc, ValueRange v) {
        Scalars s(nested, loc);
        Value i = linalg::IndexOp::create(nested, loc, *dim);
        Value j = linalg::IndexOp::create(nested, loc, rank);
        Value term =
            s.select(s.compare(Compare::LE, j, i), s.convert(v[0], accumulator),
                     s.number(accumulator, 0));
        linalg::YieldOp::create(nested, loc, s.add(v[1], term));
      });
  g.setSizes(generic.getResult(0), g.sizes(self));
  return one(asOutput(c, generic.getResult(0)));
}

static Results difference(ImportContext &c) {
  Value self = c.tensor("self");
  FailureOr<int64_t> dim = getDim(c, "dim", rankOf(self));
  if (failed(dim) || failed(refuseF8(c, self)))
    return failure();
  int64_t count = c.integer("n");
  if (rankOf(self) == 0 || count < 0 || count > 64)
    return c.error() << "expected a tensor with a dim and 'n' from 0 to 64";
  GraphBuilder &g = c.graph;
  SmallVector<Value> joined;
  if (Value before = c.optionalTensor("prepend"))
    joined.push_back(before);
  joined.push_back(self);
  if (Value after = c.optionalTensor("append"))
    joined.push_back(after);
  Value result = g.concat(joined, *dim);
  Type type = c.outputType();
  for (int64_t i = 0; i < count; ++i) {
    SizeArith &arith = g.arith;
    OpFoldResult one = arith.constant(1);
    OpFoldResult count = arith.sub(g.size(result, *dim), one);
    Value high = g.slice(result, *dim, one, count);
    Value low = g.slice(result, *dim, arith.constant(0), count);
    result = elementwise(c, {Operand{high, {}}, Operand{low, {}}}, type, type,
                         [](Scalars &s, ValueRange v) -> Value {
                           if (!v[0].getType().isInteger(1))
                             return s.sub(v[0], v[1]);
                           return arith::XOrIOp::create(s.getBuilder(),
                                                        s.getLoc(), v[0], v[1]);
                         });
  }
  return one(result);
}

void fp8c::import::addScanOps(OpTable &table) {
  auto add = [&](StringRef name, StringRef schema, Converter convert) {
    table.add("scans", ("aten." + name).str(), schema, convert);
  };
  add("cumsum.default", "Tensor self, int dim, *, ScalarType? dtype=None",
      cumulativeSum);
  add("diff.default",
      "Tensor self, int n=1, int dim=-1, Tensor? prepend=None, Tensor? "
      "append=None",
      difference);
}
