//===- Product.cpp - Products of any sizes, strides, types and scales -----===//
//
// Part of fp8c, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Batches.h"

using namespace fp8c::rt::cuda;

static constexpr uint32_t kDepth = 16;
/// Each thread has 4 x 4 results.
static constexpr uint32_t kSide = 4;

FP8C_KERNEL void fp8rt_product(ProductParams p) {
  static FP8C_SHARED float aTile[kDepth][kProductTile + 1];
  static FP8C_SHARED float bTile[kDepth][kProductTile + 1];
  static FP8C_SHARED float dTile[kProductTile][kProductTile + 1];
  uint32_t columns = uint32_t((p.n + kProductTile - 1) / kProductTile);
  int64_t m0 = int64_t(blockIndex() / columns) * kProductTile;
  int64_t n0 = int64_t(blockIndex() % columns) * kProductTile;
  uint32_t thread = threadIndex();
  uint32_t row0 = thread / 16 * kSide, column0 = thread % 16 * kSide;
  const BatchOffsets base(p, blockIndexY());
  // Rows and columns past the end have no scales; their results go nowhere.
  int64_t aScaleAt[kSide], bScaleAt[kSide];
#pragma unroll
  for (uint32_t i = 0; i < kSide; ++i) {
    int64_t m = m0 + row0 + i, n = n0 + column0 + i;
    aScaleAt[i] = base.aScale + scaleOffset(m < p.m ? m : 0, p.aScale.rowBlock,
                                            p.aScale.scale.rowStride);
    bScaleAt[i] =
        base.bScale + scaleOffset(n < p.n ? n : 0, p.bScale.columnBlock,
                                  p.bScale.scale.columnStride);
  }

  float sum[kSide][kSide] = {};
  for (int64_t s0 = 0; s0 < p.k; s0 += p.segment) {
    int64_t s1 = s0 + p.segment < p.k ? s0 + p.segment : p.k;
    float part[kSide][kSide] = {};
    for (int64_t k0 = s0; k0 < s1; k0 += kDepth) {
#pragma unroll 1
      for (uint32_t i = thread; i < kDepth * kProductTile;
           i += kProductThreads) {
        // Neighbouring threads read along K or along the rows, whichever is
        // contiguous.
        bool alongK = p.a.columnStride == 1;
        uint32_t k = alongK ? i % kDepth : i / kProductTile;
        uint32_t m = alongK ? i / kDepth : i % kProductTile;
        float value = 0;
        if (m0 + m < p.m && k0 + k < s1)
          value = load(p.a.type, p.a.data,
                       base.a + (m0 + m) * p.a.rowStride +
                           (k0 + k) * p.a.columnStride);
        aTile[k][m] = value;
      }
#pragma unroll 1
      for (uint32_t i = thread; i < kDepth * kProductTile;
           i += kProductThreads) {
        bool alongK = p.b.rowStride == 1;
        uint32_t k = alongK ? i % kDepth : i / kProductTile;
        uint32_t n = alongK ? i / kDepth : i % kProductTile;
        float value = 0;
        if (n0 + n < p.n && k0 + k < s1) {
          value = load(p.b.type, p.b.data,
                       base.b + (k0 + k) * p.b.rowStride +
                           (n0 + n) * p.b.columnStride);
          const MatrixParams &scale = p.bDecode.scale;
          if (scale.data)
            value = roundTo(
                p.bDecodeType,
                value * load(scale.type, scale.data,
                             base.bDecode +
                                 scaleOffset(k0 + k, p.bDecode.rowBlock,
                                             scale.rowStride) +
                                 scaleOffset(n0 + n, p.bDecode.columnBlock,
                                             scale.columnStride)));
        }
        bTile[k][n] = value;
      }
      barrier();
#pragma unroll
      for (uint32_t k = 0; k < kDepth; ++k)
#pragma unroll
        for (uint32_t i = 0; i < kSide; ++i)
#pragma unroll
          for (uint32_t j = 0; j < kSide; ++j)
            part[i][j] = __builtin_fmaf(aTile[k][row0 + i],
                                        bTile[k][column0 + j], part[i][j]);
      barrier();
    }
    float aScale[kSide], bScale[kSide];
    int64_t aStep =
        scaleOffset(s0, p.aScale.columnBlock, p.aScale.scale.columnStride);
    int64_t bStep =
        scaleOffset(s0, p.bScale.rowBlock, p.bScale.scale.rowStride);
#pragma unroll
    for (uint32_t i = 0; i < kSide; ++i) {
      aScale[i] = p.aScale.scale.data
                      ? load(p.aScale.scale.type, p.aScale.scale.data,
                             aScaleAt[i] + aStep)
                      : 1.0f;
      bScale[i] = p.bScale.scale.data
                      ? load(p.bScale.scale.type, p.bScale.scale.data,
                             bScaleAt[i] + bStep)
                      : 1.0f;
    }
#pragma unroll
    for (uint32_t i = 0; i < kSide; ++i)
#pragma unroll
      for (uint32_t j = 0; j < kSide; ++j)
        sum[i][j] += aScale[i] * bScale[j] * part[i][j];
  }
#pragma unroll
  for (uint32_t i = 0; i < kSide; ++i)
#pragma unroll
    for (uint32_t j = 0; j < kSide; ++j)
      dTile[row0 + i][column0 + j] = sum[i][j];
  barrier();

  uint32_t amax = 0;
#pragma unroll 1
  for (uint32_t i = thread; i < kProductTile * kProductTile;
       i += kProductThreads) {
    int64_t m = m0 + i / kProductTile, n = n0 + i % kProductTile;
    if (m >= p.m || n >= p.n)
      continue;
    float value = dTile[i / kProductTile][i % kProductTile];
    if (p.bias.data)
      value += load(p.bias.type, p.bias.data,
                    base.bias + m * p.bias.rowStride + n * p.bias.columnStride);
    uint32_t bits = asBits(value) & 0x7FFFFFFF;
    amax = bits > amax ? bits : amax;
    if (p.resultScale)
      value *= *p.resultScale;
    store(p.d.type, const_cast<void *>(p.d.data),
          base.d + m * p.d.rowStride + n * p.d.columnStride, value, p.saturate);
  }
  if (p.amax)
    reduceAmax(p.amax, amax);
}
