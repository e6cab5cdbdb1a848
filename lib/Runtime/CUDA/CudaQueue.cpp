//===- CudaQueue.cpp - The commands of a context on a GPU -----------------===//
//
// Part of fp8c, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "CudaQueue.h"

#include "Attention.h"
#include "JoinedProduct.h"
#include "OwnKernels.h"
#include "Products.h"

#include <algorithm>

using namespace fp8c::rt;
using namespace fp8c::rt::cuda;

/// Blocks that a grid may have in its first dim.
static constexpr int64_t kMaxGrid = INT32_MAX;
/// Lanes of recorded calls unless the caller says more.
static constexpr uint32_t kLanes = 4;

namespace {

/// A generated kernel. Its two parameters are arrays by value, which the driver
/// copies from the step.
class KernelLaunch : public Command {
public:
  KernelLaunch(CudaQueue &queue, const PreparedStep &step)
      : queue(queue), step(step) {
    uint32_t index = step.wire->command_as_Launch()->kernel();
    const wire::Kernel &kernel = queue.program.wireKernel(index);
    function = queue.program.kernel(index);
    threads = kernel.threads();
    int64_t blocks = step.tasks;
    if (kernel.cluster() && blocks <= int64_t(kernel.cluster_tasks())) {
      cluster = kernel.cluster();
      blocks *= cluster;
    }
    if (kernel.resident())
      blocks = std::min(blocks, int64_t(kernel.resident()) *
                                    queue.device.multiprocessors());
    grid = uint32_t(std::min(blocks, kMaxGrid));
    isDependent = kernel.dependent();
    queue.program.allowShared(index, step.scratch);
  }
  void run() override {
    if (!grid)
      return;
    // Arrays of at least one entry.
    static int64_t none = 0;
    void *parameters[] = {
        const_cast<void **>(step.pointers.data()),
        step.sizes.empty() ? &none : const_cast<int64_t *>(step.sizes.data())};
    if (isDependent || cluster > 1)
      queue.launchConfigured(function, grid, 1, threads, uint32_t(step.scratch),
                             parameters, isDependent, cluster);
    else
      queue.launch(function, grid, 1, threads, uint32_t(step.scratch),
                   parameters);
  }

private:
  CudaQueue &queue;
  const PreparedStep &step;
  Function function;
  uint32_t grid, threads, cluster = 1;
  bool isDependent;
};

/// A graph of a call's commands.
class RecordedCall : public Command {
public:
  RecordedCall(CudaQueue &queue, std::unique_ptr<Recording> recording)
      : queue(queue), recording(std::move(recording)) {}
  void run() override { recording->replay(queue.stream); }

private:
  CudaQueue &queue;
  std::unique_ptr<Recording> recording;
};

} // namespace

CudaQueue::CudaQueue(CudaProgram &owner, const QueueOptions &options)
    : program(owner), device(*owner.device), driver(device.driver),
      backends(options.backends),
      maxLanes(options.lanes ? uint32_t(options.lanes) : kLanes),
      laneStreams(owner.device) {
  if (options.isAwaited)
    mark.emplace(owner.device);
}

std::unique_ptr<Command> CudaQueue::prepare(const PreparedStep &step) {
  switch (step.wire->command_type()) {
  case wire::Command::Launch:
    return std::make_unique<KernelLaunch>(*this, step);
  case wire::Command::Matmul:
    return makeProduct(*this, step);
  case wire::Command::Attention:
    return makeAttention(*this, step);
  case wire::Command::Copy:
    return makeCopy(*this, step);
  case wire::Command::Fill:
    return makeFill(*this, step);
  case wire::Command::NONE:
    break;
  }
  return nullptr;
}

std::unique_ptr<Command> CudaQueue::join(const PreparedStep &product,
                                         const PreparedStep &launch) {
  return makeJoinedProduct(*this, product, launch);
}

bool CudaQueue::reserve(int64_t scratchBytes) {
  if (scratchBytes <= memory.size())
    return false;
  memory = DeviceMemory(program.device, scratchBytes);
  return true;
}

void CudaQueue::begin(void *caller) {
  scope.emplace(device);
  stream = static_cast<Stream>(caller);
  isCall = true;
}

void CudaQueue::beginQuery() {
  scope.emplace(device);
  stream = device.privateStream();
  isCall = false;
}

void CudaQueue::end() noexcept {
  if (mark && isCall)
    mark->set(stream);
  scope.reset();
}

void CudaQueue::fill(char *to, int64_t bytes, uint8_t value) {
  fillMemory(*this, to, bytes, value);
}

namespace {
/// Gives a variable back what it had.
template <typename T> struct Restore {
  explicit Restore(T &variable) : variable(variable), old(variable) {}
  ~Restore() { variable = old; }
  Restore(const Restore &) = delete;
  T &variable;
  const T old;
};
} // namespace

void CudaQueue::runInLanes(const std::vector<LaneStep> &steps,
                           const std::function<void(size_t)> &run) {
  Restore restoreStream(stream);
  Restore restoreFollows(followsOne);
  laneStreams.run(stream, steps, [&](size_t i, Stream lane, bool isAlone) {
    stream = lane;
    followsOne = isAlone;
    run(i);
  });
}

void CudaQueue::runIn(Stream other, const std::function<void()> &commands) {
  Restore restoreStream(stream);
  stream = other;
  commands();
}

std::unique_ptr<Command>
CudaQueue::record(const std::function<void()> &commands) {
  return std::make_unique<RecordedCall>(*this, device.record([&](void *own) {
    runIn(static_cast<Stream>(own), commands);
  }));
}

bool CudaQueue::isRecorded() const {
  int isRecording = 0;
  driver.check(driver.streamIsCapturing(stream, &isRecording),
               "cuStreamIsCapturing");
  return isRecording != 0;
}
