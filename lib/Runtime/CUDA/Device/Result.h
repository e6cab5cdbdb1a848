//===- Result.h - A product's results to memory -----------------*- C++ -*-===//
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

/// One result to memory: its scales, unless the sum has them, bias, result
/// scale and conversion. Gives the bits of its magnitude, for an amax.
FP8C_INLINE uint32_t writeResult(const ProductParams &p,
                                 const BatchOffsets &base, int64_t m, int64_t n,
                                 float value, bool isScaled) {
  if (!isScaled)
    value *= loadScale(p.aScale.scale,
                       base.aScale + scaleOffset(m, p.aScale.rowBlock,
                                                 p.aScale.scale.rowStride)) *
             loadScale(p.bScale.scale,
                       base.bScale + scaleOffset(n, p.bScale.columnBlock,
                                                 p.bScale.scale.columnStride));
  if (p.bias.data)
    value +=
        loadAny(p.bias.type, p.bias.data,
                base.bias + m * p.bias.rowStride + n * p.bias.columnStride);
  const uint32_t magnitude = asBits(value) & 0x7FFFFFFF;
  if (p.resultScale)
    value *= *p.resultScale;
  storeAny(p.d.type, const_cast<void *>(p.d.data),
           base.d + m * p.d.rowStride + n * p.d.columnStride, value,
           p.saturate);
  return magnitude;
}

/// What each row and column of a tile of M x N results is multiplied with, and
/// what is added to each column, in shared memory.
template <uint32_t M, uint32_t N> struct Factors {
  FP8C_SHARED float *row, *column, *bias;

  FP8C_INLINE explicit Factors(uint32_t shared)
      : row(reinterpret_cast<FP8C_SHARED float *>(uintptr_t(shared))),
        column(row + M), bias(column + N) {}

  /// By M + N threads. `isScaled`: sums have their scales already.
  FP8C_INLINE void read(const ProductParams &p, const BatchOffsets &base,
                        int64_t m0, int64_t n0, bool isScaled) const {
    const uint32_t i = threadIndex();
    float scale = 1;
    if (i < M) {
      const MatrixParams &s = p.aScale.scale;
      if (!isScaled && m0 + i < p.m)
        scale =
            loadScale(s, base.aScale + scaleOffset(m0 + i, p.aScale.rowBlock,
                                                   s.rowStride));
      row[i] = scale;
      return;
    }
    const int64_t n = n0 + i - M;
    const MatrixParams &s = p.bScale.scale;
    float add = 0;
    if (n < p.n) {
      if (!isScaled)
        scale = loadScale(s, base.bScale + scaleOffset(n, p.bScale.columnBlock,
                                                       s.columnStride));
      if (p.bias.data && !p.bias.rowStride)
        add = loadAny(p.bias.type, p.bias.data,
                      base.bias + n * p.bias.columnStride);
    }
    column[i - M] = scale;
    bias[i - M] = add;
  }
};

/// Bias, amax, conversion of `kResultUnit` columns from `n0` on.
class ResultWriter {
public:
  FP8C_INLINE ResultWriter(const ProductParams &p, const BatchOffsets &base,
                           int64_t n0)
      : p(p), base(base), n0(n0),
        resultScale(p.resultScale ? *p.resultScale : 1.0f) {
    const int64_t left = p.n - n0;
    count = left <= 0 ? 0 : left < kResultUnit ? uint32_t(left) : kResultUnit;
    isWide = count == kResultUnit && p.d.columnStride == 1;
  }

  /// Of row `m`; `values` have their scales and biases of columns.
  FP8C_INLINE void write(int64_t m, float (&values)[kResultUnit]) {
    if (m >= p.m)
      return;
    if (p.bias.data && p.bias.rowStride)
#pragma unroll
      for (uint32_t i = 0; i < kResultUnit; ++i)
        if (i < count)
          values[i] += loadAny(p.bias.type, p.bias.data,
                               base.bias + m * p.bias.rowStride +
                                   (n0 + i) * p.bias.columnStride);
#pragma unroll
    for (uint32_t i = 0; i < kResultUnit; ++i) {
      const uint32_t bits = asBits(values[i]) & 0x7FFFFFFF;
      amax = i < count && bits > amax ? bits : amax;
      if (p.resultScale)
        values[i] *= resultScale;
    }
    store(base.d + m * p.d.rowStride + n0 * p.d.columnStride, values);
  }

  /// By all threads of the warp.
  FP8C_INLINE void finish() {
    if (p.amax)
      reduceAmax(p.amax, amax);
  }

private:
  FP8C_INLINE void store(int64_t at, const float (&values)[kResultUnit]) const {
    void *data = const_cast<void *>(p.d.data);
    if (isWide && (p.d.type == Type::BF16 || p.d.type == Type::F16)) {
      uint16_t *to = static_cast<uint16_t *>(data) + at;
      if (uint64_t(to) % kChunkBytes == 0) {
        Chunk chunk;
#pragma unroll
        for (uint32_t i = 0; i < 4; ++i)
          chunk[i] = p.d.type == Type::BF16
                         ? packBF16(values[2 * i], values[2 * i + 1])
                         : packF16(values[2 * i], values[2 * i + 1]);
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
  float resultScale;
  uint32_t count, amax = 0;
  bool isWide;
};

} // namespace fp8c::rt::cuda

#endif // FP8C_LIB_RUNTIME_CUDA_DEVICE_RESULT_H
