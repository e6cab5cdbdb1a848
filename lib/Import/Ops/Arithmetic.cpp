//===- Arithmetic.cpp - Elementwise operators of several tensors ----------===//
//
// Part of fp8c, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Where a number or a 0-d tensor is rounded is that of PyTorch's CPU kernels
// (measured): the right side of mul and div keeps f32, all else is rounded to
// the promoted type first, also alpha.
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

static Value addOf(Scalars &s, Value a, Value b) { return s.add(a, b); }
static Value subOf(Scalars &s, Value a, Value b) { return s.sub(a, b); }
static Value mulOf(Scalars &s, Value a, Value b) { return s.mul(a, b); }
static Value maxOf(Scalars &s, Value a, Value b) { return s.max(a, b); }
static Value minOf(Scalars &s, Value a, Value b) { return s.min(a, b); }

/// Computes `function(self, other)` in the output's type.
static Results binary(ImportContext &c, Operand a, Operand b,
                      llvm::function_ref<Value(Scalars &, Value, Value)> body,
                      Reading right = Reading::Rounded) {
  if (failed(refuseF8(c, {a.tensor, b.tensor})))
    return failure();
  Type type = c.outputType();
  return one(elementwise(c, {a, b}, type, type,
                         [&](Scalars &s, ValueRange values) {
                           return body(s, values[0], values[1]);
                         },
                         {Reading::Rounded, right}));
}

template <Function function> static Results simple(ImportContext &c) {
  return binary(c, getOperand(c, "self"), getOperand(c, "other"), function);
}

static Results multiply(ImportContext &c) {
  return binary(c, getOperand(c, "self"), getOperand(c, "other"), mulOf,
                Reading::Exact);
}

/// self + alpha * other, one rounding.
template <Function function> static Results withAlpha(ImportContext &c) {
  Number alpha = c.number("alpha");
  bool isOne = alpha.isFloat ? alpha.floating == 1 : alpha.integer == 1;
  Type type = c.outputType();
  return binary(c, getOperand(c, "self"), getOperand(c, "other"),
                [&](Scalars &s, Value a, Value b) {
                  if (!isOne || (alpha.size && isa<Value>(alpha.size)))
                    b = s.mul(readNumber(c, s, alpha, type, b.getType()), b);
                  return function(s, a, b);
                });
}

/// alpha is on the left operand: other - alpha * self.
static Results reverseSubtract(ImportContext &c) {
  Number alpha = c.number("alpha");
  Type type = c.outputType();
  bool isOne = alpha.asDouble() == 1;
  return binary(c, getOperand(c, "self"), getOperand(c, "other"),
                [&](Scalars &s, Value a, Value b) {
                  if (!isOne)
                    a = s.mul(readNumber(c, s, alpha, type, a.getType()), a);
                  return s.sub(b, a);
                });
}

//===----------------------------------------------------------------------===//
// Division
//===----------------------------------------------------------------------===//

/// Python's `//` in the type of computation.
static Value floorDivide(Scalars &s, Value a, Value b) {
  if (isa<FloatType>(a.getType()))
    return s.math<math::FloorOp>(s.div(a, b));
  return arith::FloorDivSIOp::create(s.getBuilder(), s.getLoc(), a, b);
}

static Value truncDivide(Scalars &s, Value a, Value b) {
  Value quotient = s.div(a, b);
  return isa<FloatType>(a.getType()) ? s.math<math::TruncOp>(quotient)
                                     : quotient;
}

static Value fmodOf(Scalars &s, Value a, Value b) {
  if (isa<FloatType>(a.getType()))
    return arith::RemFOp::create(s.getBuilder(), s.getLoc(), a, b);
  return arith::RemSIOp::create(s.getBuilder(), s.getLoc(), a, b);
}

/// Python's `%`: the sign of the divisor.
static Value remainderOf(Scalars &s, Value a, Value b) {
  Value rest = fmodOf(s, a, b);
  Value zero = s.number(a.getType(), 0);
  Value nonZero = s.compare(Compare::NE, rest, zero);
  Value signs = arith::XOrIOp::create(s.getBuilder(), s.getLoc(),
                                      s.compare(Compare::LT, rest, zero),
                                      s.compare(Compare::LT, b, zero));
  Value adjust =
      arith::AndIOp::create(s.getBuilder(), s.getLoc(), nonZero, signs);
  return s.select(adjust, s.add(rest, b), rest);
}

/// True division.
static Results divide(ImportContext &c) {
  Operand a = getOperand(c, "self"), b = getOperand(c, "other");
  bool byNumber = !b.tensor && c.options.divideByReciprocal;
  return binary(
      c, a, b,
      [&](Scalars &s, Value x, Value y) -> Value {
        if (!byNumber)
          return s.div(x, y);
        return s.mul(x, s.div(s.number(y.getType(), 1), y));
      },
      Reading::Exact);
}

static Results divideMode(ImportContext &c) {
  if (!c.has("rounding_mode"))
    return divide(c);
  StringRef mode = c.string("rounding_mode");
  if (mode != "floor" && mode != "trunc")
    return c.error() << "'rounding_mode' must be floor or trunc, got '" << mode
                     << "'";
  return binary(c, getOperand(c, "self"), getOperand(c, "other"),
                mode == "floor" ? floorDivide : truncDivide, Reading::Exact);
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
  return one(
      elementwise(c, operands, type, type, [&](Scalars &s, ValueRange values) {
        Value result = values[0];
        if (hasMin)
          result = s.max(result, values[1]);
        if (hasMax)
          result = s.min(result, values.back());
        return result;
      }));
}

/// self + value * (tensor1 op tensor2).
template <Function function> static Results addcFamily(ImportContext &c) {
  Operand self = getOperand(c, "self"), a = getOperand(c, "tensor1"),
          b = getOperand(c, "tensor2");
  Number value = c.number("value");
  if (failed(refuseF8(c, {self.tensor, a.tensor, b.tensor})))
    return failure();
  Type type = c.outputType();
  return one(
      elementwise(c, {self, a, b}, type, type, [&](Scalars &s, ValueRange v) {
        Value factor = readNumber(c, s, value, type, v[0].getType());
        return s.add(v[0], function(s, s.mul(factor, v[1]), v[2]));
      }));
}

static Value divOf(Scalars &s, Value a, Value b) { return s.div(a, b); }

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
                           Value low = s.add(v[0], s.mul(v[2], difference));
                           Value rest =
                               s.sub(s.number(v[2].getType(), 1), v[2]);
                           Value high = s.sub(v[1], s.mul(difference, rest));
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
    table.add("elementwise", ("aten." + base + "." + overload).str(), schema,
              convert);
    table.add("elementwise", ("aten." + base + "_." + overload).str(), schema,
              convert, OpKind::InPlace);
  };
  StringRef tensor = "Tensor self, Tensor other";
  StringRef scalar = "Tensor self, Scalar other";
  add("add", "Tensor", "Tensor self, Tensor other, *, Scalar alpha=1",
      withAlpha<addOf>);
  add("add", "Scalar", "Tensor self, Scalar other, Scalar alpha=1",
      withAlpha<addOf>);
  add("sub", "Tensor", "Tensor self, Tensor other, *, Scalar alpha=1",
      withAlpha<subOf>);
  add("sub", "Scalar", "Tensor self, Scalar other, Scalar alpha=1",
      withAlpha<subOf>);
  add("rsub", "Tensor", "Tensor self, Tensor other, *, Scalar alpha=1",
      reverseSubtract);
  add("rsub", "Scalar", "Tensor self, Scalar other, Scalar alpha=1",
      reverseSubtract);
  add("mul", "Tensor", tensor, multiply);
  add("mul", "Scalar", scalar, multiply);
  add("div", "Tensor", tensor, divide);
  add("div", "Scalar", scalar, divide);
  add("div", "Tensor_mode", "Tensor self, Tensor other, *, str? rounding_mode",
      divideMode);
  add("div", "Scalar_mode", "Tensor self, Scalar other, *, str? rounding_mode",
      divideMode);
  add("true_divide", "Tensor", tensor, divide);
  add("floor_divide", "default", tensor, simple<floorDivide>);
  add("fmod", "Tensor", tensor, simple<fmodOf>);
  add("fmod", "Scalar", scalar, simple<fmodOf>);
  add("remainder", "Tensor", tensor, simple<remainderOf>);
  add("remainder", "Scalar", scalar, simple<remainderOf>);
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
      addcFamily<mulOf>);
  add("addcdiv", "default",
      "Tensor self, Tensor tensor1, Tensor tensor2, *, Scalar value=1",
      addcFamily<divOf>);
  add("lerp", "Scalar", "Tensor self, Tensor end, Scalar weight", lerp);
  add("lerp", "Tensor", "Tensor self, Tensor end, Tensor weight", lerp);
}
