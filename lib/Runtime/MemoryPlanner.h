//===- MemoryPlanner.h - Offsets in the arena -------------------*- C++ -*-===//
//
// Part of fp8c, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef FP8C_LIB_RUNTIME_MEMORYPLANNER_H
#define FP8C_LIB_RUNTIME_MEMORYPLANNER_H

#include <cstdint>
#include <vector>

namespace fp8c::rt {

/// Alignment of arena, state and scratch memory in bytes.
inline constexpr int64_t kAlignment = 64;
/// Alignment in bytes of parts of scratch memory that libraries are given.
inline constexpr int64_t kScratchAlignment = 256;

/// A buffer that is live from step `first` to step `last`, both inclusive.
struct Lifetime {
  int64_t bytes;
  uint32_t first;
  uint32_t last;
  /// Filled in: a multiple of kAlignment.
  int64_t offset = 0;
};

/// Rounds up to a multiple; INT64_MAX / 2 stays within int64.
inline int64_t alignUp(int64_t bytes, int64_t alignment = kAlignment) {
  return (bytes + alignment - 1) / alignment * alignment;
}

/// Gives every buffer an offset so that buffers that are live at the same time
/// do not overlap, and returns the size of the whole; -1 when that overflows.
///
/// Deterministic best fit: buffers by size, the largest first (of equal ones
/// the one that lives first, then the one that comes first in the list); each
/// goes to the smallest gap that holds it among the placed buffers whose
/// lifetimes meet its own, of equal gaps the lowest, else behind them.
int64_t planMemory(std::vector<Lifetime> &buffers);

} // namespace fp8c::rt

#endif // FP8C_LIB_RUNTIME_MEMORYPLANNER_H
