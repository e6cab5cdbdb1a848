//===- Move.cpp - Copies and fills of any strides -------------------------===//
//
// Part of fp8c, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Intrinsics.h"

using namespace fp8c::rt::cuda;

/// 16 bytes that move together.
struct alignas(16) Wide {
  uint64_t low, high;
};

template <typename T> static void moveElements(const MoveParams &p, T pattern) {
  int64_t step = int64_t(blockCount()) * kMoveThreads;
  for (int64_t i = int64_t(blockIndex()) * kMoveThreads + threadIndex();
       i < p.elements; i += step) {
    int64_t rest = i, from = 0, to = 0;
    for (uint32_t d = p.rank; d-- > 0;) {
      int64_t index = rest % p.dims[d];
      rest /= p.dims[d];
      from += index * p.sourceStrides[d];
      to += index * p.targetStrides[d];
    }
    static_cast<T *>(p.target)[to] =
        p.source ? static_cast<const T *>(p.source)[from] : pattern;
  }
}

FP8C_KERNEL void fp8rt_move(MoveParams p) {
#ifdef FP8C_DEPENDENT
  waitForGrids();
#endif
  switch (p.size) {
  case 1:
    return moveElements<uint8_t>(p, uint8_t(p.pattern));
  case 2:
    return moveElements<uint16_t>(p, uint16_t(p.pattern));
  case 4:
    return moveElements<uint32_t>(p, uint32_t(p.pattern));
  case 8:
    return moveElements<uint64_t>(p, p.pattern);
  case 16:
    return moveElements<Wide>(p, Wide{p.pattern, p.pattern});
  }
}
