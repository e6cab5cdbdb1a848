//===- TensorCore.h - Tensor cores, and copies to them ----------*- C++ -*-===//
//
// Part of fp8c, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// mma.sync of 16 x 8 results: lane 4 * g + t has rows g and g + 8, columns 2t
// and 2t + 1. Of each 16 bytes of K of a row the lane holds bytes 4t to 4t + 3,
// whatever the type: 32 bytes of K a multiplication.
//
//===----------------------------------------------------------------------===//

#ifndef FP8C_LIB_RUNTIME_CUDA_DEVICE_TENSORCORE_H
#define FP8C_LIB_RUNTIME_CUDA_DEVICE_TENSORCORE_H

#include "Intrinsics.h"

namespace fp8c::rt::cuda {

/// 16 bytes in registers.
using Chunk = uint32_t __attribute__((ext_vector_type(4)));
constexpr uint32_t kChunkBytes = 16;
/// Bytes of K that one multiplication takes.
constexpr uint32_t kStepBytes = 32;

constexpr bool isF8(Type type) {
  return type == Type::E4M3FN || type == Type::E5M2;
}
constexpr uint32_t sizeOf(Type type) { return isF8(type) ? 1 : 2; }

/// Results of one multiplication: rows g, g, g + 8, g + 8.
struct Fragment {
  float c[4];
};

/// d += a * b. a: rows g and g + 8 of the first 16 bytes, then of the second;
/// b: column g of the first, of the second.
template <Type A, Type B>
FP8C_INLINE void multiply(Fragment &d, const uint32_t (&a)[4], uint32_t b0,
                          uint32_t b1) {
#define FP8C_MMA(SHAPE, TYPES)                                                 \
  asm volatile("mma.sync.aligned." SHAPE ".row.col.f32." TYPES ".f32 "         \
               "{%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};"         \
               : "+f"(d.c[0]), "+f"(d.c[1]), "+f"(d.c[2]), "+f"(d.c[3])        \
               : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1))
  if constexpr (A == Type::BF16)
    FP8C_MMA("m16n8k16", "bf16.bf16");
  else if constexpr (A == Type::F16)
    FP8C_MMA("m16n8k16", "f16.f16");
  else if constexpr (A == Type::E4M3FN && B == Type::E4M3FN)
    FP8C_MMA("m16n8k32", "e4m3.e4m3");
  else if constexpr (A == Type::E4M3FN)
    FP8C_MMA("m16n8k32", "e4m3.e5m2");
  else if constexpr (B == Type::E4M3FN)
    FP8C_MMA("m16n8k32", "e5m2.e4m3");
  else
    FP8C_MMA("m16n8k32", "e5m2.e5m2");
#undef FP8C_MMA
}

inline uint32_t sharedAddress(const FP8C_SHARED void *at) {
  return uint32_t(uintptr_t(at));
}

/// Four matrices of 8 rows of 16 bytes; lane i has the address of row i % 8 of
/// matrix i / 8.
FP8C_INLINE void loadMatrices(uint32_t (&r)[4], uint32_t address) {
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 "
               "{%0,%1,%2,%3}, [%4];"
               : "=r"(r[0]), "=r"(r[1]), "=r"(r[2]), "=r"(r[3])
               : "r"(address)
               : "memory");
}

/// The same, each matrix of 2-byte elements transposed.
FP8C_INLINE void loadTransposed(uint32_t (&r)[4], uint32_t address) {
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 "
               "{%0,%1,%2,%3}, [%4];"
               : "=r"(r[0]), "=r"(r[1]), "=r"(r[2]), "=r"(r[3])
               : "r"(address)
               : "memory");
}

/// Copies 16 bytes to shared memory, or fills them with 0 if `bytes` is 0.
inline void copyChunk(uint32_t to, const void *from, uint32_t bytes) {
  asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;"
               :
               : "r"(to), "l"(from), "r"(bytes)
               : "memory");
}
inline void copyWord(uint32_t to, const void *from) {
  asm volatile("cp.async.ca.shared.global [%0], [%1], 4;"
               :
               : "r"(to), "l"(from)
               : "memory");
}
inline void commitCopies() {
  asm volatile("cp.async.commit_group;" : : : "memory");
}
/// Waits until at most so many of the thread's groups are under way.
template <uint32_t Groups> inline void waitForCopies() {
  asm volatile("cp.async.wait_group %0;" : : "n"(Groups) : "memory");
}

} // namespace fp8c::rt::cuda

#endif // FP8C_LIB_RUNTIME_CUDA_DEVICE_TENSORCORE_H
