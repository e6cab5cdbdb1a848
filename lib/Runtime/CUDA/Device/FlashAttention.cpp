//===- FlashAttention.cpp - Attention on tensor cores ---------------------===//
//
// Part of fp8c, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// softmax(scale * Q x K^T + mask) x V for operands of FP8C_TYPE, bf16 or f16,
// and head dims of up to FP8C_WIDTH; with FP8C_GENERAL any strides, head dims
// and scales, and masks of booleans, f32 or the operands' type. A block takes
// queries of one head, a warp 16 or 32 of them; keys come in tiles, two in
// shared memory at a time, with a running maximum and sum. Scores, masks and
// softmax are f32; the exponentials are rounded for the second product.
//
// The maximum that is subtracted may lie up to 2^kSlack below the true one:
// what was summed is scaled only when a new one is larger than that.
//
//===----------------------------------------------------------------------===//

#include "HeadTiles.h"

using namespace fp8c::rt::cuda;

namespace {

constexpr float kLog2E = 0x1.715476p0f;
constexpr float kSlack = 8;

float exp2Approximate(float x) {
  float y;
  asm("ex2.approx.ftz.f32 %0, %1;" : "=f"(y) : "f"(x));
  return y;
}

template <Type T> uint32_t pack(float low, float high) {
  uint32_t bits;
  if constexpr (T == Type::BF16)
    asm("cvt.rn.bf16x2.f32 %0, %1, %2;" : "=r"(bits) : "f"(high), "f"(low));
  else
    asm("cvt.rn.f16x2.f32 %0, %1, %2;" : "=r"(bits) : "f"(high), "f"(low));
  return bits;
}

template <Type T> float decode(uint16_t bits) {
  return T == Type::BF16 ? decodeBF16(bits) : decodeF16(bits);
}

/// The larger number; a NaN is ignored.
float larger(float x, float y) { return __builtin_fmaxf(x, y); }
float quadMax(float x) {
  x = larger(x, shuffleXor(x, 1));
  return larger(x, shuffleXor(x, 2));
}
float quadSum(float x) {
  x += shuffleXor(x, 1);
  return x + shuffleXor(x, 2);
}

/// Lane = 4 * g + t: of a fragment of scores or results it has rows g and
/// g + 8, columns 2t and 2t + 1.
template <Type T, uint32_t D, uint32_t Warps, uint32_t Tall, uint32_t Keys,
          bool IsGeneral>
class Attention {
public:
  static constexpr uint32_t kQueries = Warps * Tall * 16;
  static constexpr uint32_t kThreads = Warps * 32;

  FP8C_INLINE Attention(const AttentionParams &p, uint32_t memory)
      : p(p), queryTile(memory), tiles(memory + kQueries * Rows<D>::kBytes),
        lane(threadIndex() % 32), warp(threadIndex() / 32) {
    // Blocks with the most keys first.
    uint32_t tile = p.causal ? blockCount() - 1 - blockIndex() : blockIndex();
    query0 = tile * kQueries;
    head = blockIndexY() % p.heads;
    batch = blockIndexY() / p.heads;
    keys = p.keys;
    end = p.causal && query0 + int32_t(kQueries) < keys
              ? query0 + int32_t(kQueries)
              : keys;
    unit = IsGeneral ? kLog2E : p.scale * kLog2E;
#pragma unroll
    for (uint32_t i = 0; i < Tall; ++i)
      max[i][0] = max[i][1] = kMasked;
  }

  FP8C_INLINE void run() {
    copy<kQueries>(queryTile, p.query, base(p.query, head), query0, p.queries,
                   p.headDim);
    copyTile(0);
    int32_t stage = 0;
    for (int32_t key0 = 0; key0 < end; key0 += Keys) {
      waitForCopies<0>();
      barrier();
      if (key0 + int32_t(Keys) < end)
        copyTile(key0 + Keys, 1 - stage);
      uint32_t keyTile = tiles + stage * 2 * kTileBytes;
      Fragment scores[Tall][Keys / 8] = {};
      multiplyKeys(scores, keyTile);
      mask(scores, key0);
      weigh(scores);
      multiplyValues(scores, keyTile + kTileBytes);
      stage = 1 - stage;
    }
    writeOut();
  }

private:
  static constexpr uint32_t kTileBytes = Keys * Rows<D>::kBytes;
  using Scores = Fragment[Tall][Keys / 8];

  FP8C_INLINE int64_t base(const AttentionOperand &o, int64_t h) const {
    return batch * o.strides[0] + h * o.strides[1];
  }
  /// Of the lane's fragments: the query of a row.
  FP8C_INLINE int32_t getQuery(uint32_t i, uint32_t half) const {
    return query0 + (warp * Tall + i) * 16 + half * 8 + lane / 4;
  }

  template <uint32_t Count>
  FP8C_INLINE void copy(uint32_t tile, const AttentionOperand &operand,
                        int64_t base, int32_t row0, int32_t rows,
                        int32_t headDim) const {
    if (!IsGeneral || p.isChunked)
      copyRows<D, Count, kThreads, true>(tile, operand, base, row0, rows,
                                         headDim);
    else
      copyRows<D, Count, kThreads, false>(tile, operand, base, row0, rows,
                                          headDim);
  }

  FP8C_INLINE void copyTile(int32_t key0, uint32_t stage = 0) {
    int64_t kvHead = head / p.group;
    uint32_t tile = tiles + stage * 2 * kTileBytes;
    copy<Keys>(tile, p.key, base(p.key, kvHead), key0, keys, p.headDim);
    copy<Keys>(tile + kTileBytes, p.value, base(p.value, kvHead), key0, keys,
               p.valueDim);
    commitCopies();
  }

  /// scores = Q x K^T.
  FP8C_INLINE void multiplyKeys(Scores &scores, uint32_t tile) const {
#pragma unroll
    for (uint32_t k = 0; k < D / 16; ++k) {
      uint32_t query[Tall][4];
#pragma unroll
      for (uint32_t i = 0; i < Tall; ++i)
        loadMatrices(query[i],
                     queryTile +
                         Rows<D>::offset((warp * Tall + i) * 16 + lane % 16,
                                         2 * k + lane / 16));
#pragma unroll
      for (uint32_t n = 0; n < Keys / 8; n += 2) {
        uint32_t b[4];
        loadMatrices(b, tile + Rows<D>::offset(n * 8 + lane / 16 * 8 + lane % 8,
                                               2 * k + lane / 8 % 2));
#pragma unroll
        for (uint32_t i = 0; i < Tall; ++i) {
          multiply<T, T>(scores[i][n], query[i], b[0], b[1]);
          multiply<T, T>(scores[i][n + 1], query[i], b[2], b[3]);
        }
      }
    }
  }

  /// -Inf where no key may be seen, and adds a mask of numbers.
  FP8C_INLINE void mask(Scores &scores, int32_t key0) const {
    if constexpr (IsGeneral) {
      if (!p.mask.data)
        scale(scores);
      else if (p.mask.type == Type::Bool)
        addMask<Type::Bool, uint8_t>(scores, key0);
      else if (p.mask.type == Type::F32)
        addMask<Type::F32, float>(scores, key0);
      else
        addMask<T, uint16_t>(scores, key0);
    }
    if (key0 + int32_t(Keys) <= keys &&
        (!p.causal || key0 + int32_t(Keys) <= query0 + 1))
      return;
#pragma unroll
    for (uint32_t i = 0; i < Tall; ++i)
#pragma unroll
      for (uint32_t n = 0; n < Keys / 8; ++n)
#pragma unroll
        for (uint32_t c = 0; c < 4; ++c) {
          int32_t key = key0 + n * 8 + lane % 4 * 2 + c % 2;
          if (key >= keys || (p.causal && key > getQuery(i, c / 2)))
            scores[i][n].c[c] = kMasked;
        }
  }

  FP8C_INLINE void scale(Scores &scores) const {
#pragma unroll
    for (uint32_t i = 0; i < Tall; ++i)
#pragma unroll
      for (uint32_t n = 0; n < Keys / 8; ++n)
#pragma unroll
        for (uint32_t c = 0; c < 4; ++c)
          scores[i][n].c[c] *= p.scale;
  }

  template <Type Of, typename Stored>
  FP8C_INLINE void addMask(Scores &scores, int32_t key0) const {
#pragma unroll
    for (uint32_t i = 0; i < Tall; ++i)
#pragma unroll
      for (uint32_t half = 0; half < 2; ++half) {
        int32_t query = getQuery(i, half);
        const Stored *row =
            static_cast<const Stored *>(p.mask.data) + base(p.mask, head) +
            (query < p.queries ? query : p.queries - 1) * p.mask.strides[2];
#pragma unroll
        for (uint32_t n = 0; n < Keys / 8; ++n)
#pragma unroll
          for (uint32_t c = 0; c < 2; ++c) {
            int32_t key = key0 + n * 8 + lane % 4 * 2 + c;
            Stored value =
                row[(key < keys ? key : keys - 1) * p.mask.strides[3]];
            float &score = scores[i][n].c[2 * half + c];
            score *= p.scale;
            if constexpr (Of == Type::Bool)
              score = value ? score : kMasked;
            else if constexpr (Of == Type::F32)
              score += value;
            else
              score += decode<Of>(value);
          }
      }
  }

  /// Scores to exponentials; scales what was summed where the maximum grew.
  FP8C_INLINE void weigh(Scores &scores) {
    float next[Tall][2];
    bool grows = false;
#pragma unroll
    for (uint32_t i = 0; i < Tall; ++i)
#pragma unroll
      for (uint32_t half = 0; half < 2; ++half) {
        float best = scores[i][0].c[2 * half];
#pragma unroll
        for (uint32_t n = 0; n < Keys / 8; ++n)
#pragma unroll
          for (uint32_t c = 0; c < 2; ++c)
            best = larger(best, scores[i][n].c[2 * half + c]);
        best = quadMax(best);
        bool isLarger =
            best > max[i][half] && !((best - max[i][half]) * unit <= kSlack);
        next[i][half] = isLarger ? best : max[i][half];
        grows |= isLarger;
      }
    if (__nvvm_vote_any_sync(0xFFFFFFFF, grows)) {
#pragma unroll
      for (uint32_t i = 0; i < Tall; ++i)
#pragma unroll
        for (uint32_t half = 0; half < 2; ++half) {
          float carry =
              max[i][half] == next[i][half]
                  ? 1.0f
                  : exp2Approximate((max[i][half] - next[i][half]) * unit);
          max[i][half] = next[i][half];
          sum[i][half] *= carry;
#pragma unroll
          for (uint32_t n = 0; n < D / 8; ++n) {
            out[i][n].c[2 * half] *= carry;
            out[i][n].c[2 * half + 1] *= carry;
          }
        }
    }
#pragma unroll
    for (uint32_t i = 0; i < Tall; ++i)
#pragma unroll
      for (uint32_t half = 0; half < 2; ++half) {
        // While all keys are masked there is no maximum to subtract; 0 makes
        // every exponential 0.
        float least = max[i][half] == kMasked ? 0.0f : max[i][half];
        float shift = least * unit;
#pragma unroll
        for (uint32_t n = 0; n < Keys / 8; ++n)
#pragma unroll
          for (uint32_t c = 0; c < 2; ++c) {
            float &s = scores[i][n].c[2 * half + c];
            // Masks may be the smallest numbers: their difference is none.
            s = exp2Approximate(IsGeneral ? (s - least) * unit
                                          : __builtin_fmaf(s, unit, -shift));
            sum[i][half] += s;
          }
      }
  }

  /// out += exponentials x V. Of heads that PyTorch computes in f32, those that
  /// are read element by element, what rounding the exponentials drops is
  /// added too.
  FP8C_INLINE void multiplyValues(const Scores &scores, uint32_t tile) {
    constexpr bool HasRest = IsGeneral && Tall == 1;
#pragma unroll
    for (uint32_t k = 0; k < Keys / 16; ++k) {
      uint32_t weights[Tall][4], rest[Tall][4];
#pragma unroll
      for (uint32_t i = 0; i < Tall; ++i)
#pragma unroll
        for (uint32_t j = 0; j < 4; ++j) {
          const float *s = scores[i][2 * k + j / 2].c + j % 2 * 2;
          weights[i][j] = pack<T>(s[0], s[1]);
          if constexpr (HasRest)
            rest[i][j] = pack<T>(s[0] - decode<T>(uint16_t(weights[i][j])),
                                 s[1] - decode<T>(weights[i][j] >> 16));
        }
#pragma unroll
      for (uint32_t n = 0; n < D / 8; n += 2) {
        uint32_t b[4];
        loadTransposed(
            b, tile + Rows<D>::offset(k * 16 + lane % 16, n + lane / 16));
#pragma unroll
        for (uint32_t i = 0; i < Tall; ++i) {
          multiply<T, T>(out[i][n], weights[i], b[0], b[1]);
          multiply<T, T>(out[i][n + 1], weights[i], b[2], b[3]);
          if (!HasRest || p.isChunked)
            continue;
          multiply<T, T>(out[i][n], rest[i], b[0], b[1]);
          multiply<T, T>(out[i][n + 1], rest[i], b[2], b[3]);
        }
      }
    }
  }

  FP8C_INLINE void writeOut() const {
#pragma unroll
    for (uint32_t i = 0; i < Tall; ++i)
#pragma unroll
      for (uint32_t half = 0; half < 2; ++half) {
        float total = quadSum(sum[i][half]);
        float inverse = total == 0 ? 0.0f : 1.0f / total;
        int32_t query = getQuery(i, half);
        if (query >= p.queries)
          continue;
        uint16_t *to = static_cast<uint16_t *>(const_cast<void *>(p.out.data)) +
                       base(p.out, head) + query * p.out.strides[2];
#pragma unroll
        for (uint32_t n = 0; n < D / 8; ++n) {
          int32_t d = n * 8 + lane % 4 * 2;
          uint32_t pair = pack<T>(out[i][n].c[2 * half] * inverse,
                                  out[i][n].c[2 * half + 1] * inverse);
          if (!IsGeneral || p.isChunked) {
            if (d < p.valueDim)
              *reinterpret_cast<uint32_t *>(to + d) = pair;
            continue;
          }
          if (d < p.valueDim)
            to[d * p.out.strides[3]] = uint16_t(pair);
          if (d + 1 < p.valueDim)
            to[(d + 1) * p.out.strides[3]] = uint16_t(pair >> 16);
        }
      }
  }

  static constexpr float kMasked = -__builtin_inff();

  const AttentionParams &p;
  const uint32_t queryTile, tiles, lane, warp;
  int32_t query0, keys, end;
  int64_t head, batch;
  /// Of a score, in powers of two.
  float unit;
  Fragment out[Tall][D / 8] = {};
  float max[Tall][2], sum[Tall][2] = {};
};

} // namespace

extern FP8C_SHARED Chunk fp8rt_tiles[];

#define FP8C_FLASH(NAME, TALL)                                                 \
  FP8C_KERNEL void NAME(AttentionParams p) {                                   \
    Attention<Type::FP8C_TYPE, FP8C_WIDTH, kFlashThreads / 32, TALL,           \
              getFlashKeys(FP8C_WIDTH), FP8C_GENERAL>(                         \
        p, sharedAddress(fp8rt_tiles))                                         \
        .run();                                                                \
  }
FP8C_FLASH(fp8rt_flash_16, 1)
// Results of wider head dims take too many registers.
#if FP8C_WIDTH <= 128
FP8C_FLASH(fp8rt_flash_32, 2)
#endif
