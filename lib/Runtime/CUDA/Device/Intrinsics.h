//===- Intrinsics.h - Threads, memory and conversions on a GPU --*- C++ -*-===//
//
// Part of fp8c, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef FP8C_LIB_RUNTIME_CUDA_DEVICE_INTRINSICS_H
#define FP8C_LIB_RUNTIME_CUDA_DEVICE_INTRINSICS_H

#include "Kernels.h"

#define FP8C_KERNEL extern "C" __attribute__((nvptx_kernel))
#define FP8C_SHARED __attribute__((address_space(3)))
/// For what holds registers of a kernel in arrays or by reference.
#define FP8C_INLINE inline __attribute__((always_inline))

namespace fp8c::rt::cuda {

inline uint32_t threadIndex() { return __nvvm_read_ptx_sreg_tid_x(); }
inline uint32_t blockIndex() { return __nvvm_read_ptx_sreg_ctaid_x(); }
inline uint32_t blockIndexY() { return __nvvm_read_ptx_sreg_ctaid_y(); }
inline uint32_t blockCount() { return __nvvm_read_ptx_sreg_nctaid_x(); }
inline void barrier() { __syncthreads(); }
/// In a kernel that is launched before the one before it has ended: the next
/// one may be launched too, and from here on all before is done. From sm_90 on.
inline void waitForGrids() {
  asm volatile("griddepcontrol.launch_dependents;\n\t"
               "griddepcontrol.wait;" ::
                   : "memory");
}
/// In nanoseconds.
inline uint64_t globalTime() {
  uint64_t now;
  asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(now));
  return now;
}

inline float asFloat(uint32_t bits) { return __builtin_bit_cast(float, bits); }
inline uint32_t asBits(float value) {
  return __builtin_bit_cast(uint32_t, value);
}

/// Values of the other threads of the warp.
inline float shuffleXor(float value, int mask) {
  return asFloat(
      __nvvm_shfl_sync_bfly_i32(0xFFFFFFFF, asBits(value), mask, 0x1F));
}
inline float shuffle(float value, int lane) {
  return asFloat(
      __nvvm_shfl_sync_idx_i32(0xFFFFFFFF, asBits(value), lane, 0x1F));
}

inline float decodeF16(uint16_t bits) {
  float value;
  asm("cvt.f32.f16 %0, %1;" : "=f"(value) : "h"(bits));
  return value;
}
inline float decodeBF16(uint16_t bits) { return asFloat(uint32_t(bits) << 16); }

inline uint16_t encodeF16(float value) {
  uint16_t bits;
  asm("cvt.rn.f16.f32 %0, %1;" : "=h"(bits) : "f"(value));
  return bits;
}
inline uint16_t encodeBF16(float value) {
  uint16_t bits;
  asm("cvt.rn.bf16.f32 %0, %1;" : "=h"(bits) : "f"(value));
  return bits;
}

/// Two values, the first in the lower half.
inline uint32_t packBF16(float low, float high) {
  uint32_t bits;
  asm("cvt.rn.bf16x2.f32 %0, %1, %2;" : "=r"(bits) : "f"(high), "f"(low));
  return bits;
}
inline uint32_t packF16(float low, float high) {
  uint32_t bits;
  asm("cvt.rn.f16x2.f32 %0, %1, %2;" : "=r"(bits) : "f"(high), "f"(low));
  return bits;
}

/// Two f8 codes as f16: exact.
template <Type T> uint32_t decodeF8Pair(uint16_t codes) {
  uint32_t pair;
  if constexpr (T == Type::E4M3FN)
    asm("cvt.rn.f16x2.e4m3x2 %0, %1;" : "=r"(pair) : "h"(codes));
  else
    asm("cvt.rn.f16x2.e5m2x2 %0, %1;" : "=r"(pair) : "h"(codes));
  return pair;
}
inline float decodeE4M3(uint8_t bits) {
  return decodeF16(uint16_t(decodeF8Pair<Type::E4M3FN>(bits)));
}
/// E5M2 is the upper half of f16.
inline float decodeE5M2(uint8_t bits) { return decodeF16(uint16_t(bits) << 8); }
/// A power of two; 255 is NaN, 0 is 2^-127.
inline float decodeE8M0(uint8_t bits) {
  return asFloat(bits == 255 ? 0x7FC00000u
                 : bits == 0 ? 0x00400000u
                             : uint32_t(bits) << 23);
}

/// One rounding; past the largest value that one when `saturate`, else NaN.
inline uint8_t encodeE4M3(float value, bool saturate) {
  uint16_t pair;
  asm("cvt.rn.satfinite.e4m3x2.f32 %0, %1, %2;"
      : "=h"(pair)
      : "f"(0.0f), "f"(value));
  uint8_t bits = uint8_t(pair);
  // 464 lies between 448 and what would be 480: a tie that goes to 448.
  if (!saturate && !(__builtin_fabsf(value) <= 464.0f))
    bits |= 0x7F;
  return bits;
}
/// The same with Inf.
inline uint8_t encodeE5M2(float value, bool saturate) {
  uint16_t pair;
  asm("cvt.rn.satfinite.e5m2x2.f32 %0, %1, %2;"
      : "=h"(pair)
      : "f"(0.0f), "f"(value));
  uint8_t bits = uint8_t(pair);
  // 61440 lies between 57344 and 65536: a tie that goes up.
  if (!saturate && __builtin_fabsf(value) >= 61440.0f)
    bits = uint8_t((bits & 0x80) | 0x7C);
  return bits;
}

/// An element as f32: exact.
inline float load(Type type, const void *data, int64_t index) {
  switch (type) {
  case Type::F16:
    return decodeF16(static_cast<const uint16_t *>(data)[index]);
  case Type::BF16:
    return decodeBF16(static_cast<const uint16_t *>(data)[index]);
  case Type::F32:
    return static_cast<const float *>(data)[index];
  case Type::F64:
    return float(static_cast<const double *>(data)[index]);
  case Type::E4M3FN:
    return decodeE4M3(static_cast<const uint8_t *>(data)[index]);
  case Type::E5M2:
    return decodeE5M2(static_cast<const uint8_t *>(data)[index]);
  case Type::E8M0FNU:
    return decodeE8M0(static_cast<const uint8_t *>(data)[index]);
  case Type::Bool:
    return static_cast<const uint8_t *>(data)[index] ? 1.0f : 0.0f;
  }
  return 0;
}

/// Out of line, for kernels that load little in this way.
__attribute__((noinline)) inline float loadAny(Type type, const void *data,
                                               int64_t index) {
  return load(type, data, index);
}

/// One rounding to nearest, ties to even.
inline void store(Type type, void *data, int64_t index, float value,
                  bool saturate) {
  switch (type) {
  case Type::F16:
    static_cast<uint16_t *>(data)[index] = encodeF16(value);
    break;
  case Type::BF16:
    static_cast<uint16_t *>(data)[index] = encodeBF16(value);
    break;
  case Type::F32:
    static_cast<float *>(data)[index] = value;
    break;
  case Type::F64:
    static_cast<double *>(data)[index] = value;
    break;
  case Type::E4M3FN:
    static_cast<uint8_t *>(data)[index] = encodeE4M3(value, saturate);
    break;
  case Type::E5M2:
    static_cast<uint8_t *>(data)[index] = encodeE5M2(value, saturate);
    break;
  default:
    break;
  }
}

/// Out of line, for kernels that store little in this way.
__attribute__((noinline)) inline void
storeAny(Type type, void *data, int64_t index, float value, bool saturate) {
  store(type, data, index, value, saturate);
}

/// The value after one rounding to BF16 or F16; of F32 itself.
inline float roundTo(Type type, float value) {
  if (type == Type::BF16)
    return decodeBF16(encodeBF16(value));
  if (type == Type::F16)
    return decodeF16(encodeF16(value));
  return value;
}

} // namespace fp8c::rt::cuda

#endif // FP8C_LIB_RUNTIME_CUDA_DEVICE_INTRINSICS_H
