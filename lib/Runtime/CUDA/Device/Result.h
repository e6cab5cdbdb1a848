//===- Result.h - Rows of a product's result to memory ----------*- C++ -*-===//
//
// Part of fp8c, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef FP8C_LIB_RUNTIME_CUDA_DEVICE_RESULT_H
#define FP8C_LIB_RUNTIME_CUDA_DEVICE_RESULT_H

#include "Batches.h"
#include "TensorCore.h"

namespace fp8c::rt::cuda {

/// Neighbouring results of a row that a thread stores at once.
constexpr uint32_t kResultUnit = 8;

/// Scales, bias, amax, conversion: `kResultUnit` columns from `n0` on.
class ResultWriter {
public:
  /// `isScaled`: sums have their scales already.
  FP8C_INLINE ResultWriter(const ProductParams &p, const BatchOffsets &base,
                           int64_t n0, bool isScaled)
      : p(p), base(base), n0(n0), isScaled(isScaled) {
    const int64_t left = p.n - n0;
    count = left <= 0 ? 0 : left < kResultUnit ? uint32_t(left) : kResultUnit;
#pragma unroll
    for (uint32_t i = 0; i < kResultUnit; ++i) {
      const int64_t n = n0 + (i < count ? i : 0);
      columnScale[i] = 1;
      if (count && !isScaled)
        columnScale[i] =
            loadScale(p.bScale.scale,
                      base.bScale + scaleOffset(n, p.bScale.columnBlock,
                                                p.bScale.scale.columnStride));
      bias[i] = 0;
      if (count && p.bias.data && !p.bias.rowStride)
        bias[i] = loadAny(p.bias.type, p.bias.data,
                          base.bias + n * p.bias.columnStride);
    }
  }

  FP8C_INLINE void write(int64_t m, const float (&sums)[kResultUnit]) {
    if (m >= p.m || !count)
      return;
    float rowScale = 1;
    if (!isScaled)
      rowScale = loadScale(p.aScale.scale,
                           base.aScale + scaleOffset(m, p.aScale.rowBlock,
                                                     p.aScale.scale.rowStride));
    float values[kResultUnit];
#pragma unroll
    for (uint32_t i = 0; i < kResultUnit; ++i) {
      float value = sums[i];
      if (!isScaled)
        value *= rowScale * columnScale[i];
      if (p.bias.data)
        value += p.bias.rowStride && i < count
                     ? loadAny(p.bias.type, p.bias.data,
                               base.bias + m * p.bias.rowStride +
                                   (n0 + i) * p.bias.columnStride)
                     : bias[i];
      const uint32_t bits = asBits(value) & 0x7FFFFFFF;
      amax = i < count && bits > amax ? bits : amax;
      values[i] = p.resultScale ? value * *p.resultScale : value;
    }
    store(base.d + m * p.d.rowStride + n0 * p.d.columnStride, values);
  }

  /// By all threads of the warp.
  void finish() {
    if (p.amax)
      reduceAmax(p.amax, amax);
  }

private:
  FP8C_INLINE void store(int64_t at, const float (&values)[kResultUnit]) const {
    void *data = const_cast<void *>(p.d.data);
    const bool isHalf = p.d.type == Type::BF16 || p.d.type == Type::F16;
    if (isHalf && count == kResultUnit && p.d.columnStride == 1) {
      uint16_t *to = static_cast<uint16_t *>(data) + at;
      if (uint64_t(to) % kChunkBytes == 0) {
        Chunk chunk;
#pragma unroll
        for (uint32_t i = 0; i < 4; ++i) {
          const float low = values[2 * i], high = values[2 * i + 1];
          chunk[i] = p.d.type == Type::BF16
                         ? encodeBF16(low) | uint32_t(encodeBF16(high)) << 16
                         : encodeF16(low) | uint32_t(encodeF16(high)) << 16;
        }
        *reinterpret_cast<Chunk *>(to) = chunk;
        return;
      }
    }
#pragma unroll
    for (uint32_t i = 0; i < kResultUnit; ++i)
      if (i < count)
        storeAny(p.d.type, data, at + i * p.d.columnStride, values[i],
                 p.saturate);
  }

  const ProductParams &p;
  const BatchOffsets &base;
  int64_t n0;
  bool isScaled;
  uint32_t count, amax = 0;
  float columnScale[kResultUnit], bias[kResultUnit];
};

} // namespace fp8c::rt::cuda

#endif // FP8C_LIB_RUNTIME_CUDA_DEVICE_RESULT_H
