//===- Arithmetic.cpp - Elementwise operators of several tensors ----------===//
//
// Part of fp8c, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Where a number or a 0-d tensor is rounded is that of PyTorch's CPU kernels
// (measured): the right side of mul and div and the value of addcmul and
// addcdiv keep f32, all else is rounded to the promoted type first, also alpha.
//
//===----------------------------------------------------------------------===//

#include "Common.h"

using namespace mlir;
using namespace fp8c;
using namespace fp8c::import;

namespace {
/// The scalar function of a binary operator, in the type of computation.
using Function = Value (*)(Scalars &, Value, Value);
} // namespace

static Value mulOf(Scalars &s, Value a, Value b) { return s.mul(a, b); }
static Value maxOf(Scalars &s, Value a, Value b) { return s.max(a, b); }
static Value minOf(Scalars &s, Value a, Value b) { return s.min(a, b); }

template <Function function> static Results simple(ImportContext &c) {
  return binary(c, getOperand(c, "self"), getOperand(c, "other"), function);
}

static Results multiply(ImportContext &c) {
  return binary(c, getOperand(c, "self"), getOperand(c, "other"), mulOf,
                Reading::Exact);
}

/// left + alpha * right, which PyTorch's kernels compute as one operation with
/// one rounding; `subtracts` negates alpha.
static Results addScaled(ImportContext &c, bool subtracts, bool reversed) {
  Number alpha = c.number("alpha");
  bool isOne = !alpha.size && alpha.asDouble() == 1;
  Type type = c.outputType();
  return binary(c, getOperand(c, "self"), getOperand(c, "other"),
                [&](Scalars &s, Value a, Value b) {
                  if (reversed)
                    std::swap(a, b);
                  if (isOne)
                    return subtracts ? s.sub(a, b) : s.add(a, b);
                  Value factor = readNumber(c, s, alpha, type, b.getType());
                  return s.fma(b, subtracts ? s.neg(factor) : factor, a);
                });
}

static Results addTo(ImportContext &c) { return addScaled(c, false, false); }
static Results subtract(ImportContext &c) { return addScaled(c, true, false); }
static Results subtractFrom(ImportContext &c) {
  return addScaled(c, true, true);
}

//===----------------------------------------------------------------------===//
// Powers
//===----------------------------------------------------------------------===//

static Value powerOf(Scalars &s, Value base, Value exponent) {
  if (isa<FloatType>(base.getType()))
    return math::PowFOp::create(s.getBuilder(), s.getLoc(), base, exponent);
  return math::IPowIOp::create(s.getBuilder(), s.getLoc(), base, exponent);
}

/// PyTorch's kernel spells 2, 3, 1/2 and their reciprocals without pow; a cube
/// rounds after each product.
static Results powerByNumber(ImportContext &c) {
  Operand self = getOperand(c, "self"), other = getOperand(c, "exponent");
  double exponent = other.number.asDouble();
  Type type = c.outputType();
  return binary(c, self, other, [&](Scalars &s, Value x, Value y) -> Value {
    Value one = s.number(x.getType(), 1);
    auto rounded = [&](Value value) {
      return s.convert(s.convert(value, type), x.getType());
    };
    bool isFloat = isa<FloatType>(x.getType());
    if (exponent == 0)
      return one;
    if (exponent == 1)
      return x;
    if (exponent == 2)
      return s.mul(x, x);
    if (exponent == 3)
      return s.mul(rounded(s.mul(x, x)), x);
    // Of f16 it takes pow, whose root of -0 is 0 and of -Inf is Inf.
    if (type.isF16() && std::abs(exponent) == 0.5)
      return powerOf(s, x, y);
    if (isFloat && exponent == 0.5)
      return s.math<math::SqrtOp>(x);
    if (isFloat && exponent == -0.5)
      return s.div(one, s.math<math::SqrtOp>(x));
    if (isFloat && exponent == -1)
      return s.div(one, x);
    if (isFloat && exponent == -2)
      return s.div(one, s.mul(x, x));
    return powerOf(s, x, y);
  });
}

static Results power(ImportContext &c) {
  return binary(c, getOperand(c, "self"), getOperand(c, "exponent"), powerOf);
}

//===----------------------------------------------------------------------===//
// Clamps and three operands
//===----------------------------------------------------------------------===//

/// Bounds are rounded to the tensor's type, NaN propagates.
static Results clamp(ImportContext &c) {
  SmallVector<Operand> operands{getOperand(c, "self")};
  bool hasMin = c.has("min"), hasMax = c.has("max");
  if (hasMin)
    operands.push_back(getOperand(c, "min"));
  if (hasMax)
    operands.push_back(getOperand(c, "max"));
  if (failed(refuseF8(c, operands[0].tensor)))
    return failure();
  Type type = c.outputType();
  const bool isMinZero = hasMin && !operands[1].tensor &&
                         !operands[1].number.size &&
                         operands[1].number.asDouble() == 0;
  return one(
      elementwise(c, operands, type, type, [&](Scalars &s, ValueRange values) {
        Value result = values[0];
        if (hasMin)
          result = isMinZero ? s.notNegative(result) : s.max(result, values[1]);
        if (hasMax)
          result = s.min(result, values.back());
        return result;
      }));
}

/// self + value * tensor1 op tensor2, by `body` of self, the scaled tensor1 and
/// tensor2.
template <Value (*body)(Scalars &, Value, Value, Value)>
static Results addcFamily(ImportContext &c) {
  Operand self = getOperand(c, "self"), a = getOperand(c, "tensor1"),
          b = getOperand(c, "tensor2");
  Number value = c.number("value");
  if (failed(refuseF8(c, {self.tensor, a.tensor, b.tensor})))
    return failure();
  Type type = c.outputType();
  return one(
      elementwise(c, {self, a, b}, type, type, [&](Scalars &s, ValueRange v) {
        // Not rounded to the tensors' type.
        Type wide = v[0].getType();
        Value factor = readNumber(c, s, value, wide, wide);
        return body(s, v[0], s.mul(factor, v[1]), v[2]);
      }));
}

static Value addProduct(Scalars &s, Value self, Value a, Value b) {
  return s.fma(a, b, self);
}
static Value addQuotient(Scalars &s, Value self, Value a, Value b) {
  return s.add(self, s.div(a, b));
}

/// start + weight * (end - start), from the nearer end.
static Results lerp(ImportContext &c) {
  Operand start = getOperand(c, "self"), end = getOperand(c, "end"),
          weight = getOperand(c, "weight");
  if (failed(refuseF8(c, {start.tensor, end.tensor, weight.tensor})))
    return failure();
  Type type = c.outputType();
  return one(elementwise(c, {start, end, weight}, type, type,
                         [](Scalars &s, ValueRange v) {
                           Value difference = s.sub(v[1], v[0]);
                           Value low = s.fma(v[2], difference, v[0]);
                           Value rest =
                               s.sub(s.number(v[2].getType(), 1), v[2]);
                           Value high = s.fma(s.neg(difference), rest, v[1]);
                           Value near =
                               s.compare(Compare::LT, s.abs(v[2]),
                                         s.number(v[2].getType(), 0.5));
                           return s.select(near, low, high);
                         },
                         {Reading::Rounded, Reading::Rounded, Reading::Exact}));
}

//===----------------------------------------------------------------------===//
// Table
//===----------------------------------------------------------------------===//

void fp8c::import::addArithmeticOps(OpTable &table) {
  auto add = [&](StringRef base, StringRef overload, StringRef schema,
                 Converter convert) {
    addElementwise(table, base, overload, schema, convert);
  };
  StringRef tensor = "Tensor self, Tensor other";
  StringRef scalar = "Tensor self, Scalar other";
  add("add", "Tensor", "Tensor self, Tensor other, *, Scalar alpha=1", addTo);
  add("add", "Scalar", "Tensor self, Scalar other, Scalar alpha=1", addTo);
  add("sub", "Tensor", "Tensor self, Tensor other, *, Scalar alpha=1",
      subtract);
  add("sub", "Scalar", "Tensor self, Scalar other, Scalar alpha=1", subtract);
  add("rsub", "Tensor", "Tensor self, Tensor other, *, Scalar alpha=1",
      subtractFrom);
  add("rsub", "Scalar", "Tensor self, Scalar other, Scalar alpha=1",
      subtractFrom);
  add("mul", "Tensor", tensor, multiply);
  add("mul", "Scalar", scalar, multiply);
  add("pow", "Tensor_Scalar", "Tensor self, Scalar exponent", powerByNumber);
  add("pow", "Tensor_Tensor", "Tensor self, Tensor exponent", power);
  table.add("elementwise", "aten.pow.Scalar", "Scalar self, Tensor exponent",
            power);
  add("maximum", "default", tensor, simple<maxOf>);
  add("minimum", "default", tensor, simple<minOf>);
  table.add("elementwise", "aten.max.other", tensor, simple<maxOf>);
  table.add("elementwise", "aten.min.other", tensor, simple<minOf>);
  add("clamp", "default", "Tensor self, Scalar? min=None, Scalar? max=None",
      clamp);
  add("clamp", "Tensor", "Tensor self, Tensor? min=None, Tensor? max=None",
      clamp);
  // The parameter `max` of clamp_min is none: schemas name what they have.
  table.add("elementwise", "aten.clip.default",
            "Tensor self, Scalar? min=None, Scalar? max=None", clamp);
  add("clamp_min", "default", "Tensor self, Scalar min, *, Scalar? max=None",
      clamp);
  add("clamp_max", "default", "Tensor self, Scalar max, *, Scalar? min=None",
      clamp);
  add("clamp_min", "Tensor", "Tensor self, Tensor min, *, Tensor? max=None",
      clamp);
  add("clamp_max", "Tensor", "Tensor self, Tensor max, *, Tensor? min=None",
      clamp);
  add("addcmul", "default",
      "Tensor self, Tensor tensor1, Tensor tensor2, *, Scalar value=1",
      addcFamily<addProduct>);
  add("addcdiv", "default",
      "Tensor self, Tensor tensor1, Tensor tensor2, *, Scalar value=1",
      addcFamily<addQuotient>);
  add("lerp", "Scalar", "Tensor self, Tensor end, Scalar weight", lerp);
  add("lerp", "Tensor", "Tensor self, Tensor end, Tensor weight", lerp);
}
