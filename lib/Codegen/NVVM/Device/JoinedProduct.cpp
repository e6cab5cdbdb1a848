//===- JoinedProduct.cpp - A product whose result a kernel takes ----------===//
//
// Part of fp8c, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The frame of a joined product for sm_90a (JoinedProduct.h), as bitcode in the
// compiler, which links it with what a kernel computes of the result
// (../Joined.cpp): `fp8c_take4` and `fp8c_take1` below.
//
// One block a multiprocessor, three warpgroups: the first has one thread that
// brings tiles of both operands to a ring in shared memory, the others take
// turns: one multiplies a tile while the other works on its last one. Each tile
// is multiplied in K's order, with all sums in the tensor core's registers, so
// that sums are those of any other product that does not split K.
//
// The rows of `b` come in an order (five dims of its tensor map) that gives
// each thread eight neighbouring columns of a row. They go, rounded to bf16,
// through shared memory that the thread alone uses: what follows is then a
// loop, where registers would have to be unrolled into code that no cache of
// instructions holds.
//
// Compiled once for each form: FP8C_FORM.
//
//===----------------------------------------------------------------------===//

#include "Barriers.h"
#include "Multiply.h"

using namespace fp8c::joined;

typedef uint32_t Chunk __attribute__((ext_vector_type(4)));

/// What the kernel does with eight values in bf16 at row m and column n; with
/// those at (m, n), (m + 8, n), (m, n + 32), (m + 8, n + 32).
extern "C" void fp8c_take1(const int64_t *operands, const int64_t *sizes,
                           int64_t m, int64_t n, Chunk values);
extern "C" void fp8c_take4(const int64_t *operands, const int64_t *sizes,
                           int64_t m, int64_t n, Chunk v0, Chunk v1, Chunk v2,
                           Chunk v3);

extern FP8C_SHARED __attribute__((aligned(1024))) uint8_t fp8c_joined_shared[];

namespace {

//===----------------------------------------------------------------------===//
// Tiles
//===----------------------------------------------------------------------===//

/// The tiles of this block, a grid apart.
struct Tiles {
  uint32_t columns, rows, first, step, total, rank = 0;

  FP8C_INLINE explicit Tiles(const JoinedProductParams &p)
      : columns((uint32_t(p.n) + kColumns - 1) / kColumns),
        rows((uint32_t(p.m) + kRows - 1) / kRows),
        first(__nvvm_read_ptx_sreg_ctaid_x()),
        step(__nvvm_read_ptx_sreg_nctaid_x()) {
    if constexpr (kIsPair) {
      // A pair has two tiles of rows, one under the other.
      rows = (rows + 1) / 2;
      rank = first % 2;
      first /= 2;
      step /= 2;
    }
    total = rows * columns;
  }
  FP8C_INLINE void get(uint32_t tile, int32_t &m0, int32_t &n0) const {
    const uint32_t group = tile / (kRowsTogether * columns);
    const uint32_t rest = tile % (kRowsTogether * columns);
    const uint32_t left = rows - group * kRowsTogether;
    const uint32_t height = left < kRowsTogether ? left : kRowsTogether;
    const uint32_t row = group * kRowsTogether + rest % height;
    m0 = int32_t((kIsPair ? 2 * row + rank : row) * kRows);
    n0 = int32_t(rest / height * kColumns);
  }
};

/// The stage of the ring that is next, and the parity of its phase.
struct Stage {
  uint32_t index = 0, parity = 0;
  FP8C_INLINE void advance() {
    if (++index == kStages) {
      index = 0;
      parity ^= 1;
    }
  }
  FP8C_INLINE void skip(uint32_t count) {
    parity ^= (index + count) / kStages & 1;
    index = (index + count) % kStages;
  }
};

/// The thread that brings tiles.
FP8C_INLINE void bringTiles(const JoinedProductParams &p, const Tiles &tiles,
                            uint32_t shared, uint32_t full, uint32_t empty,
                            uint32_t depth) {
  const uint64_t a = reinterpret_cast<uint64_t>(&p.a);
  const uint64_t b = reinterpret_cast<uint64_t>(&p.b);
  constexpr uint32_t kPart = kForm.getBoxes();
  Stage stage;
#pragma unroll 1
  for (uint32_t tile = tiles.first; tile < tiles.total; tile += tiles.step) {
    int32_t m0, n0;
    tiles.get(tile, m0, n0);
#pragma unroll 1
    for (uint32_t step = 0; step < depth; ++step) {
      const uint32_t to = shared + stage.index * kStage;
      const uint32_t barrier = full + 8 * stage.index;
      const int32_t k = int32_t(step * 128);
      awaitPhase(empty + 8 * stage.index, stage.parity ^ 1);
      expectBytes(barrier, kStage);
      if constexpr (kIsPair)
        asm volatile("cp.async.bulk.tensor.5d.shared::cluster.global.mbarrier::"
                     "complete_tx::bytes.multicast::cluster "
                     "[%0], [%1, {%3, %5, %5, %5, %4}], [%2], %6;" ::"r"(
                         to + kTileA + tiles.rank * kPart * 32 * 128),
                     "l"(b), "r"(barrier), "r"(k),
                     "r"(n0 / 32 + int32_t(tiles.rank * kPart)), "r"(0),
                     "h"(uint16_t(3))
                     : "memory");
      else
        asm volatile(
            "cp.async.bulk.tensor.5d.shared::cluster.global.mbarrier::"
            "complete_tx::bytes "
            "[%0], [%1, {%3, %5, %5, %5, %4}], [%2];" ::"r"(to + kTileA),
            "l"(b), "r"(barrier), "r"(k), "r"(n0 / 32), "r"(0)
            : "memory");
      asm volatile("cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::"
                   "complete_tx::bytes [%0], [%1, {%3, %4}], [%2];" ::"r"(to),
                   "l"(a), "r"(barrier), "r"(k), "r"(m0)
                   : "memory");
      stage.advance();
    }
  }
  // All stages are given back, also by the other block of a pair: its last
  // arrivals are ordered with nothing that it does then.
  if constexpr (kIsPair)
#pragma unroll 1
    for (uint32_t i = 0; i < kStages; ++i) {
      awaitPhase(empty + 8 * stage.index, stage.parity ^ 1);
      stage.advance();
    }
}

//===----------------------------------------------------------------------===//
// Results
//===----------------------------------------------------------------------===//

FP8C_INLINE uint32_t packBF16(float low, float high) {
  uint32_t bits;
  asm("cvt.rn.bf16x2.f32 %0, %1, %2;" : "=r"(bits) : "f"(high), "f"(low));
  return bits;
}
FP8C_INLINE float lowBF16(uint32_t pair) {
  return __builtin_bit_cast(float, pair << 16);
}
FP8C_INLINE float highBF16(uint32_t pair) {
  return __builtin_bit_cast(float, pair & 0xFFFF0000);
}

typedef FP8C_SHARED Chunk *SharedChunk;
FP8C_INLINE Chunk readShared(uint32_t at) {
  return *reinterpret_cast<SharedChunk>(uintptr_t(at));
}
FP8C_INLINE void writeShared(uint32_t at, Chunk chunk) {
  *reinterpret_cast<SharedChunk>(uintptr_t(at)) = chunk;
}

/// The biases of a warpgroup, which it asks for before it multiplies.
class Bias {
public:
  FP8C_INLINE Bias(const JoinedProductParams &p, uint32_t group,
                   uint32_t shared)
      : data(static_cast<const uint16_t *>(p.bias)), n(p.n), group(group),
        shared(shared) {
    // Nothing changes by -0.
    const uint32_t thread = threadIndex() % 128;
    if (!data && thread < kColumns / 8)
      writeShared(shared + thread * 16, Chunk(0x80008000));
  }
  FP8C_INLINE void ask(int32_t n0) const {
    const uint32_t thread = threadIndex() % 128;
    const int32_t column = n0 + int32_t(thread) * 8;
    if (data && thread < kColumns / 8)
      asm volatile("cp.async.ca.shared.global [%0], [%1], 16, %2;" ::"r"(
                       shared + thread * 16),
                   "l"(data + (column < n ? column : 0)),
                   "r"(column < n ? 16 : 0)
                   : "memory");
    asm volatile("cp.async.commit_group;" ::: "memory");
  }
  FP8C_INLINE void await() const {
    asm volatile("cp.async.wait_group 0;" ::: "memory");
    asm volatile("bar.sync %0, 128;" ::"r"(2 + group) : "memory");
  }
  /// Those of the thread's columns of the 32 from `first` on.
  FP8C_INLINE Chunk get(uint32_t first) const {
    return readShared(shared + (first + threadIndex() % 4 * 8) * 2);
  }

private:
  const uint16_t *data;
  int32_t n;
  uint32_t group, shared;
};

/// Scaled, biased and rounded sums of 64 rows to the thread's slots: for each
/// 32 columns a chunk of its first row and one of that 8 below.
FP8C_INLINE void round(const Sums &sums, float scale, const Bias &bias,
                       uint32_t slots) {
#pragma unroll
  for (uint32_t first = 0; first < kColumns; first += 32) {
    const Chunk add = bias.get(first);
    Chunk upper, lower;
#pragma unroll
    for (uint32_t g = 0; g < 4; ++g) {
      const float *at = sums + (first / 8 + g) * 4;
      const float low = lowBF16(add[g]), high = highBF16(add[g]);
      upper[g] = packBF16(at[0] * scale + low, at[1] * scale + high);
      lower[g] = packBF16(at[2] * scale + low, at[3] * scale + high);
    }
    writeShared(slots + first / 32 * 2 * kSlot, upper);
    writeShared(slots + (first / 32 * 2 + 1) * kSlot, lower);
  }
}

/// What the kernel does with the slots of a tile; m and n are the thread's
/// first.
FP8C_INLINE void take(const JoinedProductParams &p, int64_t m, int64_t n,
                      bool isWhole, uint32_t slots) {
  constexpr uint32_t kColumnSteps = kColumns / 32;
  if (isWhole) {
#pragma unroll 1
    for (uint32_t i = 0; i < kParts * kColumnSteps; i += 2, slots += 4 * kSlot)
      fp8c_take4(p.operands, p.sizes, m + i / kColumnSteps * 64,
                 n + i % kColumnSteps * 32, readShared(slots),
                 readShared(slots + kSlot), readShared(slots + 2 * kSlot),
                 readShared(slots + 3 * kSlot));
    return;
  }
#pragma unroll 1
  for (uint32_t i = 0; i < 2 * kParts * kColumnSteps; ++i, slots += kSlot) {
    const int64_t row = m + i / 2 / kColumnSteps * 64 + i % 2 * 8;
    const int64_t column = n + i / 2 % kColumnSteps * 32;
    if (row < p.m && column < p.n)
      fp8c_take1(p.operands, p.sizes, row, column, readShared(slots));
  }
}

/// One of the warpgroups that multiply.
FP8C_INLINE void computeTiles(const JoinedProductParams &p, const Tiles &tiles,
                              uint32_t shared, uint32_t full, uint32_t empty,
                              uint32_t depth) {
  const uint32_t group = threadIndex() / 128 - 1;
  const uint32_t thread = threadIndex() % 128, lane = thread % 32;
  const uint32_t slots = shared + kSlotsAt + group * kSlots + thread * 16;
  const Bias bias(p, group, shared + kBiasAt + group * kColumns * 2);
  const float scale = *p.aScale * *p.bScale;
  Stage stage;
  uint32_t turn = 0;
  if (group == 1 && tiles.first < tiles.total)
    giveTurn(0);
#pragma unroll 1
  for (uint32_t tile = tiles.first; tile < tiles.total;
       tile += tiles.step, turn ^= 1) {
    if (turn != group) {
      stage.skip(depth);
      continue;
    }
    int32_t m0, n0;
    tiles.get(tile, m0, n0);
    // The stages are this group's only after the other has seen all of its own
    // arrive: a parity cannot tell a phase from the one after the next.
    awaitTurn(group);
    // All warps of the group are here: none needs the last tile's biases.
    bias.ask(n0);
    Sums sums[kParts];
    uint32_t previous = kStages;
#pragma unroll 1
    for (uint32_t step = 0; step < depth; ++step) {
      awaitPhase(full + 8 * stage.index, stage.parity);
      const uint64_t a = describe(shared + stage.index * kStage);
      const uint64_t b = describe(shared + stage.index * kStage + kTileA);
      asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
#pragma unroll
      for (uint32_t i = 0; i < 4; ++i)
#pragma unroll
        for (uint32_t part = 0; part < kParts; ++part)
          multiply(sums[part], a + part * (64 * 128 / 16) + 2 * i, b + 2 * i,
                   step || i);
      asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory");
      asm volatile("wgmma.wait_group.sync.aligned 1;" ::: "memory");
      if (previous < kStages)
        giveBack(empty + 8 * previous);
      previous = stage.index;
      stage.advance();
    }
    if (tile + tiles.step < tiles.total)
      giveTurn(1 - group);
    asm volatile("wgmma.wait_group.sync.aligned 0;" ::: "memory");
    if (previous < kStages)
      giveBack(empty + 8 * previous);

    bias.await();
    const int64_t m = m0 + thread / 32 * 16 + lane / 4;
    const int64_t n = n0 + lane % 4 * 8;
    const bool isWhole =
        m0 + int32_t(kRows) <= p.m && n0 + int32_t(kColumns) <= p.n;
#pragma unroll
    for (uint32_t part = 0; part < kParts; ++part)
      round(sums[part], scale, bias, slots + part * (kColumns * 128));
    take(p, m, n, isWhole, slots);
  }
}

} // namespace

extern "C" __attribute__((nvptx_kernel)) void
fp8c_joined(JoinedProductParams p) {
  const uint32_t shared =
      (uint32_t(uintptr_t(fp8c_joined_shared)) + 1023) & ~1023u;
  const uint32_t full = shared + kBarriersAt, empty = full + 8 * kStages;
  const uint32_t depth = (uint32_t(p.k) + 127) / 128;
  const Tiles tiles(p);
  if (threadIndex() == 0) {
    for (uint32_t i = 0; i < kStages; ++i) {
      initBarrier(full + 8 * i, 1);
      initBarrier(empty + 8 * i, 4 * kForm.cluster);
    }
    asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
  }
  meetPair();
  __syncthreads();
  asm volatile("griddepcontrol.launch_dependents;\n\t"
               "griddepcontrol.wait;" ::
                   : "memory");
  if (threadIndex() < 128) {
    asm volatile("setmaxnreg.dec.sync.aligned.u32 40;");
    if (threadIndex() < 32 && isElected())
      bringTiles(p, tiles, shared, full, empty, depth);
  } else {
    asm volatile("setmaxnreg.inc.sync.aligned.u32 232;");
    computeTiles(p, tiles, shared, full, empty, depth);
  }
  // Neither block of a pair goes while the other may write to it.
  __nvvm_bar_warp_sync(0xFFFFFFFF);
  meetPair();
}
