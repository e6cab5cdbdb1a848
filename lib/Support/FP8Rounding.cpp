//===- FP8Rounding.cpp - Exact f8 casts on the host -----------------------===//
//
// Part of fp8c, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Integer arithmetic on the bits, so that neither the compiler's flags nor the
// processor's flush-to-zero mode can change a result.
//
//===----------------------------------------------------------------------===//

#include "fp8c/Support/FP8Rounding.h"

#include <cfloat>
#include <cmath>
#include <cstring>

using namespace fp8c;

namespace {

/// The layout of a binary format: `mantissa` bits, exponent `bias`.
struct Layout {
  int mantissa;
  int bias;
  /// The code of the largest finite value.
  uint32_t maxFinite;
  /// The code (without sign) of what IEEE rounding gives beyond that.
  uint32_t overflowed;
  /// A NaN's code, without sign.
  uint32_t nan;
  /// Where the sign is.
  int signBit;
};

constexpr Layout kE4M3FN = {3, 7, 0x7E, 0x7F, 0x7F, 7};
constexpr Layout kE5M2 = {2, 15, 0x7B, 0x7C, 0x7F, 7};
constexpr Layout kBF16 = {7, 127, 0x7F7F, 0x7F80, 0x7FC0, 15};
constexpr Layout kF16 = {10, 15, 0x7BFF, 0x7C00, 0x7E00, 15};

template <typename To, typename From> To bitCast(From from) {
  static_assert(sizeof(To) == sizeof(From), "a bit cast keeps the size");
  To to;
  std::memcpy(&to, &from, sizeof(to));
  return to;
}

/// `value` shifted right, rounded to nearest with ties to even. 1 <= shift.
template <typename UInt> UInt shiftRoundEven(UInt value, int shift) {
  UInt kept = value >> shift;
  UInt rest = value & ((UInt(1) << shift) - 1);
  UInt half = UInt(1) << (shift - 1);
  return kept + (rest > half || (rest == half && (kept & 1)));
}

/// Rounds the IEEE value with these bits (`mantissa` bits, exponent `bias`).
template <typename UInt>
uint32_t roundTo(UInt bits, int mantissa, int bias, const Layout &to,
                 F8Overflow overflow) {
  constexpr int kWidth = sizeof(UInt) * 8;
  uint32_t sign = uint32_t(bits >> (kWidth - 1)) << to.signBit;
  UInt magnitude = bits & ~(UInt(1) << (kWidth - 1));
  UInt infinity = ~UInt(0) << mantissa;
  infinity &= ~(UInt(1) << (kWidth - 1));
  if (magnitude > infinity)
    return sign | to.nan;

  int exponent = int(magnitude >> mantissa);
  int shift = mantissa - to.mantissa;
  UInt rounded;
  if (exponent - bias >= 1 - to.bias) {
    // Normal in the result, or beyond its range: exponent and mantissa are
    // rounded as one number, and a carry goes where it belongs.
    rounded = shift ? shiftRoundEven(magnitude, shift) : magnitude;
    rounded -= UInt(bias - to.bias) << to.mantissa;
  } else {
    UInt significand = magnitude & ((UInt(1) << mantissa) - 1);
    if (exponent > 0)
      significand |= UInt(1) << mantissa;
    else
      exponent = 1;
    shift += (1 - to.bias) - (exponent - bias);
    // With a shift beyond this the value is less than half the least one.
    rounded = shift > mantissa + 1 ? 0 : shiftRoundEven(significand, shift);
  }
  if (rounded > to.maxFinite)
    return sign |
           (overflow == F8Overflow::Saturate ? to.maxFinite : to.overflowed);
  return sign | uint32_t(rounded);
}

uint32_t roundFloat(float value, const Layout &to, F8Overflow overflow) {
  return roundTo(bitCast<uint32_t>(value), 23, 127, to, overflow);
}

/// The value of a code of `from`, whose specials are IEEE's but for E4M3FN.
float decode(uint32_t bits, const Layout &from) {
  uint32_t sign = (bits >> from.signBit) << 31;
  uint32_t magnitude = bits & ((1u << from.signBit) - 1);
  uint32_t result;
  if (magnitude > from.maxFinite) {
    bool isInfinity =
        magnitude == from.overflowed && from.overflowed != from.nan;
    result = isInfinity ? 0x7F800000u : 0x7FC00000u;
  } else if (magnitude >> from.mantissa) {
    result =
        (magnitude << (23 - from.mantissa)) + (uint32_t(127 - from.bias) << 23);
  } else if (from.bias == 127) {
    // The exponents are f32's: so are the subnormals.
    result = magnitude << (23 - from.mantissa);
  } else {
    // A subnormal that is normal in f32: an exact product.
    return std::copysign(
        std::ldexp(float(magnitude), 1 - from.bias - from.mantissa),
        bitCast<float>(sign | 0x3F800000u));
  }
  return bitCast<float>(sign | result);
}

/// The exponent of the nearest power of two, as E8M0FNU has it.
template <typename UInt>
uint8_t roundToPowerOfTwo(UInt bits, int mantissa, int bias,
                          F8Overflow overflow) {
  UInt magnitude = bits & ~(UInt(1) << (sizeof(UInt) * 8 - 1));
  UInt infinity = ~UInt(0) << mantissa;
  infinity &= ~(UInt(1) << (sizeof(UInt) * 8 - 1));
  if (magnitude > infinity)
    return 0xFF;
  // Halfway between 2^e and 2^(e+1) is a significand of 1.5: its first bit.
  int exponent = int(magnitude >> mantissa) - bias +
                 int((magnitude >> (mantissa - 1)) & 1) + 127;
  if (exponent >= 0xFF)
    return overflow == F8Overflow::Saturate ? 0xFE : 0xFF;
  return exponent < 0 ? 0 : uint8_t(exponent);
}

} // namespace

float fp8c::getF8Max(F8Format format) {
  switch (format) {
  case F8Format::E4M3FN:
    return 448.0f;
  case F8Format::E5M2:
    return 57344.0f;
  case F8Format::E8M0FNU:
    break;
  }
  return 0x1p127f;
}

uint8_t fp8c::encodeF8(float value, F8Format format, F8Overflow overflow) {
  if (format != F8Format::E8M0FNU)
    return uint8_t(roundFloat(
        value, format == F8Format::E4M3FN ? kE4M3FN : kE5M2, overflow));
  // An f32 subnormal, 2^-127 at most 1.5 of it away, has no significand bit of
  // its own: as a double it is normal.
  return encodeF8(double(value), format, overflow);
}

uint8_t fp8c::encodeF8(double value, F8Format format, F8Overflow overflow) {
  uint64_t bits = bitCast<uint64_t>(value);
  if (format == F8Format::E8M0FNU)
    return roundToPowerOfTwo(bits, 52, 1023, overflow);
  return uint8_t(roundTo(
      bits, 52, 1023, format == F8Format::E4M3FN ? kE4M3FN : kE5M2, overflow));
}

float fp8c::decodeF8(uint8_t code, F8Format format) {
  switch (format) {
  case F8Format::E4M3FN:
    return decode(code, kE4M3FN);
  case F8Format::E5M2:
    return decode(code, kE5M2);
  case F8Format::E8M0FNU:
    break;
  }
  if (code == 0xFF)
    return bitCast<float>(0x7FC00000u);
  // 2^-127 is an f32 subnormal.
  return bitCast<float>(code ? uint32_t(code) << 23 : 0x00400000u);
}

uint16_t fp8c::encodeBF16(float value) {
  return uint16_t(roundFloat(value, kBF16, F8Overflow::IEEE));
}

float fp8c::decodeBF16(uint16_t bits) {
  return bitCast<float>(uint32_t(bits) << 16);
}

uint16_t fp8c::encodeF16(float value) {
  return uint16_t(roundFloat(value, kF16, F8Overflow::IEEE));
}

float fp8c::decodeF16(uint16_t bits) { return decode(bits, kF16); }

ScalePair fp8c::computeScale(float amax, const ScaleRule &rule) {
  if (amax < rule.eps)
    amax = rule.eps;
  float scale = 1.0f;
  if (amax != 0.0f && std::isfinite(amax)) {
    scale = rule.max / amax;
    scale = scale / std::ldexp(1.0f, rule.margin);
    if (std::isinf(scale))
      scale = FLT_MAX;
    if (rule.pow2)
      scale = bitCast<float>(bitCast<uint32_t>(scale) & 0xFF800000u);
  }
  return {scale, 1.0f / scale};
}
