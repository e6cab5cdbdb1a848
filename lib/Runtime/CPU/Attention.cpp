//===- Attention.cpp - Attention on the CPU -------------------------------===//
//
// Part of fp8c, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Attention.h"

#include "Clones.h"
#include "Convert.h"

#include <algorithm>
#include <cblas.h>
#include <cmath>
#include <cstring>
#include <limits>

using namespace fp8c::rt;

static constexpr int64_t kQueryTile = 64;
/// Keys that are decoded at a time.
static constexpr int64_t kKeyTile = 128;
/// Keys whose exponentials are taken against one maximum, and rounded so: as
/// many as PyTorch's CPU kernel takes.
static constexpr int64_t kKeyBlock = 4 * kKeyTile;
static constexpr float kMasked = -std::numeric_limits<float>::infinity();

//===----------------------------------------------------------------------===//
// Rows
//===----------------------------------------------------------------------===//

/// exp for x <= 0 within 1 ulp; 0 below the smallest normal result.
static inline float expNegative(float x) {
  // n = round(x / ln 2) through the bits of a large number, so that NaN needs
  // no conversion to an integer.
  constexpr float magic = 0x1.8p23f;
  constexpr uint32_t magicBits = 0x4B400000;
  float shifted = x * 0x1.715476p0f + magic;
  float n = shifted - magic;
  float r = x - n * 0x1.62ep-1f;
  r = r - n * 0x1.0bfbe8p-15f;
  float p = 1.9875691500e-4f;
  p = p * r + 1.3981999507e-3f;
  p = p * r + 8.3334519073e-3f;
  p = p * r + 4.1665795894e-2f;
  p = p * r + 1.6666665459e-1f;
  p = p * r + 5.0000001201e-1f;
  float y = p * (r * r) + r + 1.0f;
  uint32_t bits;
  std::memcpy(&bits, &shifted, 4);
  bits = (bits - magicBits + 127) << 23;
  float power;
  std::memcpy(&power, &bits, 4);
  return x < -87.3f ? 0.0f : y * power;
}

/// exp for x <= 0 within 1.2e-4 of its value, for results that are rounded to
/// bf16 or f16 next (whose units are 16 and 2 times that): after Malossi et
/// al., "Fast exponential computation on SIMD architectures", as in PyTorch's
/// CPU kernel. 0 below the smallest normal result.
static inline float expNegativeShort(float x) {
  constexpr float least = -87.33654f;
  const bool normal = x > least;
  const float s = (normal ? x : least) * 0x1.715476p0f;
  const float f = s - std::floor(s);
  // 1 + f - 2^f, the minimax polynomial of degree 3: the fraction of s becomes
  // the mantissa of 2^s when this is taken off.
  float p = f * -7.92042402e-2f + -2.24338365e-1f;
  p = f * p + 3.03542605e-1f;
  p = f * p + 1.07034349e-4f;
  const float t = (s - p) * 0x1p23f + 127 * 0x1p23f;
  const int32_t bits = int32_t(t);
  float y;
  std::memcpy(&y, &bits, 4);
  return normal ? y : x != x ? x : 0.0f;
}

/// Lanes of partial sums: a fixed order of additions that vectors can keep.
static constexpr int64_t kLanes = 16;

/// row = exp(row - max); returns the sum.
template <float (*Exp)(float)>
__attribute__((always_inline)) static inline float
expRowWith(float *row, int64_t n, float max) {
  float sums[kLanes] = {};
  int64_t i = 0;
  for (; i + kLanes <= n; i += kLanes)
    for (int64_t lane = 0; lane < kLanes; ++lane) {
      float e = Exp(row[i + lane] - max);
      row[i + lane] = e;
      sums[lane] += e;
    }
  for (; i < n; ++i) {
    row[i] = Exp(row[i] - max);
    sums[0] += row[i];
  }
  float sum = 0;
  for (float s : sums)
    sum += s;
  return sum;
}
FP8C_CLONES static float expRow(float *row, int64_t n, float max) {
  return expRowWith<expNegative>(row, n, max);
}
FP8C_CLONES static float expRowShort(float *row, int64_t n, float max) {
  return expRowWith<expNegativeShort>(row, n, max);
}

/// The largest element; NaN counts for nothing (it comes back through exp).
FP8C_CLONES static float maxRow(const float *row, int64_t n) {
  float lanes[kLanes];
  std::fill_n(lanes, kLanes, kMasked);
  int64_t i = 0;
  for (; i + kLanes <= n; i += kLanes)
    for (int64_t lane = 0; lane < kLanes; ++lane)
      lanes[lane] = row[i + lane] > lanes[lane] ? row[i + lane] : lanes[lane];
  float max = kMasked;
  for (; i < n; ++i)
    max = row[i] > max ? row[i] : max;
  for (float lane : lanes)
    max = lane > max ? lane : max;
  return max;
}

FP8C_CLONES static void addRow(float *row, const float *other, int64_t n) {
  for (int64_t i = 0; i < n; ++i)
    row[i] += other[i];
}

//===----------------------------------------------------------------------===//
// Set-up
//===----------------------------------------------------------------------===//

Attention::Attention(const AttentionArgs &args)
    : args(args), batches(args.query->dims[0]), heads(args.query->dims[1]),
      group(heads ? heads / args.key->dims[1] : 1),
      querySize(args.query->dims[2]), keySize(args.key->dims[2]),
      headSize(args.query->dims[3]), valueSize(args.value->dims[3]),
      queryTiles((querySize + kQueryTile - 1) / kQueryTile) {}

int64_t Attention::scratchBytes() const {
  int64_t floats = kQueryTile * (headSize + valueSize + kKeyBlock + 2) +
                   kKeyTile * (std::max(headSize, valueSize) + 1);
  return (floats + 64) * 4;
}

//===----------------------------------------------------------------------===//
// Tiles
//===----------------------------------------------------------------------===//

/// One task and its memory.
struct Attention::Work {
  int64_t batch, head, query0, queries;
  /// Dense tiles: queries x D, keys x D or keys x DV, queries x a block of
  /// keys, queries x DV; then one number a query, and a row of a mask.
  float *q, *keyTile, *scores, *out, *max, *sum, *maskRow;
};

/// Stride of a dim, 0 where its extent is 1.
static int64_t strideOf(const Tensor &t, uint32_t i) {
  return t.dims[i] == 1 ? 0 : t.strides[i];
}

static char *address(const Tensor &t, int64_t b, int64_t h, int64_t i) {
  int64_t at = b * strideOf(t, 0) + h * strideOf(t, 1) + i * strideOf(t, 2);
  return t.data + at * elementSize(t.dtype);
}

/// Rows [row0, row0 + rows) of a head, dense.
static void loadTile(const Tensor &t, int64_t b, int64_t h, int64_t row0,
                     int64_t rows, float *to) {
  int64_t n = t.dims[3];
  for (int64_t i = 0; i < rows; ++i)
    decode(t.dtype, address(t, b, h, row0 + i), t.strides[3], n, to + i * n);
}

void Attention::run(int64_t first, int64_t last, void *scratch) const {
  for (int64_t task = first; task < last; ++task)
    runTask(task, static_cast<float *>(scratch));
}

void Attention::runTask(int64_t task, float *scratch) const {
  Work w;
  w.query0 = task % queryTiles * kQueryTile;
  w.queries = std::min(kQueryTile, querySize - w.query0);
  w.head = task / queryTiles % heads;
  w.batch = task / queryTiles / heads;
  float *next = scratch;
  auto take = [&](int64_t floats) {
    float *at = next;
    next += floats;
    return at;
  };
  w.q = take(kQueryTile * headSize);
  w.keyTile = take(kKeyTile * std::max(headSize, valueSize));
  w.scores = take(kQueryTile * kKeyBlock);
  w.out = take(kQueryTile * valueSize);
  w.max = take(kQueryTile);
  w.sum = take(kQueryTile);
  w.maskRow = take(kKeyTile);

  loadTile(*args.query, w.batch, w.head, w.query0, w.queries, w.q);
  std::fill_n(w.out, w.queries * valueSize, 0.0f);
  std::fill_n(w.max, w.queries, kMasked);
  std::fill_n(w.sum, w.queries, 0.0f);
  // Past the last query of the tile a causal mask hides every key.
  int64_t end = args.causal ? std::min(keySize, w.query0 + w.queries) : keySize;
  for (int64_t key0 = 0; key0 < end; key0 += kKeyBlock) {
    const int64_t keys = std::min(kKeyBlock, end - key0);
    for (int64_t at = 0; at < keys; at += kKeyTile)
      scoreTile(w, key0 + at, std::min(kKeyTile, keys - at), w.scores + at);
    softmaxBlock(w, keys);
    for (int64_t at = 0; at < keys; at += kKeyTile)
      addTile(w, key0 + at, std::min(kKeyTile, keys - at), w.scores + at);
  }
  for (int64_t i = 0; i < w.queries; ++i) {
    float *row = w.out + i * valueSize;
    // A query that sees no key has only zeros to scale.
    multiplyBy(row, valueSize, w.sum[i] == 0 ? 1.0f : 1.0f / w.sum[i]);
    encode(args.out->dtype, row, valueSize,
           address(*args.out, w.batch, w.head, w.query0 + i),
           args.out->strides[3], true);
  }
}

/// scores = scale * Q x K^T, masked, for a tile of keys.
void Attention::scoreTile(const Work &w, int64_t key0, int64_t keys,
                          float *scores) const {
  loadTile(*args.key, w.batch, w.head / group, key0, keys, w.keyTile);
  for (int64_t i = 0; i < w.queries && !headSize; ++i)
    std::fill_n(scores + i * kKeyBlock, keys, 0.0f);
  if (headSize)
    cblas_sgemm(CblasRowMajor, CblasNoTrans, CblasTrans, w.queries, keys,
                headSize, args.scale, w.q, headSize, w.keyTile, headSize, 0.0f,
                scores, kKeyBlock);
  for (int64_t i = 0; i < w.queries; ++i) {
    float *row = scores + i * kKeyBlock;
    if (args.mask) {
      const Tensor &mask = *args.mask;
      const char *at = address(mask, w.batch, w.head, w.query0 + i);
      int64_t stride = strideOf(mask, 3);
      at += key0 * stride * elementSize(mask.dtype);
      if (mask.dtype == DType::Bool) {
        for (int64_t j = 0; j < keys; ++j)
          row[j] = at[j * stride] ? row[j] : kMasked;
      } else {
        decode(mask.dtype, at, stride, keys, w.maskRow);
        addRow(row, w.maskRow, keys);
      }
    }
    if (args.causal)
      for (int64_t j = std::max<int64_t>(w.query0 + i + 1 - key0, 0); j < keys;
           ++j)
        row[j] = kMasked;
  }
}

/// Turns the scores of a block into exponentials, rounded to V's type as
/// PyTorch's kernel does, and carries sum, maximum and result on. The sum is of the exponentials before they are
/// rounded.
void Attention::softmaxBlock(const Work &w, int64_t keys) const {
  for (int64_t i = 0; i < w.queries; ++i) {
    float *row = w.scores + i * kKeyBlock;
    float max = std::max(w.max[i], maxRow(row, keys));
    // While all keys are masked there is no maximum to subtract; 0 makes every
    // exponential 0 (and keeps NaN).
    float base = max == kMasked ? 0.0f : max;
    const bool rounds = elementSize(args.value->dtype) < 4;
    float sum = rounds ? expRowShort(row, keys, base) : expRow(row, keys, base);
    if (rounds)
      roundTo(args.value->dtype, row, keys);
    float carry = w.max[i] == max ? 1.0f : expNegative(w.max[i] - max);
    w.sum[i] = w.sum[i] * carry + sum;
    w.max[i] = max;
    if (carry != 1.0f)
      multiplyBy(w.out + i * valueSize, valueSize, carry);
  }
}

/// out += exponentials x V, for a tile of keys.
void Attention::addTile(const Work &w, int64_t key0, int64_t keys,
                        const float *scores) const {
  if (!valueSize)
    return;
  loadTile(*args.value, w.batch, w.head / group, key0, keys, w.keyTile);
  cblas_sgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, w.queries, valueSize,
              keys, 1.0f, scores, kKeyBlock, w.keyTile, valueSize, 1.0f, w.out,
              valueSize);
}
