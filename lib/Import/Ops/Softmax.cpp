//===- Softmax.cpp - Softmax and its kin -------------------------------===//
//
// Part of fp8c, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// In f32 with one rounding, as PyTorch's CPU kernels; the sum divides, it is
// not inverted first.
//
//===----------------------------------------------------------------------===//

#include "Common.h"

using namespace mlir;
using namespace fp8c;
using namespace fp8c::import;

namespace {
/// What the softmaxes start with, in the type of computation.
struct Shifted {
  /// max(x), exp(x - max(x)) and its sum.
  Value maximum, exponentials, total;
};
} // namespace

static Shifted shift(GraphBuilder &g, Value self, ArrayRef<int64_t> dims) {
  Type compute = getComputeType(elementOf(self));
  Shifted result;
  result.maximum = g.amax(self, dims, /*keepDim=*/true, compute);
  result.exponentials = g.elementwise(
      {self, result.maximum}, compute, [&](Scalars &s, ValueRange v) {
        return s.math<math::ExpOp>(s.sub(s.convert(v[0], compute), v[1]));
      });
  result.total = g.sum(result.exponentials, dims, /*keepDim=*/true);
  return result;
}

/// The input in the dtype that was asked for, and its dim.
static FailureOr<std::pair<Value, int64_t>> read(ImportContext &c) {
  Value self = c.tensor("self");
  FailureOr<int64_t> dim = getDim(c, "dim", rankOf(self));
  if (failed(dim) || failed(refuseF8(c, self)))
    return failure();
  for (const Parameter &parameter : c.getEntry().parameters)
    if (parameter.name == "dtype" && c.has("dtype"))
      self = c.graph.convert(self, c.dtype("dtype"));
  return std::make_pair(self, *dim);
}

static Results softmax(ImportContext &c) {
  auto request = read(c);
  if (failed(request))
    return failure();
  Shifted x = shift(c.graph, request->first, request->second);
  Type type = c.outputType();
  return one(c.graph.elementwise({x.exponentials, x.total}, type,
                                 [&](Scalars &s, ValueRange v) {
                                   return s.convert(s.div(v[0], v[1]), type);
                                 }));
}

static Results logSoftmax(ImportContext &c) {
  auto request = read(c);
  if (failed(request))
    return failure();
  Shifted x = shift(c.graph, request->first, request->second);
  Type type = c.outputType();
  return one(c.graph.elementwise(
      {request->first, x.maximum, x.total}, type,
      [&](Scalars &s, ValueRange v) {
        Value difference = s.sub(s.convert(v[0], v[1].getType()), v[1]);
        return s.convert(s.sub(difference, s.math<math::LogOp>(v[2])), type);
      }));
}

static Results logSumExp(ImportContext &c) {
  Value self = c.tensor("self");
  FailureOr<SmallVector<int64_t>> dims = getDims(c, "dim", rankOf(self));
  if (failed(dims) || failed(refuseF8(c, self)))
    return failure();
  Shifted x = shift(c.graph, self, *dims);
  Type type = c.outputType();
  Value result = c.graph.elementwise(
      {x.total, x.maximum}, type, [&](Scalars &s, ValueRange v) {
        return s.convert(s.add(s.math<math::LogOp>(v[0]), v[1]), type);
      });
  return one(c.boolean("keepdim") ? result : c.graph.squeeze(result, *dims));
}

void fp8c::import::addSoftmaxOps(OpTable &table) {
  StringRef withType = "Tensor self, int dim, ScalarType? dtype=None";
  StringRef inner = "Tensor self, int dim, bool half_to_float";
  table.add("softmax", "aten.softmax.int", withType, softmax);
  table.add("softmax", "aten._softmax.default", inner, softmax);
  table.add("softmax", "aten.log_softmax.int", withType, logSoftmax);
  table.add("softmax", "aten._log_softmax.default", inner, logSoftmax);
  table.add("softmax", "aten.logsumexp.default",
            "Tensor self, int[1] dim, bool keepdim=False", logSumExp);
}
