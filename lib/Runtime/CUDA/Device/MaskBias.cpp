//===- MaskBias.cpp - Masks as numbers to add -----------------------------===//
//
// Part of fp8c, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Intrinsics.h"

using namespace fp8c::rt::cuda;

/// 0 or -Inf for a mask of booleans, numbers as they are. A row without a key
/// becomes 0 and is noted: a softmax over nothing but -Inf is NaN. A warp takes
/// a row.
FP8C_KERNEL void fp8rt_mask_bias(MaskBiasParams p) {
  const float masked = asFloat(0xFF800000);
  const uint32_t lane = threadIndex() % 32;
  const int64_t item =
      int64_t(blockIndex()) * (kMaskBiasThreads / 32) + threadIndex() / 32;
  if (item >= p.batches * p.heads * p.queries)
    return;
  const int64_t row = item % p.queries, head = item / p.queries % p.heads;
  const int64_t base = item / p.queries / p.heads * p.mask.strides[0] +
                       head * p.mask.strides[1] + row * p.mask.strides[2];
  auto bias = [&](int64_t key) {
    float value =
        load(p.mask.type, p.mask.data, base + key * p.mask.strides[3]);
    return p.mask.type != Type::Bool ? value : value != 0 ? 0.0f : masked;
  };
  const int64_t end = p.causal && row + 1 < p.keys ? row + 1 : p.keys;
  bool isSeen = false;
  for (int64_t key = lane; key < end; key += 32)
    isSeen |= bias(key) != masked;
  isSeen = __nvvm_vote_any_sync(0xFFFFFFFF, isSeen);
  for (int64_t key = lane; key < p.pitch; key += 32)
    store(p.type, p.bias, item * p.pitch + key,
          key >= p.keys ? masked
          : isSeen      ? bias(key)
                        : 0.0f,
          false);
  if (lane == 0)
    p.isEmpty[item] = !isSeen;
}

/// Rows of the result without a key become 0. A thread takes a row.
FP8C_KERNEL void fp8rt_clear_rows(ClearRowsParams p) {
  const int64_t item = int64_t(blockIndex()) * kMaskBiasThreads + threadIndex();
  if (item >= p.batches * p.heads * p.queries)
    return;
  const int64_t row = item % p.queries, head = item / p.queries % p.heads;
  const int64_t batch = item / p.queries / p.heads;
  if (!p.isEmpty[batch * p.emptyStrides[0] + head * p.emptyStrides[1] +
                 row * p.emptyStrides[2]])
    return;
  uint16_t *to = static_cast<uint16_t *>(const_cast<void *>(p.out.data)) +
                 batch * p.out.strides[0] + head * p.out.strides[1] +
                 row * p.out.strides[2];
  for (int64_t d = 0; d < p.valueDim; ++d)
    to[d * p.out.strides[3]] = 0;
}
