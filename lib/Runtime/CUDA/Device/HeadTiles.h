//===- HeadTiles.h - Rows of attention in shared memory ---------*- C++ -*-===//
//
// Part of fp8c, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef FP8C_LIB_RUNTIME_CUDA_DEVICE_HEADTILES_H
#define FP8C_LIB_RUNTIME_CUDA_DEVICE_HEADTILES_H

#include "TensorCore.h"

namespace fp8c::rt::cuda {

/// Rows of a tile in shared memory: chunk c of row r lies at c ^ r % 8, so that
/// equal chunks of 8 rows are in different banks.
template <uint32_t D> struct Rows {
  static constexpr uint32_t kBytes = getFlashPitch(D);
  static constexpr uint32_t kChunks = kBytes / kChunkBytes;
  static constexpr uint32_t offset(uint32_t row, uint32_t chunk) {
    return row * kBytes + (chunk ^ row % 8) * kChunkBytes;
  }
};

/// Copies rows [row0, row0 + Count) of a head; what is outside is 0. In whole
/// chunks, or element by element of any strides.
template <uint32_t D, uint32_t Count, uint32_t Threads, bool IsChunked>
FP8C_INLINE void copyRows(uint32_t tile, const AttentionOperand &operand,
                          int64_t base, int32_t row0, int32_t rows,
                          int32_t headDim) {
  const uint16_t *data = static_cast<const uint16_t *>(operand.data) + base;
  constexpr uint32_t kChunks = Rows<D>::kChunks;
  static_assert(Threads % kChunks == 0);
  const int32_t d = threadIndex() % kChunks * 8;
  const int32_t first = threadIndex() / kChunks;
  if (d >= int32_t(D))
    return;
#pragma unroll(IsChunked ? Count *kChunks / Threads : 1)
  for (int32_t i = 0; i < int32_t(Count * kChunks / Threads); ++i) {
    int32_t row = first + i * int32_t(Threads / kChunks);
    uint32_t to = tile + Rows<D>::offset(row, d / 8);
    bool isInside = row0 + row < rows && d < headDim;
    const uint16_t *from =
        isInside ? data + (row0 + row) * operand.strides[2] : data;
    if constexpr (IsChunked) {
      copyChunk(to, isInside ? from + d : from, isInside ? kChunkBytes : 0);
      continue;
    }
    Chunk chunk = 0;
#pragma unroll
    for (int32_t e = 0; e < 8; ++e)
      if (isInside && d + e < headDim)
        chunk[e / 2] |= uint32_t(from[(d + e) * operand.strides[3]])
                        << e % 2 * 16;
    asm volatile("st.shared.v4.b32 [%0], {%1,%2,%3,%4};"
                 :
                 : "r"(to), "r"(chunk[0]), "r"(chunk[1]), "r"(chunk[2]),
                   "r"(chunk[3])
                 : "memory");
  }
}

} // namespace fp8c::rt::cuda

#endif // FP8C_LIB_RUNTIME_CUDA_DEVICE_HEADTILES_H
