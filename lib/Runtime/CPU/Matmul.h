//===- Matmul.h - Products on the CPU ---------------------------*- C++ -*-===//
//
// Part of fp8c, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef FP8C_LIB_RUNTIME_CPU_MATMUL_H
#define FP8C_LIB_RUNTIME_CPU_MATMUL_H

#include "../Operations.h"

namespace fp8c::rt {

/// A product at fixed sizes. The result is cut into fixed tiles (which depend
/// on the sizes alone); a tile is one task and runs on one thread, so the
/// number of threads changes no byte. Operands are decoded to f32 tiles,
/// exactly but where scales of blocks of K are multiplied in, and multiplied by
/// the serial BLAS; K is summed in chunks.
class Matmul {
public:
  /// Of operands that checkMatmul has checked.
  Matmul(const MatmulArgs &args, const ProductSizes &sizes);

  /// Tiles of the result.
  int64_t tasks() const { return batches * mTiles * nTiles; }
  /// Bytes that a running tile needs.
  int64_t scratchBytes() const;
  /// Before the tiles: sets the amax to 0.
  void begin() const;
  /// Computes tiles [first, last).
  void run(int64_t first, int64_t last, void *scratch) const;

private:
  struct Tile;
  void runTile(int64_t task, float *scratch) const;
  void multiply(const Tile &tile) const;
  void finish(const Tile &tile) const;

  MatmulArgs args;
  int64_t batches, mSize, nSize, kSize;
  int64_t mTile, nTile, mTiles, nTiles;
};

} // namespace fp8c::rt

#endif // FP8C_LIB_RUNTIME_CPU_MATMUL_H
