//===- TrialMemory.h - Operands to measure commands with --------*- C++ -*-===//
//
// Part of fp8c, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef FP8C_LIB_RUNTIME_CUDA_TRIALMEMORY_H
#define FP8C_LIB_RUNTIME_CUDA_TRIALMEMORY_H

#include "CudaQueue.h"
#include "PrivateStream.h"

#include <vector>

namespace fp8c::rt::cuda {

/// Bytes from the first element of a tensor to its last.
int64_t spanBytes(const Tensor &t);

/// Sets of operands of `bytes` each, at most `most`, that a trial takes in turn
/// so that none stays in the L2 cache.
size_t countTurns(int64_t bytes, int64_t most);

/// A trial's stream, and what its products work on.
class TrialMemory {
public:
  explicit TrialMemory(CudaQueue &queue) : queue(queue), own(queue.driver) {
    // Measured beside other work of the caller's a time says little.
    own.waitFor(queue.stream);
    own.waitFor(nullptr);
  }
  /// Memory goes when nothing uses it any more.
  ~TrialMemory() { queue.driver.streamSynchronize(own.get()); }
  Stream stream() const { return own.get(); }

  /// Random numbers around 1 in the places of `t`; null for none.
  void *makeNumbers(const Tensor *t);
  void *makeOnes(const Tensor *t);
  void *allocate(int64_t bytes) {
    memory.emplace_back(queue.program.device, std::max<int64_t>(bytes, 16));
    return memory.back().data();
  }

private:
  CudaQueue &queue;
  std::vector<DeviceMemory> memory;
  PrivateStream own;
};

} // namespace fp8c::rt::cuda

#endif // FP8C_LIB_RUNTIME_CUDA_TRIALMEMORY_H
