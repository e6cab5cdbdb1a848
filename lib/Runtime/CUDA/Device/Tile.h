//===- Tile.h - Rows of an operand in shared memory -------------*- C++ -*-===//
//
// Part of fp8c, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A tile holds 128 bytes of K of each of its rows, one row after another. Chunk
// c of row r lies at chunk c ^ (r % 8): the swizzle of 128 bytes, in which
// ldmatrix and wgmma read without bank conflicts. What is beyond K or the last
// row is 0.
//
//===----------------------------------------------------------------------===//

#ifndef FP8C_LIB_RUNTIME_CUDA_DEVICE_TILE_H
#define FP8C_LIB_RUNTIME_CUDA_DEVICE_TILE_H

#include "TensorCore.h"

namespace fp8c::rt::cuda {

constexpr uint32_t kTileBytes = 128;
constexpr uint32_t kTileChunks = kTileBytes / kChunkBytes;

/// Where a chunk lies in a tile.
inline uint32_t tileOffset(uint32_t row, uint32_t chunk) {
  return row * kTileBytes + (chunk ^ row % 8) * kChunkBytes;
}

/// 16 bytes from any address; those outside [begin, end) are not read and 0.
inline Chunk loadUnaligned(const uint8_t *at, const uint8_t *begin,
                           const uint8_t *end) {
  const uint32_t shift = uint32_t(uintptr_t(at)) % 4;
  const uint8_t *word = at - shift;
  uint32_t words[5];
#pragma unroll
  for (uint32_t i = 0; i < 5; ++i, word += 4) {
    words[i] = 0;
    if (word >= begin && word + 4 <= end) {
      words[i] = *reinterpret_cast<const uint32_t *>(word);
      continue;
    }
#pragma unroll 1
    for (uint32_t j = 0; j < 4; ++j)
      if (word + j >= begin && word + j < end)
        words[i] |= uint32_t(word[j]) << 8 * j;
  }
  Chunk result;
#pragma unroll
  for (uint32_t i = 0; i < 4; ++i)
    result[i] = __builtin_elementwise_fshr(words[i + 1], words[i], 8 * shift);
  return result;
}

inline void storeChunk(uint32_t at, Chunk chunk) {
  *reinterpret_cast<FP8C_SHARED Chunk *>(uintptr_t(at)) = chunk;
}

/// An operand of elements of `Size` bytes as rows along K.
struct Rows {
  const uint8_t *first;
  int64_t rowBytes;
  /// In elements.
  int64_t kStride, k;
  uint32_t count;
};

/// A tile, from byte `offset` of K on, of rows along K that begin anywhere.
template <uint32_t Height, uint32_t Threads, uint32_t Size>
__attribute__((noinline)) void readContiguous(Rows rows, uint32_t tile,
                                              int64_t offset) {
#pragma unroll 2
  for (uint32_t i = threadIndex(); i < Height * kTileChunks; i += Threads) {
    const uint32_t row = i / kTileChunks, chunk = i % kTileChunks;
    const uint8_t *begin = rows.first + row * rows.rowBytes;
    storeChunk(tile + tileOffset(row, chunk),
               row < rows.count
                   ? loadUnaligned(begin + offset + chunk * kChunkBytes, begin,
                                   begin + rows.k * Size)
                   : Chunk(0));
  }
}

/// The same for any strides: neighbouring threads read neighbouring rows.
template <uint32_t Height, uint32_t Threads, uint32_t Size>
__attribute__((noinline)) void readStrided(Rows rows, uint32_t tile,
                                           int64_t offset) {
  constexpr uint32_t kPerWord = 4 / Size;
#pragma unroll 1
  for (uint32_t i = threadIndex(); i < Height * kTileChunks; i += Threads) {
    const uint32_t row = i % Height, chunk = i / Height;
    const int64_t k0 = (offset + chunk * kChunkBytes) / Size;
    const int64_t left = row < rows.count ? rows.k - k0 : 0;
    const uint8_t *at =
        rows.first + row * rows.rowBytes + k0 * rows.kStride * Size;
    Chunk value = 0;
#pragma unroll
    for (uint32_t j = 0; j < kChunkBytes / Size; ++j) {
      uint32_t bits = 0;
      if (j < left)
        bits = Size == 1 ? *at : *reinterpret_cast<const uint16_t *>(at);
      value[j / kPerWord] |= bits << j % kPerWord * 8 * Size;
      at += rows.kStride * Size;
    }
    storeChunk(tile + tileOffset(row, chunk), value);
  }
}

/// Reads an operand, tile by tile along K, by a block of `Threads`.
template <uint32_t Height, uint32_t Threads, uint32_t Size> class TileReader {
public:
  FP8C_INLINE explicit TileReader(const Rows &rows)
      : rows(rows),
        mine(rows.first + row() * rows.rowBytes + chunk() * kChunkBytes),
        isAligned(rows.kStride == 1 &&
                  (uint64_t(rows.first) | uint64_t(rows.rowBytes)) %
                          kChunkBytes ==
                      0) {}

  /// Begins to copy a tile to shared memory: it is there for all threads after
  /// waitForCopies() and a barrier.
  FP8C_INLINE void read(uint32_t tile, uint32_t index) const {
    const int64_t offset = int64_t(index) * kTileBytes;
    // A copy of less than a chunk would touch all of it.
    const bool isCut =
        rows.k * Size % kChunkBytes && offset + kTileBytes > rows.k * Size;
    if (!isAligned || isCut) {
      if (rows.kStride == 1)
        readContiguous<Height, Threads, Size>(rows, tile, offset);
      else
        readStrided<Height, Threads, Size>(rows, tile, offset);
      return;
    }
    const uint32_t bytes =
        offset + chunk() * kChunkBytes < rows.k * Size ? kChunkBytes : 0;
    const uint32_t to = tile + tileOffset(row(), chunk());
#pragma unroll
    for (uint32_t i = 0; i < Height; i += kRowsAtOnce)
      copyChunk(to + i * kTileBytes, mine + offset + i * rows.rowBytes,
                row() + i < rows.count ? bytes : 0);
  }

private:
  static constexpr uint32_t kRowsAtOnce = Threads / kTileChunks;
  static_assert(kRowsAtOnce % 8 == 0 && Height % kRowsAtOnce == 0);
  static uint32_t row() { return threadIndex() / kTileChunks; }
  static uint32_t chunk() { return threadIndex() % kTileChunks; }

  const Rows rows;
  const uint8_t *mine;
  const bool isAligned;
};

} // namespace fp8c::rt::cuda

#endif // FP8C_LIB_RUNTIME_CUDA_DEVICE_TILE_H
