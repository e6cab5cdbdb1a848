//===- Decode.cpp - Decoding f8 weights -----------------------------------===//
//
// Part of fp8c, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Intrinsics.h"

using namespace fp8c::rt::cuda;

/// What one thread stores at once.
struct alignas(16) Decoded {
  uint16_t values[kDecodeUnit];
};

static uint16_t encodeHalf(Type type, float value) {
  return type == Type::BF16 ? encodeBF16(value) : encodeF16(value);
}

FP8C_KERNEL void fp8rt_decode(DecodeParams p) {
  const int64_t units = (p.k + kDecodeUnit - 1) / kDecodeUnit;
  const int64_t step = int64_t(blockCount()) * kDecodeThreads;
  const MatrixParams &scale = p.scale.scale;
  const bool isWide = p.b.rowStride == 1 && p.k % kDecodeUnit == 0 &&
                      p.b.columnStride % kDecodeUnit == 0 &&
                      uint64_t(p.b.data) % kDecodeUnit == 0;
  for (int64_t i = int64_t(blockIndex()) * kDecodeThreads + threadIndex();
       i < units * p.n; i += step) {
    const int64_t n = i / units, k0 = (i - n * units) * kDecodeUnit;
    const int64_t scaleAt = n / p.scale.columnBlock * scale.columnStride;
    const int64_t at = n * p.b.columnStride + k0 * p.b.rowStride;
    uint64_t codes = 0;
    if (isWide)
      codes = *reinterpret_cast<const uint64_t *>(
          static_cast<const uint8_t *>(p.b.data) + at);
    Decoded result;
#pragma unroll
    for (uint32_t j = 0; j < kDecodeUnit; ++j) {
      const int64_t k = k0 + j;
      if (k >= p.k)
        break;
      const uint8_t code = isWide
                               ? uint8_t(codes >> 8 * j)
                               : static_cast<const uint8_t *>(
                                     p.b.data)[at + int64_t(j) * p.b.rowStride];
      const float value =
          p.b.type == Type::E4M3FN ? decodeE4M3(code) : decodeE5M2(code);
      const int64_t row =
          scale.rowStride ? k / p.scale.rowBlock * scale.rowStride : 0;
      result.values[j] = encodeHalf(
          p.type, value * load(scale.type, scale.data, scaleAt + row));
      if (!isWide)
        static_cast<uint16_t *>(p.target)[n * p.k + k] = result.values[j];
    }
    if (isWide)
      *reinterpret_cast<Decoded *>(static_cast<uint16_t *>(p.target) + n * p.k +
                                   k0) = result;
  }
}
