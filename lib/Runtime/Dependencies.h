//===- Dependencies.h - Which steps must wait for which ---------*- C++ -*-===//
//
// Part of fp8c, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef FP8C_LIB_RUNTIME_DEPENDENCIES_H
#define FP8C_LIB_RUNTIME_DEPENDENCIES_H

#include <cstdint>
#include <vector>

namespace fp8c::rt {

/// Bytes from `begin` to before `end` of an address space.
struct ByteRange {
  uint64_t begin, end;
  uint32_t space = 0;
};

/// What a step reads and writes, or more.
struct StepAccess {
  std::vector<ByteRange> reads, writes;
};

/// For each step the earlier ones that it must come after, in ascending order:
/// they write what it reads or writes, or read what it writes. Those that
/// follow from others are left out where that is easy to see.
using Dependencies = std::vector<std::vector<uint32_t>>;
Dependencies findDependencies(const std::vector<StepAccess> &steps);

} // namespace fp8c::rt

#endif // FP8C_LIB_RUNTIME_DEPENDENCIES_H
