//===- Products.cpp - Matrix products ----------------------------------===//
//
// Part of fp8c, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// All become fp8.matmul: f32 accumulation and one rounding, after the bias.
//
//===----------------------------------------------------------------------===//

#include "Products.h"
#include "Common.h"

using namespace mlir;
using namespace fp8c;
using namespace fp8c::import;

LogicalResult fp8c::import::requireProductTypes(ImportContext &c,
                                                ArrayRef<Value> operands) {
  if (failed(refuseF8(c, operands)))
    return failure();
  for (Value operand : operands)
    if (!isa<BFloat16Type, Float16Type, Float32Type>(elementOf(operand)))
      return c.error() << "expected f32, bf16 or f16 operands, got "
                       << elementOf(operand);
  return success();
}

Value fp8c::import::makeMatmul(GraphBuilder &g, Value lhs, Value rhs,
                               Value bias, Type element) {
  Sizes sizes = g.sizes(lhs), other = g.sizes(rhs);
  sizes.back() = other.back();
  Value result = fp8::MatmulOp::create(
      g.getBuilder(), g.getLoc(), g.getType(sizes, element), lhs, rhs, bias);
  g.setSizes(result, sizes);
  return result;
}

/// (..., K) x (K, N) (+ bias): the dims in front are merged to rows.
static Value productOfRows(GraphBuilder &g, Value lhs, Value rhs, Value bias,
                           Type element) {
  Sizes sizes = g.sizes(lhs);
  OpFoldResult rows = g.arith.product(ArrayRef(sizes).drop_back());
  Value flat = g.reshape(lhs, {rows, sizes.back()});
  Value result = makeMatmul(g, flat, rhs, bias, element);
  sizes.back() = g.size(rhs, 1);
  return g.reshape(result, sizes);
}

static Results linear(ImportContext &c) {
  Value input = c.tensor("input"), weight = c.tensor("weight");
  Value bias = c.optionalTensor("bias");
  GraphBuilder &g = c.graph;
  if (failed(requireProductTypes(c, {input, weight})))
    return failure();
  if (rankOf(weight) != 2 || rankOf(input) == 0 || (bias && rankOf(bias) != 1))
    return c.error() << "expected a weight with 2 dims and a bias with 1";
  return one(
      productOfRows(g, input, g.transpose(weight, 0, 1), bias, c.outputType()));
}

/// The matrix product of PyTorch, for every pair of ranks.
static FailureOr<Value> matmulOf(ImportContext &c, Value lhs, Value rhs,
                                 Type element) {
  GraphBuilder &g = c.graph;
  if (failed(requireProductTypes(c, {lhs, rhs})))
    return failure();
  int64_t left = rankOf(lhs), right = rankOf(rhs);
  if (left == 0 || right == 0)
    return c.error() << "expected tensors with dims";
  if (right == 1) {
    Value result = productOfRows(g, left == 1 ? g.unsqueeze(lhs, 0) : lhs,
                                 g.unsqueeze(rhs, 1), Value(), element);
    Sizes sizes = g.sizes(result);
    sizes.pop_back();
    if (left == 1)
      sizes.clear();
    return g.reshape(result, sizes);
  }
  if (right == 2)
    return productOfRows(g, lhs, rhs, Value(), element);
  if (left == 1)
    lhs = g.unsqueeze(lhs, 0);
  // Batches broadcast against each other and are merged.
  Sizes leftSizes = g.sizes(lhs), rightSizes = g.sizes(rhs);
  Sizes batch = g.broadcastSizes({Sizes(ArrayRef(leftSizes).drop_back(2)),
                                  Sizes(ArrayRef(rightSizes).drop_back(2))});
  OpFoldResult merged = g.arith.product(batch);
  auto expandBatch = [&](Value tensor) {
    Sizes sizes = g.sizes(tensor), wide = batch;
    wide.append(sizes.end() - 2, sizes.end());
    return g.reshape(g.expand(tensor, wide),
                     {merged, wide[batch.size()], wide.back()});
  };
  Value result =
      makeMatmul(g, expandBatch(lhs), expandBatch(rhs), Value(), element);
  Sizes sizes = batch;
  if (left != 1)
    sizes.push_back(leftSizes[leftSizes.size() - 2]);
  sizes.push_back(rightSizes.back());
  return g.reshape(result, sizes);
}

static Results matmul(ImportContext &c) {
  FailureOr<Value> result =
      matmulOf(c, c.tensor("self"), c.tensor("other"), c.outputType());
  if (failed(result))
    return failure();
  return one(*result);
}

/// Operands of the ranks that the operator asks for.
template <int64_t rank> static Results strictMatmul(ImportContext &c) {
  Value lhs = c.tensor("self"), rhs = c.tensor("mat2");
  if (rankOf(lhs) != rank || rankOf(rhs) != rank)
    return c.error() << "expected operands with " << rank << " dims, got "
                     << rankOf(lhs) << " and " << rankOf(rhs);
  if (failed(requireProductTypes(c, {lhs, rhs})))
    return failure();
  return one(makeMatmul(c.graph, lhs, rhs, Value(), c.outputType()));
}

/// beta * self + alpha * (a x b), rounded once.
static Results addProduct(ImportContext &c, StringRef left, StringRef right,
                          int64_t rank) {
  Value self = c.tensor("self"), lhs = c.tensor(left), rhs = c.tensor(right);
  if (rankOf(lhs) != rank || rankOf(rhs) != rank)
    return c.error() << "expected operands with " << rank << " dims, got "
                     << rankOf(lhs) << " and " << rankOf(rhs);
  if (failed(requireProductTypes(c, {lhs, rhs})) || failed(refuseF8(c, self)))
    return failure();
  Type type = c.outputType();
  Number beta = c.number("beta"), alpha = c.number("alpha");
  bool plain = !beta.size && !alpha.size && beta.asDouble() == 1 &&
               alpha.asDouble() == 1;
  GraphBuilder &g = c.graph;
  if (plain && rankOf(self) == 1 && elementOf(self) == type &&
      g.arith.equal(g.size(self, 0), g.size(rhs, -1)))
    return one(makeMatmul(g, lhs, rhs, self, type));
  Type f32 = g.getBuilder().getF32Type();
  Value product = makeMatmul(g, lhs, rhs, Value(), f32);
  return one(
      g.elementwise({self, product}, type, [&](Scalars &s, ValueRange v) {
        Value a = s.convert(v[0], f32), b = v[1];
        if (!plain) {
          a = s.mul(readNumber(c, s, beta, f32, f32), a);
          b = s.mul(readNumber(c, s, alpha, f32, f32), b);
        }
        // With beta 0 the addend does not count, not even its NaN.
        if (!beta.size && beta.asDouble() == 0)
          return s.convert(b, type);
        return s.convert(s.add(a, b), type);
      }));
}

static Results addmm(ImportContext &c) {
  return addProduct(c, "mat1", "mat2", 2);
}
static Results baddbmm(ImportContext &c) {
  return addProduct(c, "batch1", "batch2", 3);
}

static Results outer(ImportContext &c) {
  Value self = c.tensor("self"), other = c.tensor("vec2");
  if (rankOf(self) != 1 || rankOf(other) != 1)
    return c.error() << "expected two vectors";
  Type type = c.outputType();
  return one(elementwise(
      c, {Operand{c.graph.unsqueeze(self, 1), {}}, Operand{other, {}}}, type,
      type, [](Scalars &s, ValueRange v) { return s.mul(v[0], v[1]); }));
}

void fp8c::import::addProductOps(OpTable &table) {
  auto add = [&](StringRef name, StringRef schema, Converter convert) {
    table.add("products", ("aten." + name + ".default").str(), schema, convert);
  };
  add("linear", "Tensor input, Tensor weight, Tensor? bias=None", linear);
  add("matmul", "Tensor self, Tensor other", matmul);
  add("mm", "Tensor self, Tensor mat2", strictMatmul<2>);
  add("bmm", "Tensor self, Tensor mat2", strictMatmul<3>);
  add("addmm",
      "Tensor self, Tensor mat1, Tensor mat2, *, Scalar beta=1, Scalar alpha=1",
      addmm);
  add("baddbmm",
      "Tensor self, Tensor batch1, Tensor batch2, *, Scalar beta=1, Scalar "
      "alpha=1",
      baddbmm);
  add("outer", "Tensor self, Tensor vec2", outer);
  addEinsumOps(table);
}
