//===- TileProduct.cpp - Products on tensor cores -------------------------===//
//
// Part of fp8c, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Products of f8, bf16 or f16 of any sizes and strides. A block computes one
// tile of the result; tiles of both operands come along K through a ring of
// stages in shared memory (Tile.h). How two tiles are multiplied is up to
// `Warps` (mma.sync) or `Warpgroups` (wgmma, with FP8C_WARPGROUPS).
//
// Compiled once for each pair of types: FP8C_A and FP8C_B.
//
//===----------------------------------------------------------------------===//

#include "Result.h"
#include "Warps.h"
#ifdef FP8C_WARPGROUPS
#include "Warpgroup.h"
#endif

using namespace fp8c::rt::cuda;

extern FP8C_SHARED __attribute__((aligned(1024))) uint8_t fp8rt_shared[];

namespace {

constexpr Type kA = Type::FP8C_A;
constexpr uint32_t kSize = sizeOf(kA);
#ifdef FP8C_WARPGROUPS
constexpr uint32_t kStages = kWarpgroupStages;
#else
constexpr uint32_t kStages = kWarpStages;
#endif

/// Blocks of neighbouring rows of tiles take the same columns at a time, so
/// that operands are read from the cache.
constexpr uint32_t kRowsTogether = 16;

/// The scales of a tile of K: of each row of a, then of each column of b.
template <uint32_t M, uint32_t N, uint32_t Threads> class ScaleReader {
public:
  FP8C_INLINE ScaleReader(const ProductParams &p, const BatchOffsets &base,
                          int64_t m0, int64_t n0) {
    static_assert(M + N == Threads);
    // Rows and columns past the end have no scales; their results go nowhere.
    const uint32_t i = threadIndex();
    const bool isRow = i < M;
    const ScaleParams &s = isRow ? p.aScale : p.bScale;
    const int64_t index = isRow ? m0 + i : n0 + i - M;
    scale = s.scale;
    at = isRow ? base.aScale + scaleOffset(index < p.m ? index : 0, s.rowBlock,
                                           s.scale.rowStride)
               : base.bScale + scaleOffset(index < p.n ? index : 0,
                                           s.columnBlock, s.scale.columnStride);
    stride = isRow ? s.scale.columnStride : s.scale.rowStride;
    block = isRow ? s.columnBlock : s.rowBlock;
  }

  FP8C_INLINE void read(uint32_t to, int64_t k) const {
    const uint32_t slot = to + threadIndex() * 4;
    const int64_t index = at + scaleOffset(k, block, stride);
    if (scale.data && scale.type == Type::F32)
      return copyWord(slot, static_cast<const float *>(scale.data) + index);
    *reinterpret_cast<FP8C_SHARED float *>(uintptr_t(slot)) =
        loadScale(scale, index);
  }

private:
  MatrixParams scale;
  int64_t at, stride, block;
};

float loadShared(uint32_t at) {
  return *reinterpret_cast<const FP8C_SHARED float *>(uintptr_t(at));
}

/// `IsPromoted`: sums within a tile of K are added to others in f32 by
/// themselves, with the scales of that K where they change along K.
template <class Tiles, bool IsPromoted>
FP8C_INLINE void computeProduct(const ProductParams &p) {
  constexpr uint32_t kM = Tiles::kM, kN = Tiles::kN;
  constexpr uint32_t kThreads = Tiles::kThreads;
  // The tiles of all stages, then their scales.
  constexpr uint32_t kTiles = (kM + kN) * kTileBytes;
  constexpr uint32_t kScales = (kM + kN) * sizeof(float);
  constexpr uint32_t kScalesAt = kStages * kTiles;
  const uint32_t columns = uint32_t((p.n + kN - 1) / kN);
  const uint32_t rows = uint32_t((p.m + kM - 1) / kM);
  const uint32_t group = blockIndex() / (kRowsTogether * columns);
  const uint32_t inGroup = blockIndex() % (kRowsTogether * columns);
  const uint32_t left = rows - group * kRowsTogether;
  const uint32_t height = left < kRowsTogether ? left : kRowsTogether;
  const int64_t m0 = int64_t(group * kRowsTogether + inGroup % height) * kM;
  const int64_t n0 = int64_t(inGroup / height) * kN;
  const BatchOffsets base(p, blockIndexY());
  auto clip = [](int64_t count) {
    return count < 0x10000 ? uint32_t(count) : 0x10000u;
  };
  const TileReader<kM, kThreads, kSize> a(
      {static_cast<const uint8_t *>(p.a.data) +
           (base.a + m0 * p.a.rowStride) * kSize,
       p.a.rowStride * kSize, p.a.columnStride, p.k, clip(p.m - m0)});
  const TileReader<kN, kThreads, kSize> b(
      {static_cast<const uint8_t *>(p.b.data) +
           (base.b + n0 * p.b.columnStride) * kSize,
       p.b.columnStride * kSize, p.b.rowStride, p.k, clip(p.n - n0)});
  const ScaleReader<kM, kN, kThreads> scales(p, base, m0, n0);
  const bool isScaled = IsPromoted && p.segment < p.k;
  const uint32_t shared = sharedAddress(fp8rt_shared);
  const uint32_t tiles = uint32_t((p.k * kSize + kTileBytes - 1) / kTileBytes);
  const Tiles tile;

  auto read = [&](uint32_t index) __attribute__((always_inline)) {
    const uint32_t stage = index % kStages;
    if (index < tiles) {
      a.read(shared + stage * kTiles, index);
      b.read(shared + stage * kTiles + kM * kTileBytes, index);
      if (isScaled)
        scales.read(shared + kScalesAt + stage * kScales,
                    int64_t(index) * (kTileBytes / kSize));
    }
    commitCopies();
  };
  constexpr uint32_t kAhead = kStages - 1 - Tiles::kBehind;
#pragma unroll 1
  for (uint32_t i = 0; i < kAhead; ++i)
    read(i);
  const Factors<kM, kN> factors(shared + kScalesAt + kStages * kScales);
  factors.read(p, base, m0, n0, isScaled);
  typename Tiles::Sums sums = {};
#pragma unroll 1
  for (uint32_t i = 0; i < tiles; ++i) {
    waitForCopies<kAhead - 1>();
    Tiles::publish();
    // All have read the stage that is filled next.
    barrier();
    const uint32_t stage = i % kStages;
    const uint32_t left = shared + stage * kTiles;
    if constexpr (IsPromoted) {
      typename Tiles::Sums part = {};
      tile.multiplyTiles(part, left, left + kM * kTileBytes);
      read(i + kAhead);
      tile.template settle<0>();
      const uint32_t scale = shared + kScalesAt + stage * kScales;
      if (isScaled)
        tile.forEach(part, [&](float &value, uint32_t row, uint32_t column)
                               __attribute__((always_inline)) {
                                 value *= loadShared(scale + row * 4) *
                                          loadShared(scale + (kM + column) * 4);
                               });
      tile.add(sums, part);
    } else {
      read(i + kAhead);
      tile.multiplyTiles(sums, left, left + kM * kTileBytes);
      tile.template settle<Tiles::kBehind>();
    }
  }
  tile.template settle<0>();
  waitForCopies<0>();
  barrier();

  // Through shared memory, so that rows are written in long pieces.
  constexpr uint32_t kPitch = kN + 8;
  static_assert(kM * kPitch * 4 <= kScalesAt);
  auto *results = reinterpret_cast<FP8C_SHARED float *>(uintptr_t(shared));
  tile.forEach(sums, [&](float &value, uint32_t row, uint32_t column)
                         __attribute__((always_inline)) {
                           results[row * kPitch + column] = value;
                         });
  barrier();
  constexpr uint32_t kUnits = kN / kResultUnit;
  static_assert(kThreads % kUnits == 0);
  const uint32_t column = threadIndex() % kUnits * kResultUnit;
  float columnScale[kResultUnit], bias[kResultUnit];
#pragma unroll
  for (uint32_t i = 0; i < kResultUnit; ++i) {
    columnScale[i] = factors.column[column + i];
    bias[i] = factors.bias[column + i];
  }
  ResultWriter writer(p, base, n0 + column);
#pragma unroll 1
  for (uint32_t row = threadIndex() / kUnits; row < kM;
       row += kThreads / kUnits) {
    const float rowScale = factors.row[row];
    float values[kResultUnit];
#pragma unroll
    for (uint32_t i = 0; i < kResultUnit; ++i) {
      values[i] = results[row * kPitch + column + i];
      if (!isScaled)
        values[i] *= rowScale * columnScale[i];
      if (p.bias.data)
        values[i] += bias[i];
    }
    writer.write(m0 + row, values);
  }
  writer.finish();
}

#ifdef FP8C_WARPGROUPS
using Large = Warpgroups<2, 128>;
using Small = Warpgroups<1, 64>;
#else
using Large = Warps<kA, Type::FP8C_B, 2, 4, 4, 4>;
using Small = Warps<kA, Type::FP8C_B, 2, 2, 2, 4>;
#endif
static_assert(Large::kM == kLargeTile && Large::kN == kLargeTile &&
              Large::kThreads == kLargeTileThreads && Small::kM == kSmallTile &&
              Small::kN == kSmallTile && Small::kThreads == kSmallTileThreads);

} // namespace

FP8C_KERNEL void fp8rt_tile_large(ProductParams p) {
  computeProduct<Large, false>(p);
}
FP8C_KERNEL void fp8rt_tile_large_promoted(ProductParams p) {
  computeProduct<Large, true>(p);
}
FP8C_KERNEL void fp8rt_tile_small(ProductParams p) {
  computeProduct<Small, false>(p);
}
FP8C_KERNEL void fp8rt_tile_small_promoted(ProductParams p) {
  computeProduct<Small, true>(p);
}
