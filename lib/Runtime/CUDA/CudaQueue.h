//===- CudaQueue.h - The commands of a context on a GPU ---------*- C++ -*-===//
//
// Part of fp8c, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef FP8C_LIB_RUNTIME_CUDA_CUDAQUEUE_H
#define FP8C_LIB_RUNTIME_CUDA_CUDAQUEUE_H

#include "../ShapeInstance.h"
#include "CudaProgram.h"
#include "LaneStreams.h"

#include <optional>

namespace fp8c::rt::cuda {

/// Puts commands into the stream of the running call.
class CudaQueue : public Queue {
public:
  CudaQueue(CudaProgram &program, const QueueOptions &options);

  std::unique_ptr<Command> prepare(const PreparedStep &step) override;
  std::unique_ptr<Command> join(const PreparedStep &product,
                                const PreparedStep &launch) override;
  bool reserve(int64_t scratchBytes) override;
  void begin(void *stream) override;
  void beginQuery() override;
  void end() noexcept override;
  void fill(char *memory, int64_t bytes, uint8_t value) override;
  std::unique_ptr<Command>
  record(const std::function<void()> &commands) override;
  bool isRecorded() const override;
  /// Libraries' counters, which they would clear themselves (LibraryCall.h).
  int64_t mostOwnScratch() const override { return 1 << 16; }
  uint32_t lanes() const override { return maxLanes; }
  void runInLanes(const std::vector<LaneStep> &steps,
                  const std::function<void(size_t)> &run) override;

  void launch(Function function, uint32_t gridX, uint32_t gridY,
              uint32_t threads, uint32_t shared, void **parameters) {
    driver.check(driver.launch(function, gridX, gridY, 1, threads, 1, 1, shared,
                               stream, parameters, nullptr),
                 "cuLaunchKernel");
  }
  /// A kernel whose blocks are clusters of `cluster`, or that waits by itself
  /// for the one before it; for all that is before it where the stream waits
  /// for others.
  void launchConfigured(Function function, uint32_t gridX, uint32_t gridY,
                        uint32_t threads, uint32_t shared, void **parameters,
                        bool isDependent, uint32_t cluster = 1) {
    LaunchAttribute attributes[2];
    unsigned count = 0;
    if (isDependent && followsOne)
      attributes[count++] = {kProgrammaticSerialization, 0, {1}};
    if (cluster > 1)
      attributes[count++] = {kClusterDims, 0, {int(cluster), 1, 1}};
    LaunchConfig config{gridX, gridY,  1,      threads,    1,
                        1,     shared, stream, attributes, count};
    driver.check(
        driver.launchConfigured(&config, function, parameters, nullptr),
        "cuLaunchKernelEx");
  }
  /// What `commands` put into the running call's stream goes into another one.
  void runIn(Stream other, const std::function<void()> &commands);
  /// Whether memory is the running step's alone, and was 0 when the call began.
  bool isCleared(Pointer memory, size_t bytes) const {
    const Pointer own = reinterpret_cast<Pointer>(ownScratch);
    return own && own <= memory &&
           memory + bytes <= own + size_t(ownScratchBytes);
  }
  /// The running step's scratch memory.
  char *scratch() const { return ownScratch ? ownScratch : memory.data(); }

  CudaProgram &program;
  CudaDevice &device;
  const Driver &driver;
  const fp8rt_backends_t backends;
  /// The running call's.
  Stream stream = nullptr;
  /// Whether what runs now waits for its stream alone.
  bool followsOne = true;

private:
  const uint32_t maxLanes;
  LaneStreams laneStreams;
  std::optional<CudaDevice::Scope> scope;
  /// Where calls are awaited, and whether the running one is.
  std::optional<CallMark> mark;
  bool isCall = false;
  DeviceMemory memory;
};

} // namespace fp8c::rt::cuda

#endif // FP8C_LIB_RUNTIME_CUDA_CUDAQUEUE_H
