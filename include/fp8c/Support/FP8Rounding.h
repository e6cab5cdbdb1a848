//===- FP8Rounding.h - Exact f8 casts on the host ---------------*- C++ -*-===//
//
// Part of fp8c, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The numbers of docs/numerics.md sections 2 and 3 on the host, once: folders
// and the runtime call these, generated code gives the same bytes. No LLVM.
//
//===----------------------------------------------------------------------===//

#ifndef FP8C_SUPPORT_FP8ROUNDING_H
#define FP8C_SUPPORT_FP8ROUNDING_H

#include <cstdint>

namespace fp8c {

/// The 8-bit formats: values (E4M3FN, E5M2) and MX scales (E8M0FNU).
enum class F8Format : uint8_t { E4M3FN, E5M2, E8M0FNU };

/// What a value beyond the format's range becomes.
enum class F8Overflow : uint8_t {
  /// The largest finite value with the sign, for Inf too.
  Saturate,
  /// What IEEE rounding gives: NaN (E4M3FN, E8M0FNU) or Inf (E5M2).
  IEEE
};

/// The largest finite value of `format`: 448, 57344, 2^127.
float getF8Max(F8Format format);

/// Rounds `value` once, to nearest with ties to even. NaN gives 0x7F with the
/// sign (E8M0FNU: 0xFF); -0 keeps its sign; subnormals are exact.
///
/// E8M0FNU has powers of two alone: the sign is dropped, what is halfway goes
/// up, what is at most 2^-127 (0 too) becomes 2^-127.
uint8_t encodeF8(float value, F8Format format, F8Overflow overflow);

/// The same from a double, in one rounding.
uint8_t encodeF8(double value, F8Format format, F8Overflow overflow);

/// The value of a code, exactly. Every value of E4M3FN and E5M2 is exact in
/// bf16 and f16 too.
float decodeF8(uint8_t code, F8Format format);

/// Rounds to bf16, to nearest with ties to even; NaN stays NaN.
uint16_t encodeBF16(float value);

/// The value of a bf16's bits, exactly.
float decodeBF16(uint16_t bits);

/// Rounds to f16, to nearest with ties to even; NaN stays NaN, what is beyond
/// 65504 by half a unit or more becomes Inf.
uint16_t encodeF16(float value);

/// The value of an f16's bits, exactly.
float decodeF16(uint16_t bits);

/// How `fp8.compute_scale` turns an amax into a scale.
struct ScaleRule {
  /// The largest finite value of the format that is scaled into.
  float max = 448.0f;
  /// The scale is divided by 2^margin, -126 to 127.
  int32_t margin = 0;
  /// An amax below this counts as this.
  float eps = 0.0f;
  /// Clear the mantissa of the scale.
  bool pow2 = false;
};

/// A quantisation scale and its reciprocal.
struct ScalePair {
  float scale;
  float inverse;
};

/// The scale of one block with this `amax`, and its reciprocal: each division
/// is an f32 division rounded once. In this order: an amax below eps becomes
/// eps; 0, NaN or Inf gives scale 1; an infinite scale becomes FLT_MAX; the
/// mantissa is cleared if asked for.
ScalePair computeScale(float amax, const ScaleRule &rule);

} // namespace fp8c

#endif // FP8C_SUPPORT_FP8ROUNDING_H
