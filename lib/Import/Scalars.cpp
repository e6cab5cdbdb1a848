//===- Scalars.cpp - Scalar arithmetic in bodies --------------------------===//
//
// Part of fp8c, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "fp8c/Import/Scalars.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"

#include <limits>

using namespace mlir;
using namespace fp8c;
using namespace fp8c::import;

Type fp8c::import::getComputeType(Type type) {
  if (isa<FloatType>(type) && type.getIntOrFloatBitWidth() < 32)
    return Float32Type::get(type.getContext());
  return type;
}

int64_t fp8c::import::truncate(double number) {
  constexpr double limit = 9223372036854775808.0; // 2^63
  if (number != number)
    return 0;
  if (number >= limit)
    return std::numeric_limits<int64_t>::max();
  return number <= -limit ? std::numeric_limits<int64_t>::min()
                          : static_cast<int64_t>(number);
}

Value Scalars::number(Type type, double value) {
  auto floatType = dyn_cast<FloatType>(type);
  if (!floatType)
    return integer(type, truncate(value));
  // PyTorch rounds a Python number to f32 first where the type is narrower.
  APFloat number(value);
  bool lossy;
  if (floatType.getWidth() < 32)
    number.convert(APFloat::IEEEsingle(), APFloat::rmNearestTiesToEven, &lossy);
  number.convert(floatType.getFloatSemantics(), APFloat::rmNearestTiesToEven,
                 &lossy);
  return arith::ConstantOp::create(builder, loc,
                                   builder.getFloatAttr(floatType, number));
}

Value Scalars::integer(Type type, int64_t value) {
  if (isa<FloatType>(type))
    return number(type, static_cast<double>(value));
  if (type.isInteger(1))
    value = value != 0;
  return arith::ConstantOp::create(builder, loc,
                                   builder.getIntegerAttr(type, value));
}

namespace {
/// Creates the float or the integer form of an operation.
template <typename FloatOp, typename IntOp>
Value create(OpBuilder &builder, Location loc, Value a, Value b) {
  if (isa<FloatType>(a.getType()))
    return FloatOp::create(builder, loc, a, b);
  return IntOp::create(builder, loc, a, b);
}
} // namespace

Value Scalars::add(Value a, Value b) {
  if (a.getType().isInteger(1))
    return arith::OrIOp::create(builder, loc, a, b);
  return create<arith::AddFOp, arith::AddIOp>(builder, loc, a, b);
}

Value Scalars::sub(Value a, Value b) {
  return create<arith::SubFOp, arith::SubIOp>(builder, loc, a, b);
}

Value Scalars::mul(Value a, Value b) {
  if (a.getType().isInteger(1))
    return arith::AndIOp::create(builder, loc, a, b);
  return create<arith::MulFOp, arith::MulIOp>(builder, loc, a, b);
}

Value Scalars::div(Value a, Value b) {
  return create<arith::DivFOp, arith::DivSIOp>(builder, loc, a, b);
}

Value Scalars::fma(Value a, Value b, Value c) {
  if (isa<FloatType>(a.getType()))
    return math::FmaOp::create(builder, loc, a, b, c);
  return add(mul(a, b), c);
}

Value Scalars::neg(Value a) {
  if (isa<FloatType>(a.getType()))
    return arith::NegFOp::create(builder, loc, a);
  return sub(integer(a.getType(), 0), a);
}

Value Scalars::abs(Value a) {
  if (isa<FloatType>(a.getType()))
    return math::AbsFOp::create(builder, loc, a);
  return math::AbsIOp::create(builder, loc, a);
}

Value Scalars::max(Value a, Value b) {
  if (a.getType().isInteger(1))
    return arith::OrIOp::create(builder, loc, a, b);
  return create<arith::MaximumFOp, arith::MaxSIOp>(builder, loc, a, b);
}

Value Scalars::min(Value a, Value b) {
  if (a.getType().isInteger(1))
    return arith::AndIOp::create(builder, loc, a, b);
  return create<arith::MinimumFOp, arith::MinSIOp>(builder, loc, a, b);
}

Value Scalars::notNegative(Value a) {
  Value zero = integer(a.getType(), 0);
  return select(compare(Compare::LT, a, zero), zero, a);
}

Value Scalars::compare(Compare predicate, Value a, Value b) {
  if (isa<FloatType>(a.getType())) {
    // Only `!=` holds for NaN.
    static constexpr arith::CmpFPredicate predicates[] = {
        arith::CmpFPredicate::OEQ, arith::CmpFPredicate::UNE,
        arith::CmpFPredicate::OLT, arith::CmpFPredicate::OLE,
        arith::CmpFPredicate::OGT, arith::CmpFPredicate::OGE};
    return arith::CmpFOp::create(builder, loc,
                                 predicates[static_cast<int>(predicate)], a, b);
  }
  bool isBool = a.getType().isInteger(1);
  static constexpr arith::CmpIPredicate predicates[] = {
      arith::CmpIPredicate::eq,  arith::CmpIPredicate::ne,
      arith::CmpIPredicate::slt, arith::CmpIPredicate::sle,
      arith::CmpIPredicate::sgt, arith::CmpIPredicate::sge};
  static constexpr arith::CmpIPredicate unsignedPredicates[] = {
      arith::CmpIPredicate::eq,  arith::CmpIPredicate::ne,
      arith::CmpIPredicate::ult, arith::CmpIPredicate::ule,
      arith::CmpIPredicate::ugt, arith::CmpIPredicate::uge};
  int index = static_cast<int>(predicate);
  return arith::CmpIOp::create(
      builder, loc, isBool ? unsignedPredicates[index] : predicates[index], a,
      b);
}

Value Scalars::select(Value condition, Value a, Value b) {
  return arith::SelectOp::create(builder, loc, condition, a, b);
}

Value Scalars::convert(Value value, Type type, bool isUnsigned,
                       std::optional<fp8::Overflow> overflow) {
  Type from = value.getType();
  if (from == type)
    return value;
  Type f32 = builder.getF32Type();
  if (isa<IndexType>(from))
    return convert(
        arith::IndexCastOp::create(builder, loc, builder.getI64Type(), value),
        type);
  if (isa<IndexType>(type))
    return arith::IndexCastOp::create(
        builder, loc, type, convert(value, builder.getI64Type(), isUnsigned));
  auto fromFloat = dyn_cast<FloatType>(from);
  auto toFloat = dyn_cast<FloatType>(type);
  if (fromFloat && toFloat) {
    unsigned fromWidth = fromFloat.getWidth(), toWidth = toFloat.getWidth();
    if (fp8::isF8Type(from) || fp8::isF8Type(type)) {
      if (fromWidth == 64 || (fromWidth == 8 && toWidth != 32 && toWidth != 16))
        return convert(convert(value, f32), type, false, overflow);
      fp8::Overflow policy = overflow.value_or(isa<Float8E5M2Type>(type)
                                                   ? fp8::Overflow::IEEE
                                                   : fp8::Overflow::Saturate);
      return fp8::CastOp::create(builder, loc, type, value, policy);
    }
    if (fromWidth == toWidth || (fromWidth == 64 && toWidth == 16))
      return convert(convert(value, f32), type);
    if (fromWidth < toWidth)
      return arith::ExtFOp::create(builder, loc, type, value);
    return arith::TruncFOp::create(builder, loc, type, value);
  }
  bool zeroExtend = isUnsigned || from.isInteger(1);
  if (toFloat) {
    if (toFloat.getWidth() < 32)
      return convert(convert(value, f32, isUnsigned), type, false, overflow);
    if (zeroExtend)
      return arith::UIToFPOp::create(builder, loc, type, value);
    return arith::SIToFPOp::create(builder, loc, type, value);
  }
  if (type.isInteger(1)) {
    if (fromFloat && fromFloat.getWidth() < 32)
      value = convert(value, f32);
    return compare(Compare::NE, value, number(value.getType(), 0));
  }
  if (fromFloat) {
    if (fromFloat.getWidth() < 32)
      value = convert(value, f32);
    // Unsigned bytes reach beyond what i8 holds.
    if (type.getIntOrFloatBitWidth() < 32)
      return convert(
          arith::FPToSIOp::create(builder, loc, builder.getI32Type(), value),
          type);
    return arith::FPToSIOp::create(builder, loc, type, value);
  }
  if (from.getIntOrFloatBitWidth() > type.getIntOrFloatBitWidth())
    return arith::TruncIOp::create(builder, loc, type, value);
  if (zeroExtend)
    return arith::ExtUIOp::create(builder, loc, type, value);
  return arith::ExtSIOp::create(builder, loc, type, value);
}
