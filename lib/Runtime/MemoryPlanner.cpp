//===- MemoryPlanner.cpp - Offsets in the arena ---------------------------===//
//
// Part of fp8c, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "MemoryPlanner.h"

#include <algorithm>
#include <numeric>

using namespace fp8c::rt;

int64_t fp8c::rt::planMemory(std::vector<Lifetime> &buffers) {
  std::vector<uint32_t> order(buffers.size());
  std::iota(order.begin(), order.end(), 0);
  std::sort(order.begin(), order.end(), [&](uint32_t a, uint32_t b) {
    if (buffers[a].bytes != buffers[b].bytes)
      return buffers[a].bytes > buffers[b].bytes;
    if (buffers[a].first != buffers[b].first)
      return buffers[a].first < buffers[b].first;
    return a < b;
  });

  int64_t total = 0;
  std::vector<uint32_t> placed; // by offset
  for (uint32_t index : order) {
    Lifetime &buffer = buffers[index];
    if (buffer.bytes > INT64_MAX / 2)
      return -1;
    int64_t bytes = alignUp(buffer.bytes);
    int64_t best = -1, bestGap = INT64_MAX, end = 0;
    for (uint32_t other : placed) {
      const Lifetime &p = buffers[other];
      if (p.last < buffer.first || buffer.last < p.first)
        continue;
      int64_t gap = p.offset - end;
      if (gap >= bytes && gap < bestGap) {
        bestGap = gap;
        best = end;
      }
      end = std::max(end, p.offset + alignUp(p.bytes));
    }
    buffer.offset = best >= 0 ? best : end;
    if (buffer.offset > INT64_MAX / 2 - bytes)
      return -1;
    total = std::max(total, buffer.offset + bytes);
    if (bytes == 0)
      continue;
    auto at = std::upper_bound(placed.begin(), placed.end(), buffer.offset,
                               [&](int64_t offset, uint32_t other) {
                                 return offset < buffers[other].offset;
                               });
    placed.insert(at, index);
  }
  return total;
}
