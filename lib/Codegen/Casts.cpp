//===- Casts.cpp - Casts as integer arithmetic ----------------------------===//
//
// Part of fp8c, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "fp8c/Codegen/Casts.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/BuiltinTypes.h"

using namespace mlir;
using namespace fp8c;
using namespace fp8c::codegen;

Type codegen::withElement(Type type, Type element) {
  if (auto shaped = dyn_cast<ShapedType>(type))
    return shaped.clone(element);
  return element;
}

namespace {

/// Emits arithmetic on values of one shape.
class Emitter {
public:
  Emitter(OpBuilder &builder, Location loc, Type shape)
      : builder(builder), loc(loc), shape(shape),
        i32(withElement(shape, builder.getI32Type())) {}

  Value integer(int64_t value) { return constant(i32, value); }
  Value real(float value) {
    Type type = withElement(shape, builder.getF32Type());
    TypedAttr attr = builder.getF32FloatAttr(value);
    if (auto shaped = dyn_cast<ShapedType>(type))
      attr = DenseElementsAttr::get(shaped, Attribute(attr));
    return arith::ConstantOp::create(builder, loc, attr);
  }
  Value constant(Type type, int64_t value) {
    TypedAttr attr = builder.getIntegerAttr(getElementTypeOrSelf(type), value);
    if (auto shaped = dyn_cast<ShapedType>(type))
      attr = DenseElementsAttr::get(shaped, Attribute(attr));
    return arith::ConstantOp::create(builder, loc, attr);
  }
  template <typename OpTy> Value binary(Value left, Value right) {
    return OpTy::create(builder, loc, left, right);
  }
  template <typename OpTy> Value convert(Value value, Type element) {
    return OpTy::create(builder, loc, withElement(shape, element), value);
  }
  Value shiftLeft(Value value, int64_t by) {
    return binary<arith::ShLIOp>(value, integer(by));
  }
  Value shiftRight(Value value, int64_t by) {
    return binary<arith::ShRUIOp>(value, integer(by));
  }
  Value compare(arith::CmpIPredicate predicate, Value left, int64_t right) {
    return arith::CmpIOp::create(builder, loc, predicate, left, integer(right));
  }
  Value select(Value condition, Value yes, Value no) {
    return arith::SelectOp::create(builder, loc, condition, yes, no);
  }
  /// `value` plus what makes a shift right by `bits` round to nearest even.
  Value roundForShift(Value value, int64_t bits) {
    Value odd = binary<arith::AndIOp>(shiftRight(value, bits), integer(1));
    Value bias = binary<arith::AddIOp>(odd, integer((1 << (bits - 1)) - 1));
    return binary<arith::AddIOp>(value, bias);
  }

private:
  OpBuilder &builder;
  Location loc;
  Type shape;
  Type i32;
};

/// What the conversions need to know of an f8 format.
struct Format {
  /// Bits of the fraction, and the bias of the exponent.
  int64_t fraction, bias;
  /// The codes of the largest finite value, of what is beyond, and of NaN.
  int64_t largest, beyond, nan;
};

} // namespace

static Format getFormat(Type type) {
  if (isa<Float8E5M2Type>(type))
    return {2, 15, 0x7b, 0x7c, 0x7f};
  return {3, 7, 0x7e, 0x7f, 0x7f};
}

/// The exponent of the nearest power of two, of what is halfway the upper one.
static Value emitF32ToE8M0(OpBuilder &builder, Location loc, Value input,
                           fp8::Overflow overflow) {
  Emitter emit(builder, loc, input.getType());
  Value bits = emit.convert<arith::BitcastOp>(input, builder.getI32Type());
  Value magnitude = emit.binary<arith::AndIOp>(bits, emit.integer(0x7fffffff));
  // 2^-127 is the subnormal 0x400000, and 0x600000 is halfway to 2^-126.
  Value code = emit.shiftRight(
      emit.binary<arith::AddIOp>(magnitude, emit.integer(0x400000)), 23);
  Value isSmall = emit.compare(arith::CmpIPredicate::ult, magnitude, 0x600000);
  code = emit.select(isSmall, emit.integer(0), code);
  int64_t limit = overflow == fp8::Overflow::Saturate ? 0xfe : 0xff;
  code = emit.binary<arith::MinUIOp>(code, emit.integer(limit));
  Value isNaN = emit.compare(arith::CmpIPredicate::ugt, magnitude, 0x7f800000);
  code = emit.select(isNaN, emit.integer(0xff), code);
  return emit.convert<arith::TruncIOp>(code, builder.getI8Type());
}

static Value emitE8M0ToF32(OpBuilder &builder, Location loc, Value input) {
  Emitter emit(builder, loc, input.getType());
  Value code = emit.convert<arith::ExtUIOp>(input, builder.getI32Type());
  Value isLeast = emit.compare(arith::CmpIPredicate::eq, code, 0);
  Value isNaN = emit.compare(arith::CmpIPredicate::eq, code, 0xff);
  Value bits =
      emit.select(isLeast, emit.integer(0x400000), emit.shiftLeft(code, 23));
  bits = emit.select(isNaN, emit.integer(0x7fc00000), bits);
  return emit.convert<arith::BitcastOp>(bits, builder.getF32Type());
}

Value codegen::emitF32ToF8(OpBuilder &builder, Location loc, Value input,
                           Type type, fp8::Overflow overflow) {
  if (isa<Float8E8M0FNUType>(type))
    return emitF32ToE8M0(builder, loc, input, overflow);
  Emitter emit(builder, loc, input.getType());
  Format format = getFormat(type);
  int64_t shift = 23 - format.fraction;
  Value bits = emit.convert<arith::BitcastOp>(input, builder.getI32Type());
  Value magnitude = emit.binary<arith::AndIOp>(bits, emit.integer(0x7fffffff));
  Value sign =
      emit.binary<arith::AndIOp>(emit.shiftRight(bits, 24), emit.integer(0x80));
  // Normal results: round the fraction, then shift the exponent's bias.
  Value normal = emit.shiftRight(emit.roundForShift(magnitude, shift), shift);
  normal = emit.binary<arith::SubIOp>(
      normal, emit.integer((127 - format.bias) << format.fraction));
  // Subnormal results: an addition whose last place is the smallest f8 rounds.
  float magic = std::ldexp(1.0f, 24 - format.bias - format.fraction);
  Value small = emit.binary<arith::AddFOp>(
      emit.convert<arith::BitcastOp>(magnitude, builder.getF32Type()),
      emit.real(magic));
  small = emit.binary<arith::SubIOp>(
      emit.convert<arith::BitcastOp>(small, builder.getI32Type()),
      emit.integer(llvm::bit_cast<int32_t>(magic)));
  Value isSmall = emit.compare(arith::CmpIPredicate::ult, magnitude,
                               int64_t(128 - format.bias) << 23);
  Value code = emit.select(isSmall, small, normal);
  int64_t limit =
      overflow == fp8::Overflow::Saturate ? format.largest : format.beyond;
  code = emit.binary<arith::MinUIOp>(code, emit.integer(limit));
  Value isNaN = emit.compare(arith::CmpIPredicate::ugt, magnitude, 0x7f800000);
  code = emit.select(isNaN, emit.integer(format.nan), code);
  code = emit.binary<arith::OrIOp>(code, sign);
  return emit.convert<arith::TruncIOp>(code, builder.getI8Type());
}

Value codegen::emitF8ToF32(OpBuilder &builder, Location loc, Value input,
                           Type type) {
  if (isa<Float8E8M0FNUType>(type))
    return emitE8M0ToF32(builder, loc, input);
  Emitter emit(builder, loc, input.getType());
  if (isa<Float8E5M2Type>(type)) {
    // The upper byte of an f16.
    Value bits = emit.convert<arith::ExtUIOp>(input, builder.getI16Type());
    bits = emit.binary<arith::ShLIOp>(bits, emit.constant(bits.getType(), 8));
    bits = emit.convert<arith::BitcastOp>(bits, builder.getF16Type());
    return emit.convert<arith::ExtFOp>(bits, builder.getF32Type());
  }
  Format format = getFormat(type);
  Value code = emit.convert<arith::ExtUIOp>(input, builder.getI32Type());
  Value magnitude = emit.binary<arith::AndIOp>(code, emit.integer(0x7f));
  Value sign =
      emit.shiftLeft(emit.binary<arith::AndIOp>(code, emit.integer(0x80)), 24);
  Value normal = emit.shiftLeft(magnitude, 23 - format.fraction);
  normal = emit.binary<arith::AddIOp>(normal,
                                      emit.integer((127 - format.bias) << 23));
  Value small = emit.binary<arith::MulFOp>(
      emit.convert<arith::UIToFPOp>(magnitude, builder.getF32Type()),
      emit.real(std::ldexp(1.0f, 1 - format.bias - format.fraction)));
  small = emit.convert<arith::BitcastOp>(small, builder.getI32Type());
  Value isSmall =
      emit.compare(arith::CmpIPredicate::ult, magnitude, 1 << format.fraction);
  Value bits = emit.select(isSmall, small, normal);
  Value isNaN = emit.compare(arith::CmpIPredicate::eq, magnitude, format.nan);
  bits = emit.select(isNaN, emit.integer(0x7fc00000), bits);
  bits = emit.binary<arith::OrIOp>(bits, sign);
  return emit.convert<arith::BitcastOp>(bits, builder.getF32Type());
}

Value codegen::emitF32ToBF16(OpBuilder &builder, Location loc, Value input) {
  Emitter emit(builder, loc, input.getType());
  Value bits = emit.convert<arith::BitcastOp>(input, builder.getI32Type());
  Value rounded = emit.shiftRight(emit.roundForShift(bits, 16), 16);
  Value quiet =
      emit.binary<arith::OrIOp>(emit.shiftRight(bits, 16), emit.integer(0x40));
  Value isNaN = arith::CmpFOp::create(builder, loc, arith::CmpFPredicate::UNO,
                                      input, input);
  rounded = emit.select(isNaN, quiet, rounded);
  return emit.convert<arith::TruncIOp>(rounded, builder.getI16Type());
}

Value codegen::emitBF16ToF32(OpBuilder &builder, Location loc, Value input) {
  Emitter emit(builder, loc, input.getType());
  Value bits = emit.convert<arith::ExtUIOp>(input, builder.getI32Type());
  return emit.convert<arith::BitcastOp>(emit.shiftLeft(bits, 16),
                                        builder.getF32Type());
}
