//===- DotProduct.cpp - Products with one to four rows --------------------===//
//
// Part of fp8c, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Up to four rows of f8, bf16 or f16 times weights whose columns are contiguous
// along K, without tensor cores: how fast weights are read depends on how many
// bytes are under way, and what multiplies them in the order in which they lie
// needs registers for little else. All sums are f32.
//
// A warp has two columns, and asks for 2 KB of each before it multiplies. Of
// few columns several warps take turns along K; sums meet in shared memory.
//
// Compiled once for each pair of types: FP8C_A and FP8C_B, the weights'. It
// may be launched early, so it is for sm_90 and later.
//
//===----------------------------------------------------------------------===//

#include "Result.h"

using namespace fp8c::rt::cuda;

namespace {

constexpr Type kA = Type::FP8C_A, kB = Type::FP8C_B;
static_assert(sizeOf(kA) == sizeOf(kB), "16 bytes of both are the same K");
constexpr uint32_t kWarps = kDotThreads / 32;
/// A turn in chunks, and a lane's of them.
constexpr uint32_t kTurn = kDotTurnBytes / kChunkBytes;
constexpr uint32_t kLoads = kTurn / 32;

/// Values of one register.
template <Type T> constexpr uint32_t kPerWord = 4 / sizeOf(T);

template <Type T>
FP8C_INLINE void decodeWord(uint32_t word, float (&values)[kPerWord<T>]) {
  if constexpr (T == Type::BF16) {
    values[0] = asFloat(word << 16);
    values[1] = asFloat(word & 0xFFFF0000);
  } else if constexpr (T == Type::F16) {
    values[0] = decodeF16(uint16_t(word));
    values[1] = decodeF16(uint16_t(word >> 16));
  } else {
#pragma unroll
    for (uint32_t i = 0; i < 2; ++i) {
      const uint32_t pair = decodeF8Pair<T>(uint16_t(word >> 16 * i));
      values[2 * i] = decodeF16(uint16_t(pair));
      values[2 * i + 1] = decodeF16(uint16_t(pair >> 16));
    }
  }
}

/// 16 bytes, or zeros. The order of these loads is that of the program.
template <bool IsOnce> FP8C_INLINE Chunk loadIf(bool has, const uint8_t *at) {
  Chunk c;
#define FP8C_LOAD(HOW)                                                         \
  asm volatile("{\n\t"                                                         \
               ".reg .pred has;\n\t"                                           \
               "setp.ne.u32 has, %5, 0;\n\t"                                   \
               "mov.b32 %0, 0;\n\t"                                            \
               "mov.b32 %1, 0;\n\t"                                            \
               "mov.b32 %2, 0;\n\t"                                            \
               "mov.b32 %3, 0;\n\t"                                            \
               "@has ld.global" HOW ".v4.b32 {%0, %1, %2, %3}, [%4];\n\t"      \
               "}"                                                             \
               : "=&r"(c[0]), "=&r"(c[1]), "=&r"(c[2]), "=&r"(c[3])            \
               : "l"(at), "r"(uint32_t(has)))
  if constexpr (IsOnce)
    FP8C_LOAD(".L1::no_allocate.L2::256B");
  else
    FP8C_LOAD("");
#undef FP8C_LOAD
  return c;
}

template <uint32_t Rows> FP8C_INLINE void computeDots(const ProductParams &p) {
  static FP8C_SHARED float results[kWarps][Rows][kDotColumns];
  const uint32_t lane = threadIndex() % 32, warp = threadIndex() / 32;
  const uint32_t group = warp >> p.sharing, turn = warp % (1u << p.sharing);
  const uint32_t columns = kDotBlockColumns >> p.sharing;
  const int64_t n0 = int64_t(blockIndex()) * columns;
  const BatchOffsets base(p, blockIndexY());
  const uint32_t chunks = uint32_t(p.k) / (kChunkBytes / sizeOf(kB));
  const uint32_t first = turn * kTurn + lane;
  const uint32_t step = kTurn << p.sharing;

  const uint8_t *column[kDotColumns], *row[Rows];
  bool hasColumn[kDotColumns];
#pragma unroll
  for (uint32_t c = 0; c < kDotColumns; ++c) {
    const int64_t n = n0 + group * kDotColumns + c;
    hasColumn[c] = n < p.n;
    column[c] = static_cast<const uint8_t *>(p.b.data) +
                (base.b + n * p.b.columnStride) * sizeOf(kB) +
                first * kChunkBytes;
  }
#pragma unroll
  for (uint32_t r = 0; r < Rows; ++r)
    row[r] = static_cast<const uint8_t *>(p.a.data) +
             (base.a + (r < p.m ? r : 0) * p.a.rowStride) * sizeOf(kA) +
             first * kChunkBytes;

  // Those of the next turn take the place of what was multiplied, and are under
  // way while other warps multiply. Read in the turn that multiplies them they
  // would not be: the assembler moves loads to where their values are used.
  Chunk weights[kDotColumns][kLoads];
  auto readWeights = [&](uint32_t at) __attribute__((always_inline)) {
#pragma unroll
    for (uint32_t c = 0; c < kDotColumns; ++c) {
#pragma unroll
      for (uint32_t u = 0; u < kLoads; ++u)
        weights[c][u] = loadIf<true>(hasColumn[c] && at + 32 * u < chunks,
                                     column[c] + 32 * u * kChunkBytes);
      column[c] += step * kChunkBytes;
    }
  };
  // Of the lower and of the upper halves of 4 bytes.
  float sums[Rows][kDotColumns][2] = {};
  waitForGrids();
  readWeights(first);
#pragma unroll 1
  for (uint32_t at = first; at - lane < chunks; at += step) {
#pragma unroll
    for (uint32_t u = 0; u < kLoads; ++u)
#pragma unroll
      for (uint32_t r = 0; r < Rows; ++r) {
        const Chunk values =
            loadIf<false>(at + 32 * u < chunks, row[r] + 32 * u * kChunkBytes);
#pragma unroll
        for (uint32_t w = 0; w < 4; ++w) {
          float left[kPerWord<kA>];
          decodeWord<kA>(values[w], left);
#pragma unroll
          for (uint32_t c = 0; c < kDotColumns; ++c) {
            float right[kPerWord<kB>];
            decodeWord<kB>(weights[c][u][w], right);
#pragma unroll
            for (uint32_t i = 0; i < kPerWord<kB>; ++i)
              sums[r][c][i % 2] =
                  __builtin_fmaf(left[i], right[i], sums[r][c][i % 2]);
          }
        }
      }
#pragma unroll
    for (uint32_t r = 0; r < Rows; ++r)
      row[r] += step * kChunkBytes;
    readWeights(at + step);
  }
#pragma unroll
  for (uint32_t r = 0; r < Rows; ++r)
#pragma unroll
    for (uint32_t c = 0; c < kDotColumns; ++c) {
      float sum = sums[r][c][0] + sums[r][c][1];
#pragma unroll
      for (int mask = 16; mask > 0; mask /= 2)
        sum += shuffleXor(sum, mask);
      if (lane == 0)
        results[warp][r][c] = sum;
    }
  barrier();

  uint32_t amax = 0;
  const uint32_t m = threadIndex() / columns, n = threadIndex() % columns;
  if (m < Rows && m < p.m && n0 + n < p.n) {
    float sum = 0;
#pragma unroll 1
    for (uint32_t i = 0; i < 1u << p.sharing; ++i)
      sum += results[(n / kDotColumns << p.sharing) + i][m][n % kDotColumns];
    amax = writeResult(p, base, m, n0 + n, sum, /*isScaled=*/false);
  }
  if (p.amax)
    reduceAmax(p.amax, amax);
}

} // namespace

/// Up to so many rows.
FP8C_KERNEL void fp8rt_dots_1(ProductParams p) { computeDots<1>(p); }
FP8C_KERNEL void fp8rt_dots_2(ProductParams p) { computeDots<2>(p); }
FP8C_KERNEL void fp8rt_dots_4(ProductParams p) { computeDots<4>(p); }
