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

#include "DotResult.h"
#include "TensorCore.h"

using namespace fp8c::rt::cuda;

namespace {

constexpr Type kA = Type::FP8C_A, kB = Type::FP8C_B;
static_assert(sizeOf(kA) == sizeOf(kB), "16 bytes of both are the same K");
constexpr uint32_t kWarps = kDotThreads / 32;
/// A turn in chunks, and a lane's of them.
constexpr uint32_t kTurn = kDotTurnBytes / kChunkBytes;
constexpr uint32_t kLoads = kTurn / 32;

template <bool Value> struct Constant { static constexpr bool value = Value; };

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

/// 16 bytes, or zeros unless `IsWhole` or `has`. The order of these loads is
/// that of the program.
template <bool IsOnce, bool IsWhole>
FP8C_INLINE Chunk loadChunk(bool has, const uint8_t *at) {
  Chunk c;
#define FP8C_WHOLE(HOW)                                                        \
  asm volatile("ld.global" HOW ".v4.b32 {%0, %1, %2, %3}, [%4];"               \
               : "=r"(c[0]), "=r"(c[1]), "=r"(c[2]), "=r"(c[3])                \
               : "l"(at))
#define FP8C_PART(HOW)                                                         \
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
#define FP8C_ONCE ".L1::no_allocate.L2::256B"
  if constexpr (IsWhole && IsOnce)
    FP8C_WHOLE(FP8C_ONCE);
  else if constexpr (IsWhole)
    FP8C_WHOLE("");
  else if constexpr (IsOnce)
    FP8C_PART(FP8C_ONCE);
  else
    FP8C_PART("");
  return c;
}

template <uint32_t Rows> FP8C_INLINE void computeDots(const DotParams &p) {
  static FP8C_SHARED float results[kWarps][Rows][kDotColumns];
  const uint32_t lane = threadIndex() % 32, warp = threadIndex() / 32;
  const uint32_t group = warp >> p.sharing, turn = warp % (1u << p.sharing);
  const uint32_t columnsLog = __builtin_ctz(kDotBlockColumns) - p.sharing;
  const uint32_t columns = 1u << columnsLog;
  const int64_t n0 = int64_t(blockIndex()) * columns;
  const uint32_t chunks = p.chunks;
  const uint32_t first = turn * kTurn + lane;
  const uint32_t step = kTurn << p.sharing;

  int64_t aAt = first * kChunkBytes, bAt = aAt;
  forBatches(p, [&](const DotBatch &of, int64_t i) {
    aAt += i * of.a;
    bAt += i * of.b;
  });
  const uint8_t *column[kDotColumns], *row[Rows];
  // Columns and rows that there are not are read as others are.
#pragma unroll
  for (uint32_t c = 0; c < kDotColumns; ++c) {
    const int64_t n = n0 + group * kDotColumns + c;
    column[c] = static_cast<const uint8_t *>(p.b) +
                (n < p.n ? n : p.n - 1) * p.bStride + bAt;
  }
#pragma unroll
  for (uint32_t r = 0; r < Rows; ++r)
    row[r] =
        static_cast<const uint8_t *>(p.a) + (r < p.m ? r : 0) * p.aStride + aAt;

  // Those of the next turn take the place of what was multiplied, and are under
  // way while other warps multiply. Read in the turn that multiplies them they
  // would not be: the assembler moves loads to where their values are used. Of
  // more than two rows there are no registers for theirs. All leave room for
  // two blocks a multiprocessor: with a third, blocks of the next grid that
  // start early may crowd on a few of them.
  constexpr bool isAhead = Rows <= 2;
  Chunk weights[kDotColumns][kLoads], values[isAhead ? Rows : 1][kLoads];
  auto readTurn = [&](uint32_t at, auto isWhole) {
    constexpr bool kWhole = decltype(isWhole)::value;
#pragma unroll
    for (uint32_t u = 0; u < kLoads; ++u) {
      const bool has = at + 32 * u < chunks;
      const uint32_t bytes = 32 * u * kChunkBytes;
#pragma unroll
      for (uint32_t c = 0; c < kDotColumns; ++c)
        weights[c][u] = loadChunk<true, kWhole>(has, column[c] + bytes);
      if constexpr (isAhead)
#pragma unroll
        for (uint32_t r = 0; r < Rows; ++r)
          values[r][u] = loadChunk<false, kWhole>(has, row[r] + bytes);
    }
  };
  auto read = [&](uint32_t at) {
    if (at - lane + kTurn <= chunks)
      readTurn(at, Constant<true>());
    else
      readTurn(at, Constant<false>());
  };
  // Of the lower and of the upper halves of 4 bytes.
  float sums[Rows][kDotColumns][2] = {};
  waitForGrids();
  read(first);
  // A thread's result.
  const uint32_t m = threadIndex() >> columnsLog, n = threadIndex() % columns;
  const bool hasResult = m < Rows && m < p.m && n0 + n < p.n;
  DotFactors factors;
  if (hasResult)
    factors.ask(p, m, n0 + n);
#pragma unroll 1
  for (uint32_t at = first; at - lane < chunks; at += step) {
#pragma unroll
    for (uint32_t u = 0; u < kLoads; ++u)
#pragma unroll
      for (uint32_t r = 0; r < Rows; ++r) {
        Chunk chunk;
        if constexpr (isAhead)
          chunk = values[r][u];
        else
          chunk = loadChunk<false, false>(at + 32 * u < chunks,
                                          row[r] + 32 * u * kChunkBytes);
#pragma unroll
        for (uint32_t w = 0; w < 4; ++w) {
          float left[kPerWord<kA>];
          decodeWord<kA>(chunk[w], left);
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
#pragma unroll
    for (uint32_t c = 0; c < kDotColumns; ++c)
      column[c] += step * kChunkBytes;
    read(at + step);
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
  if (hasResult) {
    float sum = 0;
#pragma unroll 1
    for (uint32_t i = 0; i < 1u << p.sharing; ++i)
      sum += results[(n / kDotColumns << p.sharing) + i][m][n % kDotColumns];
    amax = factors.apply(p, sum);
    storeDot(p, m, n0 + n, sum);
  }
  if (p.amax)
    reduceAmax(p.amax, amax);
}

} // namespace

/// Up to so many rows.
FP8C_KERNEL void fp8rt_dots_1(DotParams p) { computeDots<1>(p); }
FP8C_KERNEL void fp8rt_dots_2(DotParams p) { computeDots<2>(p); }
FP8C_KERNEL void fp8rt_dots_4(DotParams p) { computeDots<4>(p); }
