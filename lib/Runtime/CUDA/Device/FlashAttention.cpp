//===- FlashAttention.cpp - Attention on tensor cores ---------------------===//
//
// Part of fp8c, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// softmax(scale * Q x K^T + mask) x V for bf16 or f16 with contiguous head dims
// of up to 128. A block takes 64 queries of one head, a warp 16 of them; keys
// come in tiles of 64 with a running maximum and sum. Scores, masks and softmax
// are f32; the exponentials are rounded to V's type for the second product.
//
// Fragments of mma.m16n8k16, lane = 4 * g + t: the result has rows g and g + 8
// and columns 2t, 2t + 1.
//
//===----------------------------------------------------------------------===//

#include "Intrinsics.h"

using namespace fp8c::rt::cuda;

namespace {

constexpr uint32_t kKeys = 64;
/// Elements between rows in shared memory beyond the head dim, so that the
/// rows that a warp reads lie in different banks.
constexpr uint32_t kPad = 8;

/// 16 bytes in registers.
using Chunk = uint32_t __attribute__((ext_vector_type(4)));

struct Fragment {
  float c[4];
};

template <bool IsBF16>
void multiply(Fragment &d, const uint32_t (&a)[4], uint32_t b0, uint32_t b1) {
  if constexpr (IsBF16)
    asm volatile("mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 "
                 "{%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};"
                 : "+f"(d.c[0]), "+f"(d.c[1]), "+f"(d.c[2]), "+f"(d.c[3])
                 : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0),
                   "r"(b1));
  else
    asm volatile("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 "
                 "{%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};"
                 : "+f"(d.c[0]), "+f"(d.c[1]), "+f"(d.c[2]), "+f"(d.c[3])
                 : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0),
                   "r"(b1));
}

template <bool IsBF16> uint32_t pack(float low, float high) {
  uint32_t bits;
  if constexpr (IsBF16)
    asm("cvt.rn.bf16x2.f32 %0, %1, %2;" : "=r"(bits) : "f"(high), "f"(low));
  else
    asm("cvt.rn.f16x2.f32 %0, %1, %2;" : "=r"(bits) : "f"(high), "f"(low));
  return bits;
}

float exp2Approximate(float x) {
  float y;
  asm("ex2.approx.ftz.f32 %0, %1;" : "=f"(y) : "f"(x));
  return y;
}

/// Rows [row0, row0 + 64) of a head to shared memory; what is outside is 0.
template <uint32_t D>
void loadTile(FP8C_SHARED uint16_t *tile, const AttentionOperand &operand,
              int64_t base, int64_t row0, int64_t rows, int64_t headDim) {
  constexpr uint32_t kChunks = D / 8;
  const uint16_t *data = static_cast<const uint16_t *>(operand.data) + base;
#pragma unroll 4
  for (uint32_t i = threadIndex(); i < kKeys * kChunks; i += kFlashThreads) {
    uint32_t row = i / kChunks, d = i % kChunks * 8;
    Chunk chunk = 0;
    if (row0 + row < rows && d < headDim)
      chunk = *reinterpret_cast<const Chunk *>(
          data + (row0 + row) * operand.strides[2] + d);
    *reinterpret_cast<FP8C_SHARED Chunk *>(tile + row * (D + kPad) + d) = chunk;
  }
}

uint32_t loadPair(const FP8C_SHARED uint16_t *at) {
  return *reinterpret_cast<const FP8C_SHARED uint32_t *>(at);
}

/// Four transposed 8 x 8 matrices of 16-bit elements.
void loadTransposed(uint32_t (&r)[4], const FP8C_SHARED uint16_t *at) {
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 "
               "{%0,%1,%2,%3}, [%4];"
               : "=r"(r[0]), "=r"(r[1]), "=r"(r[2]), "=r"(r[3])
               : "r"(uint32_t(uintptr_t(at))));
}

/// Out of line: unrolled loops read masks.
__attribute__((noinline)) float loadMask(Type type, const void *data,
                                         int64_t index) {
  return load(type, data, index);
}

float quadMax(float x) {
  float y = shuffleXor(x, 1);
  x = y > x ? y : x;
  y = shuffleXor(x, 2);
  return y > x ? y : x;
}
float quadSum(float x) {
  x += shuffleXor(x, 1);
  return x + shuffleXor(x, 2);
}

template <bool IsBF16, uint32_t D>
void attend(const AttentionParams &p, FP8C_SHARED uint16_t *keyTile,
            FP8C_SHARED uint16_t *valueTile) {
  constexpr float kLog2E = 0x1.715476p0f;
  constexpr uint32_t kPitch = D + kPad;
  const float masked = asFloat(0xFF800000);
  uint32_t lane = threadIndex() % 32, warp = threadIndex() / 32;
  uint32_t g = lane / 4, t = lane % 4;
  int64_t query0 = int64_t(blockIndex()) * kFlashQueries;
  int64_t head = blockIndexY() % p.heads, batch = blockIndexY() / p.heads;
  int64_t kvHead = head / p.group;
  auto base = [&](const AttentionOperand &o, int64_t h) {
    return batch * o.strides[0] + h * o.strides[1];
  };

  loadTile<D>(keyTile, p.query, base(p.query, head), query0, p.queries,
              p.headDim);
  barrier();
  uint32_t query[D / 16][4];
#pragma unroll
  for (uint32_t k = 0; k < D / 16; ++k) {
    const FP8C_SHARED uint16_t *at =
        keyTile + (warp * 16 + g) * kPitch + k * 16 + 2 * t;
    query[k][0] = loadPair(at);
    query[k][1] = loadPair(at + 8 * kPitch);
    query[k][2] = loadPair(at + 8);
    query[k][3] = loadPair(at + 8 * kPitch + 8);
  }

  Fragment out[D / 8] = {};
  float max[2] = {masked, masked}, sum[2] = {0, 0};
  int64_t row[2] = {query0 + warp * 16 + g, query0 + warp * 16 + g + 8};
  int64_t maskBase[2];
#pragma unroll
  for (uint32_t h = 0; h < 2; ++h)
    maskBase[h] = base(p.mask, head) + row[h] * p.mask.strides[2];
  int64_t end = p.keys;
  if (p.causal && query0 + kFlashQueries < end)
    end = query0 + kFlashQueries;
  for (int64_t key0 = 0; key0 < end; key0 += kKeys) {
    barrier();
    loadTile<D>(keyTile, p.key, base(p.key, kvHead), key0, p.keys, p.headDim);
    loadTile<D>(valueTile, p.value, base(p.value, kvHead), key0, p.keys,
                p.valueDim);
    barrier();
    Fragment scores[kKeys / 8] = {};
#pragma unroll
    for (uint32_t k = 0; k < D / 16; ++k)
#pragma unroll
      for (uint32_t n = 0; n < kKeys / 8; ++n) {
        const FP8C_SHARED uint16_t *at =
            keyTile + (n * 8 + g) * kPitch + k * 16 + 2 * t;
        multiply<IsBF16>(scores[n], query[k], loadPair(at), loadPair(at + 8));
      }
    bool isWhole = key0 + kKeys <= p.keys && !p.mask.data &&
                   (!p.causal || key0 + kKeys <= query0 + 1);
    float best[2] = {masked, masked};
#pragma unroll
    for (uint32_t n = 0; n < kKeys / 8; ++n)
#pragma unroll
      for (uint32_t i = 0; i < 4; ++i) {
        float s = scores[n].c[i] * p.scale;
        if (!isWhole) {
          int64_t key = key0 + n * 8 + 2 * t + i % 2, r = row[i / 2];
          if (p.mask.data && key < p.keys && r < p.queries) {
            float mask = loadMask(p.mask.type, p.mask.data,
                                  maskBase[i / 2] + key * p.mask.strides[3]);
            s = p.mask.type != Type::Bool ? s + mask : mask != 0 ? s : masked;
          }
          if (key >= p.keys || (p.causal && key > r))
            s = masked;
        }
        scores[n].c[i] = s;
        best[i / 2] = s > best[i / 2] ? s : best[i / 2];
      }
    float shift[2];
#pragma unroll
    for (uint32_t h = 0; h < 2; ++h) {
      float all = quadMax(best[h]);
      float next = all > max[h] ? all : max[h];
      float carry =
          max[h] == next ? 1.0f : exp2Approximate((max[h] - next) * kLog2E);
      // While all keys are masked there is no maximum to subtract; 0 makes
      // every exponential 0.
      shift[h] = next == masked ? 0.0f : next * kLog2E;
      max[h] = next;
      sum[h] *= carry;
#pragma unroll
      for (uint32_t n = 0; n < D / 8; ++n) {
        out[n].c[2 * h] *= carry;
        out[n].c[2 * h + 1] *= carry;
      }
    }
#pragma unroll
    for (uint32_t n = 0; n < kKeys / 8; ++n)
#pragma unroll
      for (uint32_t i = 0; i < 4; ++i) {
        float e = exp2Approximate(
            __builtin_fmaf(scores[n].c[i], kLog2E, -shift[i / 2]));
        scores[n].c[i] = e;
        sum[i / 2] += e;
      }
#pragma unroll
    for (uint32_t k = 0; k < kKeys / 16; ++k) {
      const uint32_t weights[4] = {
          pack<IsBF16>(scores[2 * k].c[0], scores[2 * k].c[1]),
          pack<IsBF16>(scores[2 * k].c[2], scores[2 * k].c[3]),
          pack<IsBF16>(scores[2 * k + 1].c[0], scores[2 * k + 1].c[1]),
          pack<IsBF16>(scores[2 * k + 1].c[2], scores[2 * k + 1].c[3])};
#pragma unroll
      for (uint32_t n = 0; n < D / 16; ++n) {
        uint32_t b[4];
        loadTransposed(b, valueTile + (k * 16 + lane % 16) * kPitch + n * 16 +
                              lane / 16 * 8);
        multiply<IsBF16>(out[2 * n], weights, b[0], b[1]);
        multiply<IsBF16>(out[2 * n + 1], weights, b[2], b[3]);
      }
    }
  }
#pragma unroll
  for (uint32_t h = 0; h < 2; ++h) {
    float total = quadSum(sum[h]);
    float inverse = total == 0 ? 0.0f : 1.0f / total;
    if (row[h] >= p.queries)
      continue;
    uint16_t *to = static_cast<uint16_t *>(const_cast<void *>(p.out.data)) +
                   base(p.out, head) + row[h] * p.out.strides[2];
#pragma unroll
    for (uint32_t n = 0; n < D / 8; ++n) {
      uint32_t d = n * 8 + 2 * t;
      if (d < p.valueDim)
        *reinterpret_cast<uint32_t *>(to + d) = pack<IsBF16>(
            out[n].c[2 * h] * inverse, out[n].c[2 * h + 1] * inverse);
    }
  }
}

} // namespace

#define FP8C_FLASH(NAME, IS_BF16, D)                                           \
  FP8C_KERNEL void NAME(AttentionParams p) {                                   \
    alignas(16) static FP8C_SHARED uint16_t keys[kKeys * (D + kPad)];          \
    alignas(16) static FP8C_SHARED uint16_t values[kKeys * (D + kPad)];        \
    attend<IS_BF16, D>(p, keys, values);                                       \
  }
FP8C_FLASH(fp8rt_flash_bf16_64, true, 64)
FP8C_FLASH(fp8rt_flash_bf16_128, true, 128)
FP8C_FLASH(fp8rt_flash_f16_64, false, 64)
FP8C_FLASH(fp8rt_flash_f16_128, false, 128)
