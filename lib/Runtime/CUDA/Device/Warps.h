//===- Warps.h - Multiplying tiles by mma.sync ------------------*- C++ -*-===//
//
// Part of fp8c, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef FP8C_LIB_RUNTIME_CUDA_DEVICE_WARPS_H
#define FP8C_LIB_RUNTIME_CUDA_DEVICE_WARPS_H

#include "Tile.h"

namespace fp8c::rt::cuda {

/// mma.sync: WarpRows x WarpColumns warps, each with Tall x Wide fragments.
template <Type A, Type B, uint32_t WarpRows, uint32_t WarpColumns,
          uint32_t Tall, uint32_t Wide>
class Warps {
public:
  static constexpr uint32_t kThreads = 32 * WarpRows * WarpColumns;
  static constexpr uint32_t kM = WarpRows * Tall * 16;
  static constexpr uint32_t kN = WarpColumns * Wide * 8;

  /// Tiles that may still be read after the next ones were multiplied.
  static constexpr uint32_t kBehind = 0;

  struct Sums {
    Fragment of[Tall][Wide];
  };

  FP8C_INLINE Warps()
      : lane(threadIndex() % 32),
        row0(threadIndex() / 32 / WarpColumns * Tall * 16),
        column0(threadIndex() / 32 % WarpColumns * Wide * 8) {}

  /// sums += a * b of tiles in shared memory.
  FP8C_INLINE void multiplyTiles(Sums &sums, uint32_t a, uint32_t b) const {
#pragma unroll
    for (uint32_t step = 0; step < kTileBytes / kStepBytes; ++step) {
      uint32_t left[Tall][4], right[Wide][2];
#pragma unroll
      for (uint32_t i = 0; i < Tall; ++i)
        loadMatrices(left[i], a + tileOffset(row0 + 16 * i + lane % 16,
                                             2 * step + lane / 16));
#pragma unroll
      for (uint32_t j = 0; j < Wide; j += 2) {
        uint32_t r[4];
        loadMatrices(r,
                     b + tileOffset(column0 + 8 * j + lane / 16 * 8 + lane % 8,
                                    2 * step + lane / 8 % 2));
        right[j][0] = r[0];
        right[j][1] = r[1];
        right[j + 1][0] = r[2];
        right[j + 1][1] = r[3];
      }
#pragma unroll
      for (uint32_t i = 0; i < Tall; ++i)
#pragma unroll
        for (uint32_t j = 0; j < Wide; ++j)
          multiply<A, B>(sums.of[i][j], left[i], right[j][0], right[j][1]);
    }
  }

  /// What the thread wrote to shared memory is there for multiplyTiles() of all
  /// after a barrier.
  static void publish() {}
  /// Waits until the sums of all multiplied tiles but the last `Left` are
  /// there.
  template <uint32_t Left> static void settle() {}

  FP8C_INLINE void add(Sums &sums, const Sums &part) const {
#pragma unroll
    for (uint32_t i = 0; i < Tall; ++i)
#pragma unroll
      for (uint32_t j = 0; j < Wide; ++j)
#pragma unroll
        for (uint32_t c = 0; c < 4; ++c)
          sums.of[i][j].c[c] += part.of[i][j].c[c];
  }

  /// Calls visit(sum, row, column) for each of the thread's sums.
  template <typename Fn> FP8C_INLINE void forEach(Sums &sums, Fn visit) const {
#pragma unroll
    for (uint32_t i = 0; i < Tall; ++i)
#pragma unroll
      for (uint32_t j = 0; j < Wide; ++j)
#pragma unroll
        for (uint32_t c = 0; c < 4; ++c)
          visit(sums.of[i][j].c[c], row0 + 16 * i + c / 2 * 8 + lane / 4,
                column0 + 8 * j + lane % 4 * 2 + c % 2);
  }

private:
  uint32_t lane, row0, column0;
};

} // namespace fp8c::rt::cuda

#endif // FP8C_LIB_RUNTIME_CUDA_DEVICE_WARPS_H
