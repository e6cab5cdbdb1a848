//===- Kernels.h - Parameters of the runtime's own kernels ------*- C++ -*-===//
//
// Part of fp8c, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Shared by the host and by the kernels, which are compiled to PTX and kept in
// the runtime (Device/CMakeLists.txt). They do what libraries refuse: any
// sizes, strides, types and scales.
//
//===----------------------------------------------------------------------===//

#ifndef FP8C_LIB_RUNTIME_CUDA_DEVICE_KERNELS_H
#define FP8C_LIB_RUNTIME_CUDA_DEVICE_KERNELS_H

#include <stdint.h>

namespace fp8c::rt::cuda {

/// plan.fbs' float types and bool, numbered as there.
enum class Type : uint32_t {
  Bool = 0,
  F16 = 6,
  BF16,
  F32,
  F64,
  E4M3FN,
  E5M2,
  E8M0FNU
};

/// After merging, a tensor has at most so many dims.
constexpr uint32_t kMaxDims = 8;

/// A copy or, without a source, a fill. Sizes and strides in units of `size`
/// bytes (1, 2, 4, 8 or 16).
struct MoveParams {
  const void *source;
  void *target;
  uint64_t pattern;
  int64_t elements;
  uint32_t size;
  uint32_t rank;
  int64_t dims[kMaxDims];
  int64_t sourceStrides[kMaxDims];
  int64_t targetStrides[kMaxDims];
};
constexpr uint32_t kMoveThreads = 256;

/// A matrix of each batch: first element + batch[...] + row * rowStride + ...
struct MatrixParams {
  const void *data;
  Type type;
  int64_t rowStride;
  int64_t columnStride;
  /// Strides of the batch dims of `ProductParams`.
  int64_t batchStrides[kMaxDims];
};

/// Scales of an operand: one a block of rowBlock x columnBlock elements.
/// Absent: data is null.
struct ScaleParams {
  MatrixParams scale;
  int64_t rowBlock;
  int64_t columnBlock;
};

/// As plan.fbs' Matmul.
struct ProductParams {
  MatrixParams a, b, d, bias;
  ScaleParams aScale, bScale, bDecode;
  Type bDecodeType;
  const float *resultScale;
  uint32_t *amax;
  int64_t m, n, k;
  /// K extent over which no scale changes; k where none does.
  int64_t segment;
  uint32_t batchRank;
  int64_t batchDims[kMaxDims];
  uint32_t saturate;
};
/// One block computes a tile of the result.
constexpr uint32_t kProductTile = 64;
constexpr uint32_t kProductThreads = 256;

/// TileProduct.cpp: a block computes a tile of the result of one of two sizes;
/// so many stages of K, 128 bytes of each row and a scale, are in shared
/// memory.
constexpr uint32_t kLargeTile = 128;
constexpr uint32_t kLargeTileThreads = 256;
constexpr uint32_t kSmallTile = 64;
constexpr uint32_t kSmallTileThreads = 128;
constexpr uint32_t kWarpStages = 3;
constexpr uint32_t kWarpgroupStages = 6;
/// Bytes of shared memory of a block: stages, and a scale of each row, a scale
/// and a bias of each column.
constexpr uint32_t getTileShared(uint32_t stages, uint32_t tile) {
  return (stages * 2 * (128 + sizeof(float)) + 3 * sizeof(float)) * tile;
}

/// RowProduct.cpp: a block computes so many columns of up to 16 rows.
constexpr uint32_t kRowColumns = 16;
constexpr uint32_t kRowThreads = 256;
constexpr uint32_t kMostRows = 16;

/// DotProduct.cpp: up to 4 rows; a warp has so many columns, and takes so many
/// bytes of each in a turn. Two to the power of `sharing` warps have the same.
constexpr uint32_t kMostDotRows = 4;
constexpr uint32_t kDotThreads = 256;
constexpr uint32_t kDotColumns = 2;
constexpr uint32_t kDotTurnBytes = 2048;
constexpr uint32_t kMostDotSharing = 3;
/// Columns of a block whose warps share none.
constexpr uint32_t kDotBlockColumns = kDotColumns * kDotThreads / 32;

/// What of ProductParams dot products can have, in the order in which they need
/// it: each 64 bytes of parameters are a miss of their own. All strides are in
/// bytes.
struct DotScale {
  const void *data;
  int64_t stride;
  uint32_t block;
  Type type;
};
struct DotMatrix {
  const void *data;
  int64_t rowStride, columnStride;
  Type type;
};
struct DotBatch {
  int64_t a, b, aScale, bScale, bias, d;
  uint32_t extent;
};
struct DotParams {
  const void *a, *b;
  /// Of rows and of columns.
  int64_t aStride, bStride;
  int64_t n;
  /// Along K.
  uint32_t chunks;
  /// `sharing`: the logarithm of how many warps share columns.
  uint8_t m, sharing, batchRank, saturate;

  DotScale aScale, bScale;
  DotMatrix bias, d;
  const float *resultScale;
  uint32_t *amax;

  DotBatch batches[kMaxDims];
};
/// On sm_90 parameters begin 16 bytes behind a multiple of 64.
static_assert(__builtin_offsetof(DotParams, aScale) == 64 - 16 &&
                  __builtin_offsetof(DotParams, batches) == 3 * 64 - 16,
              "loops need one miss, results two more");

/// Weights of f8 to rows of `k` elements of F16 or BF16: target[n][k] = b[k][n]
/// times its scale, rounded.
struct DecodeParams {
  MatrixParams b;
  ScaleParams scale;
  Type type;
  void *target;
  int64_t k, n;
};
constexpr uint32_t kDecodeThreads = 256;
/// Elements that a thread decodes at once.
constexpr uint32_t kDecodeUnit = 8;

/// A matrix of elements of `size` (1, 2 or 4) bytes to rows of `rowBytes`, a
/// multiple of 16; what the source does not have is 0.
struct PadParams {
  MatrixParams source;
  int64_t rows, columns, size;
  void *target;
  int64_t targetRows, rowBytes;
};
constexpr uint32_t kPadThreads = 256;

/// As plan.fbs' Attention; strides of batch, head, row, element.
struct AttentionOperand {
  const void *data;
  Type type;
  int64_t strides[4];
};
struct AttentionParams {
  AttentionOperand query, key, value, out, mask;
  int64_t batches, heads, group, queries, keys, headDim, valueDim;
  float scale;
  uint32_t causal;
  /// Whether rows are whole chunks of 16 bytes, aligned to 16.
  uint32_t isChunked;
};
/// One warp computes one query; so many queries a block, whose head dims lie in
/// shared memory as f32.
constexpr uint32_t kAttentionQueries = 4;
constexpr uint32_t kAttentionThreads = 32 * kAttentionQueries;

/// MaskBias.cpp: a mask with its own batches, heads and queries, as a dense
/// tensor whose rows are `pitch` elements apart.
struct MaskBiasParams {
  AttentionOperand mask;
  int64_t batches, heads, queries, keys, pitch;
  void *bias;
  Type type;
  /// Of each row, whether the mask leaves no key.
  uint8_t *isEmpty;
  uint32_t causal;
};
struct ClearRowsParams {
  AttentionOperand out;
  int64_t batches, heads, queries, valueDim;
  const uint8_t *isEmpty;
  /// Of batch, head and query; 0 where the mask has one for all.
  int64_t emptyStrides[3];
};
constexpr uint32_t kMaskBiasThreads = 256;

/// FlashAttention.cpp, compiled for head dims of up to so many elements.
constexpr uint32_t kFlashWidths[] = {64, 96, 128, 256};
constexpr uint32_t kFlashThreads = 128;
/// Bytes between rows in shared memory.
constexpr uint32_t getFlashPitch(uint32_t width) {
  return width <= 64 ? 128 : width <= 128 ? 256 : 512;
}
/// Keys of a tile.
constexpr uint32_t getFlashKeys(uint32_t width) {
  return width <= 128 ? 64 : 32;
}
/// Queries of a block whose warps have `tall` times 16 of them.
constexpr uint32_t getFlashQueries(uint32_t tall) {
  return kFlashThreads / 32 * 16 * tall;
}
/// Shared memory of a block: queries, and two tiles of keys and values.
constexpr uint32_t getFlashBytes(uint32_t width, uint32_t tall) {
  return (getFlashQueries(tall) + 4 * getFlashKeys(width)) *
         getFlashPitch(width);
}

} // namespace fp8c::rt::cuda

#endif // FP8C_LIB_RUNTIME_CUDA_DEVICE_KERNELS_H
