//===- Attention.cpp - Attention of any sizes, strides and types ----------===//
//
// Part of fp8c, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Intrinsics.h"

using namespace fp8c::rt::cuda;

/// Results that a lane keeps at a time; longer value rows take several passes.
static constexpr uint32_t kLaneValues = 8;

static float warpMax(float value) {
  for (int mask = 16; mask > 0; mask /= 2) {
    float other = shuffleXor(value, mask);
    value = other > value ? other : value;
  }
  return value;
}

static float warpSum(float value) {
  for (int mask = 16; mask > 0; mask /= 2)
    value += shuffleXor(value, mask);
  return value;
}

/// exp(x) for x <= 0, NaN for NaN.
static float expNegative(float x) {
  return x < -87.3f ? 0.0f : __builtin_exp2f(x * 0x1.715476p0f);
}

/// softmax(scale * Q x K^T + mask) x V, all in f32 with one rounding. A warp
/// takes one query; its lanes take one key each, then one value column each.
FP8C_KERNEL void fp8rt_attention(AttentionParams p) {
  extern FP8C_SHARED float fp8rt_queries[];
  const float masked = asFloat(0xFF800000);
  uint32_t lane = threadIndex() % 32;
  int64_t item = int64_t(blockIndex()) * kAttentionQueries + threadIndex() / 32;
  if (item >= p.batches * p.heads * p.queries)
    return;
  int64_t row = item % p.queries, head = item / p.queries % p.heads;
  int64_t batch = item / p.queries / p.heads, kvHead = head / p.group;
  auto at = [](const AttentionOperand &o, int64_t b, int64_t h, int64_t r) {
    return b * o.strides[0] + h * o.strides[1] + r * o.strides[2];
  };
  FP8C_SHARED float *query = fp8rt_queries + threadIndex() / 32 * p.headDim;
  for (int64_t d = lane; d < p.headDim; d += 32)
    query[d] = load(p.query.type, p.query.data,
                    at(p.query, batch, head, row) + d * p.query.strides[3]);
  __nvvm_bar_warp_sync(0xFFFFFFFF);
  int64_t end = p.causal && row + 1 < p.keys ? row + 1 : p.keys;

  auto score = [&](int64_t key) {
    if (key >= end)
      return masked;
    int64_t base = at(p.key, batch, kvHead, key);
    float sum = 0;
    for (int64_t d = 0; d < p.headDim; ++d)
      sum = __builtin_fmaf(
          query[d], load(p.key.type, p.key.data, base + d * p.key.strides[3]),
          sum);
    sum *= p.scale;
    if (p.mask.data) {
      float mask = load(p.mask.type, p.mask.data,
                        at(p.mask, batch, head, row) + key * p.mask.strides[3]);
      sum = p.mask.type != Type::Bool ? sum + mask : mask != 0 ? sum : masked;
    }
    return sum;
  };

  for (int64_t first = 0; first == 0 || first < p.valueDim;
       first += 32 * kLaneValues) {
    float max = masked, total = 0, out[kLaneValues] = {};
    for (int64_t key0 = 0; key0 < end; key0 += 32) {
      float mine = score(key0 + lane);
      float best = warpMax(mine);
      float next = best > max ? best : max;
      // While all keys are masked there is no maximum to subtract; 0 makes
      // every exponential 0 (and keeps NaN).
      float base = next == masked ? 0.0f : next;
      float weight = key0 + lane < end ? expNegative(mine - base) : 0.0f;
      float carry = max == next ? 1.0f : expNegative(max - next);
      total = total * carry + warpSum(weight);
#pragma unroll
      for (uint32_t i = 0; i < kLaneValues; ++i)
        out[i] *= carry;
      max = next;
      int64_t keys = end - key0 < 32 ? end - key0 : 32;
      for (int64_t j = 0; j < keys; ++j) {
        float w = shuffle(weight, int(j));
        int64_t at0 = at(p.value, batch, kvHead, key0 + j);
#pragma unroll
        for (uint32_t i = 0; i < kLaneValues; ++i) {
          int64_t d = first + 32 * i + lane;
          if (d < p.valueDim)
            out[i] = __builtin_fmaf(
                w,
                load(p.value.type, p.value.data, at0 + d * p.value.strides[3]),
                out[i]);
        }
      }
    }
#pragma unroll
    for (uint32_t i = 0; i < kLaneValues; ++i) {
      int64_t d = first + 32 * i + lane;
      if (d < p.valueDim)
        store(p.out.type, const_cast<void *>(p.out.data),
              at(p.out, batch, head, row) + d * p.out.strides[3],
              total == 0 ? 0.0f : out[i] / total, true);
    }
  }
}
