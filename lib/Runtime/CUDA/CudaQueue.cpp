//===- CudaQueue.cpp - The commands of a context on a GPU -----------------===//
//
// Part of fp8c, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "CudaQueue.h"

#include "OwnKernels.h"
#include "Products.h"

#include <algorithm>

using namespace fp8c::rt;
using namespace fp8c::rt::cuda;

/// Blocks that a grid may have in its first dim.
static constexpr int64_t kMaxGrid = INT32_MAX;

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
    if (kernel.resident())
      blocks = std::min(blocks, int64_t(kernel.resident()) *
                                    queue.device.multiprocessors());
    grid = uint32_t(std::min(blocks, kMaxGrid));
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
    queue.launch(function, grid, 1, threads, uint32_t(step.scratch),
                 parameters);
  }

private:
  CudaQueue &queue;
  const PreparedStep &step;
  Function function;
  uint32_t grid, threads;
};

} // namespace

CudaQueue::CudaQueue(CudaProgram &owner)
    : program(owner), device(*owner.device), driver(device.driver) {
  CudaDevice::Scope current(device);
  driver.check(driver.eventCreate(&start, 0), "cuEventCreate");
  driver.check(driver.eventCreate(&stop, 0), "cuEventCreate");
}

CudaQueue::~CudaQueue() {
  CudaDevice::Scope current(device);
  driver.eventDestroy(start);
  driver.eventDestroy(stop);
}

std::unique_ptr<Command> CudaQueue::prepare(const PreparedStep &step) {
  switch (step.wire->command_type()) {
  case wire::Command::Launch:
    return std::make_unique<KernelLaunch>(*this, step);
  case wire::Command::Matmul:
    return makeProduct(*this, step);
  case wire::Command::Attention:
    return makeOwnAttention(*this, step);
  case wire::Command::Copy:
    return makeCopy(*this, step);
  case wire::Command::Fill:
    return makeFill(*this, step);
  case wire::Command::NONE:
    break;
  }
  return nullptr;
}

void CudaQueue::reserve(int64_t scratchBytes) {
  if (scratchBytes > memory.size())
    memory = DeviceMemory(program.device, scratchBytes);
}

void CudaQueue::begin(void *caller) {
  scope.emplace(device);
  stream = static_cast<Stream>(caller);
}

void CudaQueue::startTiming() {
  driver.check(driver.eventRecord(start, stream), "cuEventRecord");
}

double CudaQueue::stopTiming() {
  driver.check(driver.eventRecord(stop, stream), "cuEventRecord");
  driver.check(driver.eventSynchronize(stop), "cuEventSynchronize");
  float milliseconds = 0;
  driver.check(driver.eventElapsed(&milliseconds, start, stop),
               "cuEventElapsedTime");
  return double(milliseconds) * 1e-3;
}
