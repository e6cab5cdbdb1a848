//===- RowProduct.cpp - Products with few rows ----------------------------===//
//
// Part of fp8c, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Up to 16 rows of f8, bf16 or f16 times weights whose columns are contiguous
// along K: limited by reading the weights, once, straight to registers. The
// transposed product is computed, so that columns of the weights fill the 16
// rows of a multiplication. A block has 16 columns; its warps take turns along
// K, 128 bytes each, and add up in shared memory.
//
// A multiplication may take K in any order that both operands share: a lane
// loads 16 neighbouring bytes, which are its part of two multiplications.
//
// Compiled once for each pair of types: FP8C_A and FP8C_B, the weights'. f8
// weights of 16-bit rows are decoded on the way.
//
//===----------------------------------------------------------------------===//

#include "Result.h"

using namespace fp8c::rt::cuda;

namespace {

constexpr Type kA = Type::FP8C_A, kB = Type::FP8C_B;
constexpr uint32_t kWarps = kRowThreads / 32;
constexpr bool kIsDecoded = isF8(kB) && !isF8(kA);
/// Elements that a lane loads at once, and a warp: 128 bytes of each column.
constexpr uint32_t kUnit = kChunkBytes / sizeOf(kB);
constexpr uint32_t kUnits = 2;
constexpr uint32_t kWarpK = 4 * kUnit * kUnits;
/// Multiplications of a unit.
constexpr uint32_t kSteps = kIsDecoded ? 4 : 2;

Chunk loadChunk(const void *data, int64_t index, uint32_t size) {
  return *reinterpret_cast<const Chunk *>(static_cast<const uint8_t *>(data) +
                                          index * size);
}

/// The same of what is read once; from any byte.
Chunk loadOnce(const void *data, int64_t byte) {
  const auto *at = static_cast<const uint8_t *>(data) + byte;
  Chunk c;
  asm("ld.global.nc.L1::no_allocate.L2::128B.v4.b32 {%0, %1, %2, %3}, [%4];"
      : "=r"(c[0]), "=r"(c[1]), "=r"(c[2]), "=r"(c[3])
      : "l"(at));
  return c;
}

/// Two f8 codes, times a scale, rounded to kA.
[[maybe_unused]] FP8C_INLINE uint32_t decodePair(uint32_t codes, float scale) {
  const uint32_t halves = decodeF8Pair<kB>(uint16_t(codes));
  const float low = decodeF16(uint16_t(halves)) * scale;
  const float high = decodeF16(uint16_t(halves >> 16)) * scale;
  return kA == Type::BF16 ? packBF16(low, high) : packF16(low, high);
}

/// Where the scales of one column or row are.
struct ScaleLine {
  const MatrixParams &scale;
  int64_t at, stride, block;
  FP8C_INLINE float get(int64_t k) const {
    return loadScale(scale, at + scaleOffset(k, block, stride));
  }
};

template <uint32_t Groups>
FP8C_INLINE void computeRows(const ProductParams &p) {
  constexpr uint32_t kM = 8 * Groups;
  static FP8C_SHARED float results[kWarps][kM][kRowColumns];
  const uint32_t lane = threadIndex() % 32, warp = threadIndex() / 32;
  const uint32_t g = lane / 4, t = lane % 4;
  const int64_t n0 = int64_t(blockIndex()) * kRowColumns;
  const BatchOffsets base(p, blockIndexY());
  const bool isScaled = p.segment < p.k;
  const bool hasColumn[2] = {n0 + g < p.n, n0 + g + 8 < p.n};
  const int64_t bAt[2] = {base.b + (n0 + g) * p.b.columnStride,
                          base.b + (n0 + g + 8) * p.b.columnStride};
  auto columnScale = [&](const ScaleParams &s, int64_t first,
                         uint32_t h) __attribute__((always_inline)) {
    const int64_t n = hasColumn[h] ? n0 + g + 8 * h : 0;
    return ScaleLine{
        s.scale, first + scaleOffset(n, s.columnBlock, s.scale.columnStride),
        s.scale.rowStride, s.rowBlock};
  };

  // Warps take turns along K; loads of a warp's next piece are under way while
  // one is multiplied.
  constexpr int64_t kTurn = int64_t(kWarps) * kWarpK;
  struct Piece {
    Chunk of[kUnits][2];
  };
  auto read = [&](Piece &piece, int64_t start) __attribute__((always_inline)) {
#pragma unroll
    for (uint32_t u = 0; u < kUnits; ++u)
#pragma unroll
      for (uint32_t h = 0; h < 2; ++h) {
        const int64_t k = start + (4 * u + t) * kUnit;
        piece.of[u][h] = hasColumn[h] && k < p.k
                             ? loadOnce(p.b.data, (bAt[h] + k) * sizeOf(kB))
                             : Chunk(0);
      }
  };
  Fragment sums[Groups] = {};
  Piece next;
  read(next, int64_t(warp) * kWarpK);
#pragma unroll 1
  for (int64_t start = int64_t(warp) * kWarpK; start < p.k; start += kTurn) {
    const Piece weights = next;
    read(next, start + kTurn);
    float decode[2] = {1, 1};
    if constexpr (kIsDecoded)
#pragma unroll
      for (uint32_t h = 0; h < 2; ++h)
        decode[h] = columnScale(p.bDecode, base.bDecode, h).get(start);
    // Sums of 128 bytes of K are added in f32 by themselves.
    Fragment part[Groups] = {};
#pragma unroll
    for (uint32_t u = 0; u < kUnits; ++u) {
      const int64_t k = start + (4 * u + t) * kUnit;
      uint32_t left[2][2 * kSteps];
#pragma unroll
      for (uint32_t h = 0; h < 2; ++h)
#pragma unroll
        for (uint32_t i = 0; i < 2 * kSteps; ++i)
          if constexpr (kIsDecoded)
            left[h][i] =
                decodePair(weights.of[u][h][i / 2] >> i % 2 * 16, decode[h]);
          else
            left[h][i] = weights.of[u][h][i];
#pragma unroll
      for (uint32_t j = 0; j < Groups; ++j) {
        const int64_t m = 8 * j + g;
        uint32_t right[2 * kSteps] = {};
        if (m < p.m && k < p.k)
#pragma unroll
          for (uint32_t i = 0; i < kSteps / 2; ++i) {
            const Chunk chunk = loadChunk(p.a.data,
                                          base.a + m * p.a.rowStride + k +
                                              i * (kChunkBytes / sizeOf(kA)),
                                          sizeOf(kA));
#pragma unroll
            for (uint32_t w = 0; w < 4; ++w)
              right[4 * i + w] = chunk[w];
          }
#pragma unroll
        for (uint32_t i = 0; i < kSteps; ++i) {
          const uint32_t columns[4] = {left[0][2 * i], left[1][2 * i],
                                       left[0][2 * i + 1], left[1][2 * i + 1]};
          multiply<kIsDecoded ? kA : kB, kA>(part[j], columns, right[2 * i],
                                             right[2 * i + 1]);
        }
      }
    }
#pragma unroll
    for (uint32_t j = 0; j < Groups; ++j)
#pragma unroll
      for (uint32_t c = 0; c < 4; ++c) {
        float value = part[j].c[c];
        if (isScaled) {
          const int64_t m = 8 * j + 2 * t + c % 2;
          const ScaleLine row{
              p.aScale.scale,
              base.aScale + scaleOffset(m < p.m ? m : 0, p.aScale.rowBlock,
                                        p.aScale.scale.rowStride),
              p.aScale.scale.columnStride, p.aScale.columnBlock};
          value *= row.get(start) *
                   columnScale(p.bScale, base.bScale, c / 2).get(start);
        }
        sums[j].c[c] += value;
      }
  }
#pragma unroll
  for (uint32_t j = 0; j < Groups; ++j)
#pragma unroll
    for (uint32_t c = 0; c < 4; ++c)
      results[warp][8 * j + 2 * t + c % 2][g + c / 2 * 8] = sums[j].c[c];
  barrier();

  uint32_t amax = 0;
  const uint32_t column = threadIndex() % kRowColumns;
  const int64_t m = threadIndex() / kRowColumns, n = n0 + column;
  if (m < p.m && m < kM && n < p.n) {
    float value = 0;
#pragma unroll
    for (uint32_t w = 0; w < kWarps; ++w)
      value += results[w][m][column];
    amax = writeResult(p, base, m, n, value, isScaled);
  }
  if (p.amax)
    reduceAmax(p.amax, amax);
}

} // namespace

/// Up to 8 rows, and up to 16.
FP8C_KERNEL void fp8rt_rows_8(ProductParams p) { computeRows<1>(p); }
FP8C_KERNEL void fp8rt_rows_16(ProductParams p) { computeRows<2>(p); }
