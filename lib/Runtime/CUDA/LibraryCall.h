//===- LibraryCall.h - A call of a library, again and again -----*- C++ -*-===//
//
// Part of fp8c, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What a library does in a call (checks, tensor maps, the launch) takes the
// host two to five times as long as the launch alone. When a call comes again
// with the same addresses, what it puts into a stream is recorded once; from
// then on those kernels are launched as they are.
//
//===----------------------------------------------------------------------===//

#ifndef FP8C_LIB_RUNTIME_CUDA_LIBRARYCALL_H
#define FP8C_LIB_RUNTIME_CUDA_LIBRARYCALL_H

#include "CudaQueue.h"
#include "RecordedStream.h"

#include <functional>
#include <vector>

namespace fp8c::rt::cuda {

/// One call of a library whose parameters are fixed but for addresses.
class LibraryCall {
public:
  explicit LibraryCall(CudaQueue &queue) : queue(queue) {}

  /// Does what `call` puts into a stream, which depends on `addresses` alone.
  void run(const void *const *addresses, size_t count,
           const std::function<void(Stream)> &call);

private:
  /// A recorded kernel, whose parameters are the graph's, or a fill.
  struct Step {
    Function function = nullptr;
    LaunchConfig config{};
    std::vector<LaunchAttribute> attributes;
    void **parameters = nullptr, **extra = nullptr;
    /// Waits by itself for the kernel before it; the last attribute says so.
    bool isDependent = false;
    MemsetNode fill{};
  };
  /// Records `call`; no steps if it does more than launch kernels and fill
  /// rows of memory, one after the other.
  void record(const std::function<void(Stream)> &call);
  /// Whether the node's step could be added.
  bool add(GraphNode node, bool isDependent);
  bool addKernel(GraphNode node, bool isDependent);
  bool addFill(GraphNode node);
  void launch(Step &step);

  CudaQueue &queue;
  /// Of the last call.
  std::vector<const void *> known;
  /// Whether what a recording for them gives is known, and how many failed.
  bool isRecorded = false;
  unsigned disturbed = 0;
  std::optional<OwnedGraph> graph;
  std::vector<Step> steps;
  /// Fills of memory that is cleared when a call begins.
  size_t dropped = 0;
};

} // namespace fp8c::rt::cuda

#endif // FP8C_LIB_RUNTIME_CUDA_LIBRARYCALL_H
