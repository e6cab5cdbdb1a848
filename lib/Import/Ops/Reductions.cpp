//===- Reductions.cpp - Sums, extrema, variances -----------------------===//
//
// Part of fp8c, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// PyTorch's CPU kernels add f16 and bf16 in f32 and round the result once.
//
//===----------------------------------------------------------------------===//

#include "Common.h"

using namespace mlir;
using namespace fp8c;
using namespace fp8c::import;

namespace {
/// What a reduction reads: its input, its dims and whether it keeps them.
struct Request {
  Value self;
  SmallVector<int64_t> dims;
  bool keepDim = false;
};
} // namespace

/// Reads `self`, and `dim` and `keepdim` where the schema has them; converts
/// the input to the `dtype` that was asked for.
static FailureOr<Request> read(ImportContext &c) {
  Request request;
  request.self = c.tensor("self");
  if (failed(refuseF8(c, request.self)))
    return failure();
  auto declared = [&](StringRef name) {
    return llvm::any_of(c.getEntry().parameters,
                        [&](const Parameter &p) { return p.name == name; });
  };
  if (declared("dtype") && c.has("dtype"))
    request.self = c.graph.convert(request.self, c.dtype("dtype"));
  request.dims = allDims(request.self);
  if (declared("dim")) {
    FailureOr<SmallVector<int64_t>> dims =
        getDims(c, "dim", rankOf(request.self));
    if (failed(dims))
      return failure();
    request.dims = *dims;
  }
  if (declared("keepdim"))
    request.keepDim = c.boolean("keepdim");
  return request;
}

/// The mean in the type of accumulation.
static Value meanOf(ImportContext &c, Value self, ArrayRef<int64_t> dims,
                    bool keepDim) {
  Value total = c.graph.sum(self, dims, keepDim);
  Value count = c.graph.elementCount(self, dims, elementOf(total));
  return c.graph.elementwise(
      total, elementOf(total),
      [&](Scalars &s, ValueRange v) { return s.div(v[0], count); });
}

static Results sum(ImportContext &c) {
  FailureOr<Request> r = read(c);
  if (failed(r))
    return failure();
  return one(asOutput(c, c.graph.sum(r->self, r->dims, r->keepDim)));
}

static Results mean(ImportContext &c) {
  FailureOr<Request> r = read(c);
  if (failed(r))
    return failure();
  Type type = c.outputType();
  if (!isa<FloatType>(type))
    return c.error() << "expected floats, got " << elementOf(r->self);
  Value total = c.graph.sum(r->self, r->dims, r->keepDim);
  Value count = c.graph.elementCount(r->self, r->dims, elementOf(total));
  return one(c.graph.elementwise(total, type, [&](Scalars &s, ValueRange v) {
    return s.convert(s.div(v[0], count), type);
  }));
}

/// The maximum (sign 1) or the minimum (sign -1), in a type that holds both.
static Value extremum(ImportContext &c, const Request &r, bool isMax) {
  Type type = elementOf(r.self), accumulator = getComputeType(type);
  if (isMax)
    return c.graph.convert(c.graph.amax(r.self, r.dims, r.keepDim, accumulator),
                           type);
  Builder &builder = c.graph.getBuilder();
  TypedAttr init;
  if (auto floating = dyn_cast<FloatType>(accumulator))
    init = builder.getFloatAttr(floating,
                                APFloat::getInf(floating.getFloatSemantics()));
  else if (accumulator.isInteger(1))
    init = builder.getBoolAttr(true);
  else
    init = builder.getIntegerAttr(
        accumulator,
        APInt::getSignedMaxValue(accumulator.getIntOrFloatBitWidth()));
  Value result = c.graph.reduce(
      r.self, r.dims, r.keepDim, init, nullptr,
      [](Scalars &s, ValueRange v) { return s.min(v[1], v[0]); });
  return c.graph.convert(result, type);
}

template <bool isMax> static Results extremumOp(ImportContext &c) {
  FailureOr<Request> r = read(c);
  if (failed(r))
    return failure();
  return one(extremum(c, *r, isMax));
}

/// The first index at which the extremum lies; a NaN is the extremum.
static Value indexOf(ImportContext &c, const Request &r, bool isMax) {
  Request kept = r;
  kept.keepDim = true;
  Value best = extremum(c, kept, isMax);
  int64_t dim = r.dims.empty() ? 0 : r.dims[0];
  Type i64 = c.graph.getBuilder().getI64Type();
  bool isScalar = rankOf(r.self) == 0;
  Value candidates = c.graph.elementwise(
      {r.self, best}, i64, [&](Scalars &s, ValueRange v) -> Value {
        OpBuilder &builder = s.getBuilder();
        Value index =
            isScalar
                ? s.integer(i64, 0)
                : s.convert(linalg::IndexOp::create(builder, s.getLoc(), dim),
                            i64);
        Value same = s.compare(Compare::EQ, v[0], v[1]);
        if (isa<FloatType>(v[0].getType()))
          same = arith::OrIOp::create(builder, s.getLoc(), same,
                                      s.compare(Compare::NE, v[0], v[0]));
        Value none = s.integer(i64, std::numeric_limits<int64_t>::max());
        return s.select(same, index, none);
      });
  Builder &builder = c.graph.getBuilder();
  return c.graph.reduce(
      candidates, r.dims, r.keepDim,
      builder.getI64IntegerAttr(std::numeric_limits<int64_t>::max()), nullptr,
      [](Scalars &s, ValueRange v) { return s.min(v[1], v[0]); });
}

/// Values and indices along one dim.
template <bool isMax> static Results extremumWithIndex(ImportContext &c) {
  FailureOr<int64_t> dim = getDim(c, "dim", rankOf(c.tensor("self")));
  if (failed(dim) || failed(refuseF8(c, c.tensor("self"))))
    return failure();
  Request r{c.tensor("self"), {*dim}, c.boolean("keepdim")};
  return many({extremum(c, r, isMax), indexOf(c, r, isMax)});
}

template <bool isMax> static Results argExtremum(ImportContext &c) {
  Value self = c.tensor("self");
  if (failed(refuseF8(c, self)))
    return failure();
  Request r{self, {0}, c.boolean("keepdim")};
  if (!c.has("dim")) {
    int64_t rank = rankOf(self);
    r.self = c.graph.flatten(self, 0, -1);
    Value index = indexOf(c, r, isMax);
    if (!r.keepDim)
      return one(index);
    return one(c.graph.reshape(index, Sizes(rank, c.graph.arith.constant(1))));
  }
  FailureOr<int64_t> dim = getDim(c, "dim", rankOf(self));
  if (failed(dim))
    return failure();
  r.dims = {*dim};
  return one(indexOf(c, r, isMax));
}

/// any (isAny) or all, of values read as bools.
template <bool isAny> static Results truth(ImportContext &c) {
  FailureOr<Request> r;
  if (llvm::any_of(c.getEntry().parameters, [](const Parameter &p) {
        return p.name == "dim" && p.type == Parameter::Type::Int;
      })) {
    FailureOr<int64_t> dim = getDim(c, "dim", rankOf(c.tensor("self")));
    if (failed(dim))
      return failure();
    r = Request{c.tensor("self"), {*dim}, c.boolean("keepdim")};
  } else {
    r = read(c);
  }
  if (failed(r))
    return failure();
  if (failed(refuseF8(c, r->self)))
    return failure();
  Value result = c.graph.reduce(
      r->self, r->dims, r->keepDim, c.graph.getBuilder().getBoolAttr(!isAny),
      nullptr, [](Scalars &s, ValueRange v) {
        return isAny ? s.max(v[1], v[0]) : s.min(v[1], v[0]);
      });
  return one(asOutput(c, result));
}

/// The product, rounded after each factor as PyTorch's bf16 kernel does.
static Results product(ImportContext &c) {
  FailureOr<Request> r = read(c);
  if (failed(r))
    return failure();
  Type type = c.outputType();
  Type accumulator = isa<FloatType>(type)
                         ? getComputeType(type)
                         : Type(c.graph.getBuilder().getI64Type());
  Number unit;
  unit.integer = 1;
  Value result = c.graph.reduce(
      r->self, r->dims, r->keepDim, getNumberAttr(accumulator, unit), nullptr,
      [&](Scalars &s, ValueRange v) {
        return s.convert(s.convert(s.mul(v[1], v[0]), type), accumulator);
      });
  return one(asOutput(c, result));
}

/// Variance or standard deviation: two passes in f32.
template <bool isDeviation> static Results variance(ImportContext &c) {
  FailureOr<Request> r = read(c);
  if (failed(r))
    return failure();
  double correction = 1;
  if (llvm::any_of(c.getEntry().parameters,
                   [](const Parameter &p) { return p.name == "unbiased"; }))
    correction = c.boolean("unbiased");
  else if (c.has("correction"))
    correction = c.number("correction").asDouble();
  Type type = c.outputType(), compute = getComputeType(type);
  Value average = meanOf(c, r->self, r->dims, /*keepDim=*/true);
  Value centered = c.graph.elementwise(
      {r->self, average}, compute, [&](Scalars &s, ValueRange v) {
        return s.sub(s.convert(v[0], compute), v[1]);
      });
  Value squares =
      c.graph.sum(centered, r->dims, r->keepDim,
                  [](Scalars &s, ValueRange v) { return s.mul(v[0], v[0]); });
  Value count = c.graph.elementCount(r->self, r->dims, compute);
  return one(c.graph.elementwise(squares, type, [&](Scalars &s, ValueRange v) {
    Value degrees = s.sub(count, s.number(compute, correction));
    degrees = s.max(degrees, s.number(compute, 0));
    Value result = s.div(v[0], degrees);
    if (isDeviation)
      result = s.math<math::SqrtOp>(result);
    return s.convert(result, type);
  }));
}

static Results vectorNorm(ImportContext &c) {
  FailureOr<Request> r = read(c);
  if (failed(r))
    return failure();
  double order = c.number("ord").asDouble();
  Type type = c.outputType();
  if (order == 2) {
    Value squares =
        c.graph.sum(r->self, r->dims, r->keepDim,
                    [](Scalars &s, ValueRange v) { return s.mul(v[0], v[0]); });
    return one(
        c.graph.elementwise(squares, type, [&](Scalars &s, ValueRange v) {
          return s.convert(s.math<math::SqrtOp>(v[0]), type);
        }));
  }
  if (order == 1)
    return one(asOutput(
        c, c.graph.sum(r->self, r->dims, r->keepDim,
                       [](Scalars &s, ValueRange v) { return s.abs(v[0]); })));
  if (order == std::numeric_limits<double>::infinity()) {
    r->self = c.graph.elementwise(
        r->self, elementOf(r->self),
        [](Scalars &s, ValueRange v) { return s.abs(v[0]); });
    return one(asOutput(c, extremum(c, *r, /*isMax=*/true)));
  }
  return c.error() << "'ord' must be 1, 2 or inf, got " << order;
}

void fp8c::import::addReductionOps(OpTable &table) {
  auto add = [&](StringRef name, StringRef schema, Converter convert) {
    table.add("reductions", ("aten." + name).str(), schema, convert);
  };
  add("sum.default", "Tensor self, *, ScalarType? dtype=None", sum);
  add("sum.dim_IntList",
      "Tensor self, int[1]? dim, bool keepdim=False, *, ScalarType? dtype=None",
      sum);
  add("mean.default", "Tensor self, *, ScalarType? dtype=None", mean);
  add("mean.dim",
      "Tensor self, int[1]? dim, bool keepdim=False, *, ScalarType? dtype=None",
      mean);
  StringRef dims = "Tensor self, int[1] dim=[], bool keepdim=False";
  add("amax.default", dims, extremumOp<true>);
  add("amin.default", dims, extremumOp<false>);
  add("max.default", "Tensor self", extremumOp<true>);
  add("min.default", "Tensor self", extremumOp<false>);
  StringRef oneDim = "Tensor self, int dim, bool keepdim=False";
  add("max.dim", oneDim, extremumWithIndex<true>);
  add("min.dim", oneDim, extremumWithIndex<false>);
  add("argmax.default", "Tensor self, int? dim=None, bool keepdim=False",
      argExtremum<true>);
  add("argmin.default", "Tensor self, int? dim=None, bool keepdim=False",
      argExtremum<false>);
  add("any.default", "Tensor self", truth<true>);
  add("all.default", "Tensor self", truth<false>);
  add("any.dim", oneDim, truth<true>);
  add("all.dim", oneDim, truth<false>);
  add("any.dims", "Tensor self, int[]? dim=None, bool keepdim=False",
      truth<true>);
  add("all.dims", "Tensor self, int[]? dim=None, bool keepdim=False",
      truth<false>);
  add("prod.default", "Tensor self, *, ScalarType? dtype=None", product);
  add("prod.dim_int",
      "Tensor self, int[1] dim, bool keepdim=False, *, ScalarType? dtype=None",
      product);
  StringRef corrected = "Tensor self, int[1]? dim=None, *, Scalar? "
                        "correction=None, bool keepdim=False";
  StringRef unbiased = "Tensor self, int[1]? dim, bool unbiased=True, bool "
                       "keepdim=False";
  add("var.correction", corrected, variance<false>);
  add("std.correction", corrected, variance<true>);
  add("var.dim", unbiased, variance<false>);
  add("std.dim", unbiased, variance<true>);
  add("linalg_vector_norm.default",
      "Tensor self, Scalar ord=2, int[1]? dim=None, bool keepdim=False, *, "
      "ScalarType? dtype=None",
      vectorNorm);
}
