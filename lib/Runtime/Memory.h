//===- Memory.h - Aligned memory --------------------------------*- C++ -*-===//
//
// Part of fp8c, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef FP8C_LIB_RUNTIME_MEMORY_H
#define FP8C_LIB_RUNTIME_MEMORY_H

#include "Error.h"
#include "MemoryPlanner.h"

#include <cstdlib>
#include <memory>

namespace fp8c::rt {

/// Memory aligned to kAlignment; its content is not initialised.
class AlignedMemory {
public:
  AlignedMemory() = default;
  explicit AlignedMemory(int64_t bytes)
      : memory(bytes ? std::aligned_alloc(kAlignment, size_t(alignUp(bytes)))
                     : nullptr),
        bytes(bytes) {
    require(memory || bytes == 0, FP8RT_OUT_OF_MEMORY, "no memory for ", bytes,
            " bytes");
  }

  char *data() const { return static_cast<char *>(memory.get()); }
  int64_t size() const { return bytes; }

private:
  struct Free {
    void operator()(void *p) const { std::free(p); }
  };
  std::unique_ptr<void, Free> memory;
  int64_t bytes = 0;
};

} // namespace fp8c::rt

#endif // FP8C_LIB_RUNTIME_MEMORY_H
