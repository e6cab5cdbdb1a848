//===- Warpgroup.h - Multiplying tiles by wgmma -----------------*- C++ -*-===//
//
// Part of fp8c, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// For sm_90a: a warpgroup multiplies 64 rows of one tile with all of the other,
// both in shared memory. It may still read them after the instruction.
//
//===----------------------------------------------------------------------===//

#ifndef FP8C_LIB_RUNTIME_CUDA_DEVICE_WARPGROUP_H
#define FP8C_LIB_RUNTIME_CUDA_DEVICE_WARPGROUP_H

#include "Tile.h"

// Of a type: its name, the elements of K of an instruction, whether operands
// are transposed, which is said of those of 16 bits alone.
#define FP8C_NAME_E4M3FN "e4m3"
#define FP8C_NAME_E5M2 "e5m2"
#define FP8C_NAME_BF16 "bf16"
#define FP8C_NAME_F16 "f16"
#define FP8C_DEPTH_E4M3FN "k32"
#define FP8C_DEPTH_E5M2 "k32"
#define FP8C_DEPTH_BF16 "k16"
#define FP8C_DEPTH_F16 "k16"
#define FP8C_ORDER_E4M3FN ""
#define FP8C_ORDER_E5M2 ""
#define FP8C_ORDER_BF16 ", 0, 0"
#define FP8C_ORDER_F16 ", 0, 0"
#define FP8C_JOIN(A, B) A##B
#define FP8C_OF(WHAT, TYPE) FP8C_JOIN(WHAT, TYPE)
#define FP8C_WGMMA(N)                                                          \
  "wgmma.mma_async.sync.aligned.m64n" N FP8C_OF(                               \
      FP8C_DEPTH_, FP8C_A) ".f32." FP8C_OF(FP8C_NAME_,                         \
                                           FP8C_A) "." FP8C_OF(FP8C_NAME_,     \
                                                               FP8C_B)

namespace fp8c::rt::cuda {

/// Where a tile of rows of 128 bytes begins, in the terms of wgmma: swizzled,
/// 8 rows after 8 rows.
inline uint64_t describeTile(uint32_t address) {
  constexpr uint64_t kSwizzle128 = uint64_t(1) << 62;
  constexpr uint64_t kRows8 = uint64_t(1024 / 16) << 32;
  return uint64_t((address & 0x3FFFF) >> 4) | uint64_t(1) << 16 | kRows8 |
         kSwizzle128;
}

/// d += a * b: 64 rows of 32 bytes of K by N rows.
template <uint32_t N>
FP8C_INLINE void multiplyAsync(float (&d)[N / 2], uint64_t a, uint64_t b) {
  static_assert(N == 64 || N == 128);
  if constexpr (N == 64)
    asm volatile(
        FP8C_WGMMA(
            "64") " {"
                  "%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, "
                  "%12, %13, %14, %15, %16, %17, %18, %19, %20, %21, %22, %23, "
                  "%24, %25, %26, %27, %28, %29, %30, %31"
                  "}, %32, %33, 1, 1, 1" FP8C_OF(FP8C_ORDER_, FP8C_A) ";"
        : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3]), "+f"(d[4]),
          "+f"(d[5]), "+f"(d[6]), "+f"(d[7]), "+f"(d[8]), "+f"(d[9]),
          "+f"(d[10]), "+f"(d[11]), "+f"(d[12]), "+f"(d[13]), "+f"(d[14]),
          "+f"(d[15]), "+f"(d[16]), "+f"(d[17]), "+f"(d[18]), "+f"(d[19]),
          "+f"(d[20]), "+f"(d[21]), "+f"(d[22]), "+f"(d[23]), "+f"(d[24]),
          "+f"(d[25]), "+f"(d[26]), "+f"(d[27]), "+f"(d[28]), "+f"(d[29]),
          "+f"(d[30]), "+f"(d[31])
        : "l"(a), "l"(b));
  else
    asm volatile(
        FP8C_WGMMA(
            "128") " {"
                   "%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, "
                   "%12, %13, %14, %15, %16, %17, %18, %19, %20, %21, %22, "
                   "%23, "
                   "%24, %25, %26, %27, %28, %29, %30, %31, %32, %33, %34, "
                   "%35, "
                   "%36, %37, %38, %39, %40, %41, %42, %43, %44, %45, %46, "
                   "%47, "
                   "%48, %49, %50, %51, %52, %53, %54, %55, %56, %57, %58, "
                   "%59, "
                   "%60, %61, %62, %63"
                   "}, %64, %65, 1, 1, 1" FP8C_OF(FP8C_ORDER_, FP8C_A) ";"
        : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3]), "+f"(d[4]),
          "+f"(d[5]), "+f"(d[6]), "+f"(d[7]), "+f"(d[8]), "+f"(d[9]),
          "+f"(d[10]), "+f"(d[11]), "+f"(d[12]), "+f"(d[13]), "+f"(d[14]),
          "+f"(d[15]), "+f"(d[16]), "+f"(d[17]), "+f"(d[18]), "+f"(d[19]),
          "+f"(d[20]), "+f"(d[21]), "+f"(d[22]), "+f"(d[23]), "+f"(d[24]),
          "+f"(d[25]), "+f"(d[26]), "+f"(d[27]), "+f"(d[28]), "+f"(d[29]),
          "+f"(d[30]), "+f"(d[31]), "+f"(d[32]), "+f"(d[33]), "+f"(d[34]),
          "+f"(d[35]), "+f"(d[36]), "+f"(d[37]), "+f"(d[38]), "+f"(d[39]),
          "+f"(d[40]), "+f"(d[41]), "+f"(d[42]), "+f"(d[43]), "+f"(d[44]),
          "+f"(d[45]), "+f"(d[46]), "+f"(d[47]), "+f"(d[48]), "+f"(d[49]),
          "+f"(d[50]), "+f"(d[51]), "+f"(d[52]), "+f"(d[53]), "+f"(d[54]),
          "+f"(d[55]), "+f"(d[56]), "+f"(d[57]), "+f"(d[58]), "+f"(d[59]),
          "+f"(d[60]), "+f"(d[61]), "+f"(d[62]), "+f"(d[63])
        : "l"(a), "l"(b));
}

/// Before registers that were written are summed in.
inline void beginMultiplying() {
  asm volatile("wgmma.fence.sync.aligned;" : : : "memory");
}
inline void commitMultiplying() {
  asm volatile("wgmma.commit_group.sync.aligned;" : : : "memory");
}
/// Waits until at most so many groups are under way.
template <uint32_t Groups> inline void waitForMultiplying() {
  asm volatile("wgmma.wait_group.sync.aligned %0;" : : "n"(Groups) : "memory");
}
/// What the thread wrote to shared memory is there for wgmma.
inline void publishShared() {
  asm volatile("fence.proxy.async.shared::cta;" : : : "memory");
}

/// `Groups` warpgroups, each with 64 rows and all N columns. The interface is
/// that of `Warps`.
template <uint32_t Groups, uint32_t N> class Warpgroups {
public:
  static constexpr uint32_t kThreads = 128 * Groups;
  static constexpr uint32_t kM = 64 * Groups;
  static constexpr uint32_t kN = N;
  static constexpr uint32_t kBehind = 1;

  struct Sums {
    float of[N / 2];
  };

  FP8C_INLINE Warpgroups()
      : group(threadIndex() / 128),
        row0(threadIndex() / 32 * 16 + threadIndex() % 32 / 4),
        column0(threadIndex() % 4 * 2) {}

  FP8C_INLINE void multiplyTiles(Sums &sums, uint32_t a, uint32_t b) const {
    const uint64_t left = describeTile(a + group * 64 * kTileBytes);
    const uint64_t right = describeTile(b);
    beginMultiplying();
#pragma unroll
    for (uint32_t step = 0; step < kTileBytes / kStepBytes; ++step)
      multiplyAsync<N>(sums.of, left + step * kStepBytes / 16,
                       right + step * kStepBytes / 16);
    commitMultiplying();
  }

  static void publish() { publishShared(); }
  template <uint32_t Left> static void settle() { waitForMultiplying<Left>(); }

  FP8C_INLINE void add(Sums &sums, const Sums &part) const {
#pragma unroll
    for (uint32_t i = 0; i < N / 2; ++i)
      sums.of[i] += part.of[i];
  }

  template <typename Fn> FP8C_INLINE void forEach(Sums &sums, Fn visit) const {
#pragma unroll
    for (uint32_t i = 0; i < N / 2; ++i)
      visit(sums.of[i], row0 + i % 4 / 2 * 8, column0 + i / 4 * 8 + i % 2);
  }

private:
  uint32_t group, row0, column0;
};

} // namespace fp8c::rt::cuda

#endif // FP8C_LIB_RUNTIME_CUDA_DEVICE_WARPGROUP_H
