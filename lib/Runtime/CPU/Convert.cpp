//===- Convert.cpp - Elements to and from f32 -----------------------------===//
//
// Part of fp8c, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Plain loops over bits that the compiler vectorises; Clones.h picks the
// instruction set.
//
//===----------------------------------------------------------------------===//

#include "Convert.h"

#include "Clones.h"

#include <cstring>

using namespace fp8c::rt;

namespace {
inline float fromBits(uint32_t bits) {
  float f;
  std::memcpy(&f, &bits, 4);
  return f;
}
inline uint32_t toBits(float f) {
  uint32_t bits;
  std::memcpy(&bits, &f, 4);
  return bits;
}

/// E4M3FN: 4 exponent bits with bias 7, all ones is NaN, no Inf.
inline float decodeE4M3(uint8_t x) {
  uint32_t magnitude = x & 0x7F, sign = uint32_t(x & 0x80) << 24;
  // The bits at the place of f32's with the wrong bias; a small integer times
  // 2^-9 is a subnormal.
  uint32_t normal = (magnitude << 20) + ((127 - 7) << 23);
  uint32_t subnormal = toBits(float(int32_t(magnitude)) * 0x1p-9f);
  uint32_t bits = magnitude < 8 ? subnormal : normal;
  bits = magnitude == 0x7F ? 0x7FC00000 : bits;
  return fromBits(bits | sign);
}

/// E5M2: the upper byte of an f16.
inline float decodeE5M2(uint8_t x) {
  uint32_t magnitude = x & 0x7F, sign = uint32_t(x & 0x80) << 24;
  uint32_t normal = (magnitude << 21) + ((127 - 15) << 23);
  uint32_t subnormal = toBits(float(int32_t(magnitude)) * 0x1p-16f);
  uint32_t bits = magnitude < 4 ? subnormal : normal;
  bits = magnitude == 0x7C ? 0x7F800000 : bits;
  bits = magnitude > 0x7C ? 0x7FC00000 : bits;
  return fromBits(bits | sign);
}

inline float decodeBF16(uint16_t x) { return fromBits(uint32_t(x) << 16); }

inline float decodeF16(uint16_t x) {
  uint32_t magnitude = x & 0x7FFF, sign = uint32_t(x & 0x8000) << 16;
  uint32_t normal = (magnitude << 13) + ((127 - 15) << 23);
  uint32_t subnormal = toBits(float(int32_t(magnitude)) * 0x1p-24f);
  uint32_t bits = magnitude < 0x400 ? subnormal : normal;
  bits = magnitude >= 0x7C00 ? 0x7F800000 | (magnitude & 0x3FF) << 13 : bits;
  return fromBits(bits | sign);
}

inline uint16_t encodeBF16(float f) {
  uint32_t bits = toBits(f);
  uint32_t rounded = (bits + 0x7FFF + ((bits >> 16) & 1)) >> 16;
  bool nan = (bits & 0x7FFFFFFF) > 0x7F800000;
  return uint16_t(nan ? (bits >> 16) | 0x40 : rounded);
}

/// Rounds to a small format with `M` mantissa bits and exponent bias `Bias`,
/// its bits without the sign; what overflows comes out above the largest
/// finite.
template <int M, int Bias> inline uint32_t roundSmall(uint32_t magnitude) {
  constexpr int shift = 23 - M;
  // Normal results: drop bits by integer arithmetic, ties to even.
  uint32_t rebiased = magnitude - (uint32_t(127 - Bias) << 23);
  uint32_t normal =
      (rebiased + ((1u << (shift - 1)) - 1) + ((rebiased >> shift) & 1)) >>
      shift;
  // Subnormal results: an addition whose unit in the last place is the smallest
  // subnormal rounds in hardware.
  constexpr uint32_t magic = uint32_t(127 - Bias + 1 + shift) << 23;
  uint32_t subnormal = toBits(fromBits(magnitude) + fromBits(magic)) - magic;
  bool small = magnitude < (uint32_t(127 - Bias + 1) << 23);
  return small ? subnormal : normal;
}

inline uint16_t encodeF16(float f) {
  uint32_t bits = toBits(f), magnitude = bits & 0x7FFFFFFF;
  uint32_t out = roundSmall<10, 15>(magnitude);
  out = magnitude >= 0x477FF000 ? 0x7C00 : out;
  out = magnitude > 0x7F800000 ? 0x7E00 : out;
  return uint16_t(out | (bits >> 16 & 0x8000));
}

/// `past`: what values above the largest become.
inline uint8_t encodeE4M3(float f, uint32_t past) {
  uint32_t bits = toBits(f), magnitude = bits & 0x7FFFFFFF;
  uint32_t out = roundSmall<3, 7>(magnitude);
  // Above 464, the tie between 448 and what would be 480.
  out = magnitude > 0x43E80000 ? past : out;
  out = magnitude > 0x7F800000 ? 0x7F : out;
  return uint8_t(out | (bits >> 24 & 0x80));
}

inline uint8_t encodeE5M2(float f, uint32_t past) {
  uint32_t bits = toBits(f), magnitude = bits & 0x7FFFFFFF;
  uint32_t out = roundSmall<2, 15>(magnitude);
  // From 61440 on, the tie between 57344 and what would be 65536.
  out = magnitude >= 0x47700000 ? past : out;
  out = magnitude > 0x7F800000 ? 0x7F : out;
  return uint8_t(out | (bits >> 24 & 0x80));
}

#define FP8C_DECODER(NAME, TYPE, ONE)                                          \
  FP8C_CLONES void NAME(const TYPE *from, int64_t n, float *to) {              \
    for (int64_t i = 0; i < n; ++i)                                            \
      to[i] = ONE(from[i]);                                                    \
  }
FP8C_DECODER(decodeRowE4M3, uint8_t, decodeE4M3)
FP8C_DECODER(decodeRowE5M2, uint8_t, decodeE5M2)
FP8C_DECODER(decodeRowBF16, uint16_t, decodeBF16)
FP8C_DECODER(decodeRowF16, uint16_t, decodeF16)
#undef FP8C_DECODER

#define FP8C_ENCODER(NAME, TYPE, ONE)                                          \
  FP8C_CLONES void NAME(const float *from, int64_t n, TYPE *to) {              \
    for (int64_t i = 0; i < n; ++i)                                            \
      to[i] = ONE;                                                             \
  }
FP8C_ENCODER(encodeRowBF16, uint16_t, encodeBF16(from[i]))
FP8C_ENCODER(encodeRowF16, uint16_t, encodeF16(from[i]))
FP8C_ENCODER(encodeRowE4M3Saturate, uint8_t, encodeE4M3(from[i], 0x7E))
FP8C_ENCODER(encodeRowE4M3, uint8_t, encodeE4M3(from[i], 0x7F))
FP8C_ENCODER(encodeRowE5M2Saturate, uint8_t, encodeE5M2(from[i], 0x7B))
FP8C_ENCODER(encodeRowE5M2, uint8_t, encodeE5M2(from[i], 0x7C))
#undef FP8C_ENCODER

FP8C_CLONES void roundRowBF16(float *data, int64_t n) {
  for (int64_t i = 0; i < n; ++i)
    data[i] = decodeBF16(encodeBF16(data[i]));
}
FP8C_CLONES void roundRowF16(float *data, int64_t n) {
  for (int64_t i = 0; i < n; ++i)
    data[i] = decodeF16(encodeF16(data[i]));
}
FP8C_CLONES void multiplyRow(float *data, int64_t n, float factor) {
  for (int64_t i = 0; i < n; ++i)
    data[i] *= factor;
}

template <typename T> const T *at(const void *from, int64_t index) {
  return static_cast<const T *>(from) + index;
}
} // namespace

float fp8c::rt::decodeOne(DType dtype, const void *from, int64_t index) {
  switch (dtype) {
  case DType::F32:
    return *at<float>(from, index);
  case DType::BF16:
    return decodeBF16(*at<uint16_t>(from, index));
  case DType::F16:
    return decodeF16(*at<uint16_t>(from, index));
  case DType::E4M3FN:
    return decodeE4M3(*at<uint8_t>(from, index));
  case DType::E5M2:
    return decodeE5M2(*at<uint8_t>(from, index));
  default:
    return 0;
  }
}

void fp8c::rt::decode(DType dtype, const void *from, int64_t stride, int64_t n,
                      float *to) {
  if (stride != 1) {
    for (int64_t i = 0; i < n; ++i)
      to[i] = decodeOne(dtype, from, i * stride);
    return;
  }
  switch (dtype) {
  case DType::F32:
    if (n)
      std::memcpy(to, from, size_t(n) * 4);
    break;
  case DType::BF16:
    return decodeRowBF16(at<uint16_t>(from, 0), n, to);
  case DType::F16:
    return decodeRowF16(at<uint16_t>(from, 0), n, to);
  case DType::E4M3FN:
    return decodeRowE4M3(at<uint8_t>(from, 0), n, to);
  case DType::E5M2:
    return decodeRowE5M2(at<uint8_t>(from, 0), n, to);
  default:
    break;
  }
}

static void encodeDense(DType dtype, const float *from, int64_t n, void *to,
                        bool saturate) {
  auto *bytes = static_cast<uint8_t *>(to);
  auto *halves = static_cast<uint16_t *>(to);
  switch (dtype) {
  case DType::F32:
    if (n)
      std::memcpy(to, from, size_t(n) * 4);
    break;
  case DType::BF16:
    return encodeRowBF16(from, n, halves);
  case DType::F16:
    return encodeRowF16(from, n, halves);
  case DType::E4M3FN:
    return saturate ? encodeRowE4M3Saturate(from, n, bytes)
                    : encodeRowE4M3(from, n, bytes);
  case DType::E5M2:
    return saturate ? encodeRowE5M2Saturate(from, n, bytes)
                    : encodeRowE5M2(from, n, bytes);
  default:
    break;
  }
}

void fp8c::rt::encode(DType dtype, const float *from, int64_t n, void *to,
                      int64_t stride, bool saturate) {
  if (stride == 1)
    return encodeDense(dtype, from, n, to, saturate);
  int64_t size = elementSize(dtype);
  for (int64_t i = 0; i < n; ++i)
    encodeDense(dtype, from + i, 1, static_cast<char *>(to) + i * stride * size,
                saturate);
}

void fp8c::rt::roundTo(DType dtype, float *data, int64_t n) {
  if (dtype == DType::BF16)
    roundRowBF16(data, n);
  else if (dtype == DType::F16)
    roundRowF16(data, n);
}

void fp8c::rt::multiplyBy(float *data, int64_t n, float factor) {
  multiplyRow(data, n, factor);
}
