//===- Matmul.cpp - Products on the CPU -----------------------------------===//
//
// Part of fp8c, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Matmul.h"

#include "Clones.h"
#include "Convert.h"

#include <algorithm>
#include <atomic>
#include <cblas.h>
#include <cmath>
#include <cstring>

using namespace fp8c::rt;

/// K elements that are summed in one go, as many as MKL takes (PyTorch's sums
/// on x86-64-v3). Short chunks keep the error of long one-signed sums small,
/// and a tile of B in the second-level cache.
static constexpr int64_t kChunk = 192;
static constexpr int64_t kTileM = 128;

//===----------------------------------------------------------------------===//
// Access to operands
//===----------------------------------------------------------------------===//

static const char *address(const Tensor &t, int64_t element) {
  return t.data + element * elementSize(t.dtype);
}

namespace {
/// The scales of an operand: indexed by blocks of its last two dims.
struct Scale {
  const Tensor *tensor = nullptr;
  int64_t base = 0;
  int64_t stride0 = 0, stride1 = 0;
  int64_t block0 = 1, block1 = 1;

  Scale() = default;
  Scale(const Tensor *t, const Tensor &d, int64_t batch, int64_t block0,
        int64_t block1)
      : tensor(t), block0(std::max<int64_t>(block0, 1)),
        block1(std::max<int64_t>(block1, 1)) {
    if (!t || t->elements == 1)
      return;
    base = getBatchOffset(*t, d, batch);
    stride0 = strideFromLast(*t, 1);
    stride1 = strideFromLast(*t, 0);
  }
  /// The scale of an element; 1 without scales.
  float get(int64_t i0, int64_t i1) const {
    if (!tensor)
      return 1;
    int64_t at = base;
    if (stride0)
      at += i0 / block0 * stride0;
    if (stride1)
      at += i1 / block1 * stride1;
    return decodeOne(tensor->dtype, tensor->data, at);
  }
};

/// A piece of an operand as the BLAS takes it.
struct Panel {
  const float *data;
  int64_t ld;
  bool transposed;
};
} // namespace

/// Multiplies `n` elements from row `i`, column `j` on, which run along the
/// rows or the columns, by their scales.
static void scaleRun(float *row, int64_t n, bool alongRows, int64_t i,
                     int64_t j, const Scale &scale) {
  const int64_t start = alongRows ? i : j;
  const bool varies = alongRows ? scale.stride0 : scale.stride1;
  const int64_t block = alongRows ? scale.block0 : scale.block1;
  for (int64_t at = 0; at < n;) {
    int64_t run = varies ? std::min(n - at, block - (start + at) % block) : n;
    multiplyBy(row + at, run,
               alongRows ? scale.get(i + at, j) : scale.get(i, j + at));
    at += run;
  }
}

/// Rows [r0, r1) x columns [c0, c1) of a matrix as f32: in place when it is f32
/// already, else decoded to `buffer`: multiplied by `decodeBy` and rounded to
/// `decodeTo`, and multiplied by `scale`. `buffer` rows run along the dim that
/// is contiguous in memory.
static Panel makePanel(const Tensor &t, int64_t base, int64_t r0, int64_t r1,
                       int64_t c0, int64_t c1, float *buffer,
                       const Scale &scale, const Scale &decodeBy = {},
                       DType decodeTo = DType::F32) {
  int64_t rowStride = strideFromLast(t, 1), colStride = strideFromLast(t, 0);
  int64_t rows = r1 - r0, cols = c1 - c0;
  bool alongRows = rowStride == 1 && colStride != 1;
  int64_t outer = alongRows ? cols : rows, inner = alongRows ? rows : cols;
  int64_t outerStride = alongRows ? colStride : rowStride;
  int64_t innerStride = alongRows ? rowStride : colStride;
  if (inner == 1)
    innerStride = 1;
  int64_t first = base + r0 * rowStride + c0 * colStride;
  if (t.dtype == DType::F32 && innerStride == 1 && !decodeBy.tensor &&
      !scale.tensor && outerStride >= inner && outerStride <= INT32_MAX)
    return {reinterpret_cast<const float *>(address(t, first)), outerStride,
            alongRows};
  for (int64_t o = 0; o < outer; ++o) {
    float *row = buffer + o * inner;
    decode(t.dtype, address(t, first + o * outerStride), innerStride, inner,
           row);
    const int64_t i = alongRows ? r0 : r0 + o, j = alongRows ? c0 + o : c0;
    if (decodeBy.tensor) {
      scaleRun(row, inner, alongRows, i, j, decodeBy);
      roundTo(decodeTo, row, inner);
    }
    if (scale.tensor)
      scaleRun(row, inner, alongRows, i, j, scale);
  }
  return {buffer, std::max<int64_t>(inner, 1), alongRows};
}

//===----------------------------------------------------------------------===//
// Set-up
//===----------------------------------------------------------------------===//

Matmul::Matmul(const MatmulArgs &args, const ProductSizes &sizes)
    : args(args), batches(sizes.batch), mSize(sizes.m), nSize(sizes.n),
      kSize(sizes.k) {
  // Calls come from the runtime's own threads, one tile each.
  openblas_set_num_threads(1);
  // Tiles depend on the sizes alone.
  mTile = kTileM;
  nTile = nSize >= 1024 ? 256 : nSize >= 256 ? 128 : 64;
  mTiles = (mSize + mTile - 1) / mTile;
  nTiles = (nSize + nTile - 1) / nTile;
}

int64_t Matmul::scratchBytes() const {
  const int64_t rows = std::min(mTile, mSize), k = std::min(kSize, kChunk);
  const int64_t floats = rows * k + nTile * k + rows * nTile + 2 * nTile;
  return (floats + 64) * 4;
}

void Matmul::begin() const {
  if (args.amax)
    std::memset(args.amax->data, 0, 4);
}

//===----------------------------------------------------------------------===//
// Tiles
//===----------------------------------------------------------------------===//

/// One tile of the result and its memory.
struct Matmul::Tile {
  int64_t m0, m1, n0, n1;
  int64_t aBase, bBase, dBase, biasBase;
  /// Scales of the operands' elements, and of the sums.
  Scale aElements, bElements, bDecode, aScale, bScale;
  /// Sum (m x n), pieces of the operands, one row of scales and one of bias.
  float *sum, *aBuffer, *bBuffer, *scales, *bias;
  int64_t m() const { return m1 - m0; }
  int64_t n() const { return n1 - n0; }
};

void Matmul::run(int64_t first, int64_t last, void *scratch) const {
  for (int64_t task = first; task < last; ++task)
    runTile(task, static_cast<float *>(scratch));
}

void Matmul::runTile(int64_t task, float *scratch) const {
  const Tensor &d = *args.d;
  // Neighbouring tasks share columns of B.
  int64_t mIndex = task % mTiles, nIndex = task / mTiles % nTiles;
  int64_t batch = task / (mTiles * nTiles);
  int64_t k = std::min(kSize, kChunk);
  int64_t mMax = std::min(mTile, mSize);
  float *bBuffer = scratch + mMax * k;
  float *sum = bBuffer + nTile * k;
  Scale a(args.aScale, d, batch, args.aBlockM, args.aBlockK);
  Scale b(args.bScale, d, batch, args.bBlockK, args.bBlockN);
  // Scales of blocks of K cannot wait for the sum.
  const bool aBlocks = args.aBlockK > 0, bBlocks = args.bBlockK > 0;
  Tile tile{mIndex * mTile,
            std::min(mSize, (mIndex + 1) * mTile),
            nIndex * nTile,
            std::min(nSize, (nIndex + 1) * nTile),
            getBatchOffset(*args.a, d, batch),
            getBatchOffset(*args.b, d, batch),
            getBatchOffset(d, d, batch),
            args.bias ? getBatchOffset(*args.bias, d, batch) : 0,
            aBlocks ? a : Scale(),
            bBlocks ? b : Scale(),
            Scale(args.bDecode, d, batch, args.bBlockK, args.bBlockN),
            aBlocks ? Scale() : a,
            bBlocks ? Scale() : b,
            sum,
            scratch,
            bBuffer,
            sum + mMax * nTile,
            sum + mMax * nTile + nTile};
  multiply(tile);
  finish(tile);
}

/// sum = A x B of the tile.
void Matmul::multiply(const Tile &tile) const {
  if (kSize == 0)
    std::fill_n(tile.sum, tile.m() * tile.n(), 0.0f);
  for (int64_t k = 0; k < kSize; k += kChunk) {
    int64_t end = std::min(kSize, k + kChunk);
    Panel a = makePanel(*args.a, tile.aBase, tile.m0, tile.m1, k, end,
                        tile.aBuffer, tile.aElements);
    Panel b =
        makePanel(*args.b, tile.bBase, k, end, tile.n0, tile.n1, tile.bBuffer,
                  tile.bElements, tile.bDecode, args.bDecodeDType);
    float beta = k > 0 ? 1.0f : 0.0f;
    // One row is a matter of reading B once.
    if (tile.m() == 1) {
      if (beta == 0)
        std::fill_n(tile.sum, tile.n(), 0.0f);
      cblas_sgemv(CblasRowMajor, b.transposed ? CblasNoTrans : CblasTrans,
                  b.transposed ? tile.n() : end - k,
                  b.transposed ? end - k : tile.n(), 1.0f, b.data, b.ld, a.data,
                  a.transposed ? a.ld : 1, 1.0f, tile.sum, 1);
      continue;
    }
    cblas_sgemm(CblasRowMajor, a.transposed ? CblasTrans : CblasNoTrans,
                b.transposed ? CblasTrans : CblasNoTrans, tile.m(), tile.n(),
                end - k, 1.0f, a.data, a.ld, b.data, b.ld, beta, tile.sum,
                tile.n());
  }
}

FP8C_CLONES static void scaleRow(float *row, const float *scales, float scale,
                                 int64_t n) {
  for (int64_t i = 0; i < n; ++i)
    row[i] *= scale * scales[i];
}

FP8C_CLONES static void addRow(float *row, const float *bias, int64_t n) {
  for (int64_t i = 0; i < n; ++i)
    row[i] += bias[i];
}

/// The largest magnitude's bits; those of NaN are above all others.
FP8C_CLONES static uint32_t maxBits(const float *row, int64_t n) {
  uint32_t best = 0;
  for (int64_t i = 0; i < n; ++i) {
    uint32_t bits;
    std::memcpy(&bits, row + i, 4);
    best = std::max(best, bits & 0x7FFFFFFF);
  }
  return best;
}

/// Scales, bias, amax, result scale and the one rounding.
void Matmul::finish(const Tile &tile) const {
  const Tensor &d = *args.d;
  int64_t n = tile.n();
  for (int64_t i = 0; i < n; ++i)
    tile.scales[i] = tile.bScale.get(0, tile.n0 + i);
  uint32_t amax = 0;
  for (int64_t m = 0; m < tile.m(); ++m) {
    float *row = tile.sum + m * n;
    if (tile.aScale.tensor || tile.bScale.tensor)
      scaleRow(row, tile.scales, tile.aScale.get(tile.m0 + m, 0), n);
    if (args.bias) {
      const Tensor &bias = *args.bias;
      int64_t stride = strideFromLast(bias, 0);
      int64_t at =
          tile.biasBase + tile.n0 * stride +
          (bias.rank > 1 ? (tile.m0 + m) * strideFromLast(bias, 1) : 0);
      decode(bias.dtype, address(bias, at), stride, n, tile.bias);
      addRow(row, tile.bias, n);
    }
    if (args.amax)
      amax = std::max(amax, maxBits(row, n));
    if (args.resultScale)
      multiplyBy(row, n, *reinterpret_cast<float *>(args.resultScale->data));
    int64_t rank = d.rank;
    int64_t at = tile.dBase + (tile.m0 + m) * d.strides[rank - 2] +
                 tile.n0 * d.strides[rank - 1];
    encode(d.dtype, row, n, const_cast<char *>(address(d, at)),
           d.strides[rank - 1], args.saturate);
  }
  if (args.amax) {
    auto *slot = reinterpret_cast<std::atomic<uint32_t> *>(args.amax->data);
    uint32_t seen = slot->load(std::memory_order_relaxed);
    while (seen < amax && !slot->compare_exchange_weak(seen, amax)) {
    }
  }
}
