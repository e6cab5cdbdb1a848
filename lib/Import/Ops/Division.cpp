//===- Division.cpp - Quotients and remainders ----------------------------===//
//
// Part of fp8c, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Integers: PyTorch refuses a division by 0; here its quotient is 0, and so is
// its remainder. No processor traps.
//
//===----------------------------------------------------------------------===//

#include "Common.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"

using namespace mlir;
using namespace fp8c;
using namespace fp8c::import;

//===----------------------------------------------------------------------===//
// Integers
//===----------------------------------------------------------------------===//

/// a / b without its fraction. The least number by -1 is itself.
static Value divideIntegers(Scalars &s, Value a, Value b) {
  Type type = a.getType();
  Value isZero = s.compare(Compare::EQ, b, s.integer(type, 0));
  Value isNegation = s.compare(Compare::EQ, b, s.integer(type, -1));
  Value special =
      arith::OrIOp::create(s.getBuilder(), s.getLoc(), isZero, isNegation);
  Value quotient = s.div(a, s.select(special, s.integer(type, 1), b));
  quotient = s.select(isNegation, s.neg(a), quotient);
  return s.select(isZero, s.integer(type, 0), quotient);
}

static Value integerRest(Scalars &s, Value a, Value b) {
  Value rest = s.sub(a, s.mul(divideIntegers(s, a, b), b));
  Value isZero = s.compare(Compare::EQ, b, s.integer(a.getType(), 0));
  return s.select(isZero, s.integer(a.getType(), 0), rest);
}

//===----------------------------------------------------------------------===//
// Remainders
//===----------------------------------------------------------------------===//

static Value fmodOf(Scalars &s, Value a, Value b) {
  if (isa<FloatType>(a.getType()))
    return arith::RemFOp::create(s.getBuilder(), s.getLoc(), a, b);
  return integerRest(s, a, b);
}

/// Whether the rest of a division that truncates is another than Python's: it
/// is not 0 and has another sign than the divisor.
static Value needsStep(Scalars &s, Value rest, Value b) {
  Value zero = s.number(b.getType(), 0);
  Value nonZero = s.compare(Compare::NE, rest, zero);
  Value signs = arith::XOrIOp::create(s.getBuilder(), s.getLoc(),
                                      s.compare(Compare::LT, rest, zero),
                                      s.compare(Compare::LT, b, zero));
  return arith::AndIOp::create(s.getBuilder(), s.getLoc(), nonZero, signs);
}

/// Python's `%`: the sign of the divisor.
static Value remainderOf(Scalars &s, Value a, Value b) {
  Value rest = fmodOf(s, a, b);
  return s.select(needsStep(s, rest, b), s.add(rest, b), rest);
}

//===----------------------------------------------------------------------===//
// Quotients
//===----------------------------------------------------------------------===//

/// Python's `//` of floats, from the remainder: 1 // 0.1 is 9, though 1 / 0.1
/// rounds to 10. PyTorch rounds every step to `type`.
static Value floorDivideFloats(Scalars &s, Value a, Value b, Type type) {
  auto rounded = [&](Value value) {
    return s.convert(s.convert(value, type), a.getType());
  };
  Value zero = s.number(a.getType(), 0), one = s.number(a.getType(), 1);
  Value plain = rounded(s.div(a, b));
  Value rest = rounded(fmodOf(s, a, b));
  Value whole = rounded(s.div(rounded(s.sub(a, rest)), b));
  whole = s.select(needsStep(s, rest, b), rounded(s.sub(whole, one)), whole);
  Value floor = s.math<math::FloorOp>(whole);
  Value above = s.compare(Compare::GT, rounded(s.sub(whole, floor)),
                          s.number(a.getType(), 0.5));
  floor = s.select(above, rounded(s.add(floor, one)), floor);
  Value signedZero =
      math::CopySignOp::create(s.getBuilder(), s.getLoc(), zero, plain);
  floor = s.select(s.compare(Compare::EQ, whole, zero), signedZero, floor);
  return s.select(s.compare(Compare::EQ, b, zero), plain, floor);
}

static Results floorDivide(ImportContext &c) {
  Type type = c.outputType();
  return binary(
      c, getOperand(c, "self"), getOperand(c, "other"),
      [&](Scalars &s, Value a, Value b) {
        if (isa<FloatType>(a.getType()))
          return floorDivideFloats(s, a, b, type);
        Value quotient = divideIntegers(s, a, b);
        Value step = needsStep(s, integerRest(s, a, b), b);
        Value one = s.integer(a.getType(), 1);
        return s.select(step, s.sub(quotient, one), quotient);
      },
      Reading::Exact);
}

/// Of floats the rounded quotient without its fraction.
static Results truncDivide(ImportContext &c) {
  Type type = c.outputType();
  return binary(
      c, getOperand(c, "self"), getOperand(c, "other"),
      [&](Scalars &s, Value a, Value b) {
        if (!isa<FloatType>(a.getType()))
          return divideIntegers(s, a, b);
        Value quotient = s.convert(s.div(a, b), type);
        return s.math<math::TruncOp>(s.convert(quotient, a.getType()));
      },
      Reading::Exact);
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
  if (mode == "floor")
    return floorDivide(c);
  if (mode == "trunc")
    return truncDivide(c);
  return c.error() << "'rounding_mode' must be floor or trunc, got '" << mode
                   << "'";
}

static Results fmod(ImportContext &c) {
  return binary(c, getOperand(c, "self"), getOperand(c, "other"), fmodOf);
}
static Results remainder(ImportContext &c) {
  return binary(c, getOperand(c, "self"), getOperand(c, "other"), remainderOf);
}

//===----------------------------------------------------------------------===//
// Table
//===----------------------------------------------------------------------===//

void fp8c::import::addDivisionOps(OpTable &table) {
  auto add = [&](StringRef base, StringRef overload, StringRef schema,
                 Converter convert) {
    addElementwise(table, base, overload, schema, convert);
  };
  StringRef tensor = "Tensor self, Tensor other";
  StringRef scalar = "Tensor self, Scalar other";
  add("div", "Tensor", tensor, divide);
  add("div", "Scalar", scalar, divide);
  add("div", "Tensor_mode", "Tensor self, Tensor other, *, str? rounding_mode",
      divideMode);
  add("div", "Scalar_mode", "Tensor self, Scalar other, *, str? rounding_mode",
      divideMode);
  add("true_divide", "Tensor", tensor, divide);
  add("floor_divide", "default", tensor, floorDivide);
  add("fmod", "Tensor", tensor, fmod);
  add("fmod", "Scalar", scalar, fmod);
  add("remainder", "Tensor", tensor, remainder);
  add("remainder", "Scalar", scalar, remainder);
}
