//===- Pad.cpp - Rows with zeros at their ends ----------------------------===//
//
// Part of fp8c, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Tile.h"

using namespace fp8c::rt::cuda;

/// 16 bytes of a row of elements any stride apart, from element `k` on.
template <typename T>
static Chunk gather(const PadParams &p, int64_t row, int64_t k) {
  constexpr uint32_t kPerWord = 4 / sizeof(T);
  const int64_t left = row < p.rows ? p.columns - k : 0;
  const T *at = static_cast<const T *>(p.source.data) +
                row * p.source.rowStride + k * p.source.columnStride;
  Chunk chunk = 0;
#pragma unroll
  for (uint32_t j = 0; j < kChunkBytes / sizeof(T); ++j)
    if (j < left)
      chunk[j / kPerWord] |= uint32_t(at[j * p.source.columnStride])
                             << j % kPerWord * 8 * sizeof(T);
  return chunk;
}

FP8C_KERNEL void fp8rt_pad(PadParams p) {
  const uint64_t chunks = uint64_t(p.rowBytes) / kChunkBytes;
  const uint64_t units = chunks * uint64_t(p.targetRows);
  const uint64_t step = uint64_t(blockCount()) * kPadThreads;
  const bool isContiguous = p.source.columnStride == 1;
  for (uint64_t i = uint64_t(blockIndex()) * kPadThreads + threadIndex();
       i < units; i += step) {
    // Neighbouring threads read along rows, or neighbouring rows.
    const int64_t row = int64_t(isContiguous ? i / chunks : i % p.targetRows);
    const int64_t chunk = int64_t(isContiguous ? i % chunks : i / p.targetRows);
    const int64_t k = chunk * kChunkBytes / p.size;
    Chunk value = 0;
    if (isContiguous && row < p.rows) {
      const uint8_t *begin = static_cast<const uint8_t *>(p.source.data) +
                             row * p.source.rowStride * p.size;
      value = loadUnaligned(begin + chunk * kChunkBytes, begin,
                            begin + p.columns * p.size);
    } else if (!isContiguous) {
      value = p.size == 1   ? gather<uint8_t>(p, row, k)
              : p.size == 2 ? gather<uint16_t>(p, row, k)
                            : gather<uint32_t>(p, row, k);
    }
    *reinterpret_cast<Chunk *>(static_cast<uint8_t *>(p.target) +
                               row * p.rowBytes + chunk * kChunkBytes) = value;
  }
}
