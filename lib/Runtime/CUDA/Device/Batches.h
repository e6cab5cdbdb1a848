//===- Batches.h - Where a batch of a product begins ------------*- C++ -*-===//
//
// Part of fp8c, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef FP8C_LIB_RUNTIME_CUDA_DEVICE_BATCHES_H
#define FP8C_LIB_RUNTIME_CUDA_DEVICE_BATCHES_H

#include "Intrinsics.h"

namespace fp8c::rt::cuda {

/// Elements from the first of each operand to those of a batch.
struct BatchOffsets {
  int64_t a = 0, b = 0, d = 0, bias = 0, aScale = 0, bScale = 0, bDecode = 0;

  FP8C_INLINE BatchOffsets(const ProductParams &p, uint32_t batch) {
#pragma unroll 1
    for (uint32_t dim = p.batchRank; dim-- > 0;) {
      uint32_t extent = uint32_t(p.batchDims[dim]);
      int64_t index = batch % extent;
      batch /= extent;
      a += index * p.a.batchStrides[dim];
      b += index * p.b.batchStrides[dim];
      d += index * p.d.batchStrides[dim];
      bias += index * p.bias.batchStrides[dim];
      aScale += index * p.aScale.scale.batchStrides[dim];
      bScale += index * p.bScale.scale.batchStrides[dim];
      bDecode += index * p.bDecode.scale.batchStrides[dim];
    }
  }
};

/// Where the scale of an element is in one dim.
inline int64_t scaleOffset(int64_t index, int64_t block, int64_t stride) {
  return uint32_t(index) / uint32_t(block) * stride;
}

/// A scale; 1 where there is none.
FP8C_INLINE float loadScale(const MatrixParams &scale, int64_t index) {
  if (!scale.data)
    return 1;
  return scale.type == Type::F32 ? static_cast<const float *>(scale.data)[index]
                                 : loadAny(scale.type, scale.data, index);
}

/// The largest magnitude's bits of a warp to memory; those of NaN are above all
/// others.
inline void reduceAmax(uint32_t *slot, uint32_t bits) {
  for (int mask = 16; mask > 0; mask /= 2) {
    uint32_t other = __nvvm_shfl_sync_bfly_i32(0xFFFFFFFF, bits, mask, 0x1F);
    bits = other > bits ? other : bits;
  }
  if (threadIndex() % 32 == 0)
    __atomic_fetch_max(slot, bits, __ATOMIC_RELAXED);
}

} // namespace fp8c::rt::cuda

#endif // FP8C_LIB_RUNTIME_CUDA_DEVICE_BATCHES_H
