//===- DotResult.h - Results of dot products to memory ----------*- C++ -*-===//
//
// Part of fp8c, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef FP8C_LIB_RUNTIME_CUDA_DEVICE_DOTRESULT_H
#define FP8C_LIB_RUNTIME_CUDA_DEVICE_DOTRESULT_H

#include "Batches.h"

namespace fp8c::rt::cuda {

/// `add(batch, index)` for each batch dim.
template <typename Add>
FP8C_INLINE void forBatches(const DotParams &p, const Add &add) {
  uint32_t batch = blockIndexY();
#pragma unroll 1
  for (uint32_t dim = p.batchRank; dim-- > 0;) {
    const uint32_t extent = p.batches[dim].extent;
    add(p.batches[dim], int64_t(batch % extent));
    batch /= extent;
  }
}

/// Out of line: few need it.
static __attribute__((noinline)) float decodeAny(Type type, uint32_t bits) {
  return load(type, &bits, 0);
}

/// What a result is multiplied with and what is added to it, asked for long
/// before they are needed.
class DotFactors {
public:
  FP8C_INLINE void ask(const DotParams &p, uint32_t m, int64_t n) {
    int64_t aAt = 0, bAt = 0, biasAt = 0;
    forBatches(p, [&](const DotBatch &of, int64_t i) {
      aAt += i * of.aScale;
      bAt += i * of.bScale;
      biasAt += i * of.bias;
    });
    if (p.aScale.data)
      a = askFor(p.aScale.type, p.aScale.data,
                 aAt + scaleOffset(m, p.aScale.block, p.aScale.stride));
    if (p.bScale.data)
      b = askFor(p.bScale.type, p.bScale.data,
                 bAt + scaleOffset(n, p.bScale.block, p.bScale.stride));
    if (p.bias.data)
      bias = askFor(p.bias.type, p.bias.data,
                    biasAt + m * p.bias.rowStride + n * p.bias.columnStride);
    if (p.resultScale)
      result = *p.resultScale;
  }

  /// Gives the bits of the magnitude before the result's scale.
  FP8C_INLINE uint32_t apply(const DotParams &p, float &value) const {
    const float aScale = p.aScale.data ? decode(p.aScale.type, a) : 1;
    const float bScale = p.bScale.data ? decode(p.bScale.type, b) : 1;
    value *= aScale * bScale;
    if (p.bias.data)
      value += decode(p.bias.type, bias);
    const uint32_t magnitude = asBits(value) & 0x7FFFFFFF;
    value *= result;
    return magnitude;
  }

private:
  /// The bits of an element; of F64 those of F32.
  static FP8C_INLINE uint32_t askFor(Type type, const void *data, int64_t at) {
    const uint8_t *from = static_cast<const uint8_t *>(data) + at;
    if (type == Type::F32)
      return *reinterpret_cast<const uint32_t *>(from);
    if (type == Type::BF16 || type == Type::F16)
      return *reinterpret_cast<const uint16_t *>(from);
    if (type == Type::F64)
      return asBits(float(*reinterpret_cast<const double *>(from)));
    return *from;
  }
  static FP8C_INLINE float decode(Type type, uint32_t bits) {
    if (type == Type::F32 || type == Type::F64)
      return asFloat(bits);
    if (type == Type::BF16)
      return decodeBF16(uint16_t(bits));
    return decodeAny(type, bits);
  }

  uint32_t a = 0, b = 0, bias = 0;
  float result = 1;
};

FP8C_INLINE void storeDot(const DotParams &p, uint32_t m, int64_t n,
                          float value) {
  int64_t at = m * p.d.rowStride + n * p.d.columnStride;
  forBatches(p, [&](const DotBatch &of, int64_t i) { at += i * of.d; });
  uint8_t *to = static_cast<uint8_t *>(const_cast<void *>(p.d.data)) + at;
  if (p.d.type == Type::BF16)
    *reinterpret_cast<uint16_t *>(to) = encodeBF16(value);
  else
    storeAny(p.d.type, to, 0, value, p.saturate);
}

} // namespace fp8c::rt::cuda

#endif // FP8C_LIB_RUNTIME_CUDA_DEVICE_DOTRESULT_H
