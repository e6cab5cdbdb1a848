//===- CudaFixture.h - Contexts on a GPU that is none -----------*- C++ -*-===//
//
// Part of fp8c, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef FP8C_TEST_UNIT_RUNTIME_CUDA_CUDAFIXTURE_H
#define FP8C_TEST_UNIT_RUNTIME_CUDA_CUDAFIXTURE_H

#include "../PlanWriter.h"
#include "FakeDriver.h"

#include "../../../../lib/Runtime/CUDA/RecordedStream.h"
#include "../../../../lib/Runtime/Context.h"

#include <gtest/gtest.h>

namespace fp8c::test {

/// Runs it in another thread; what it throws is a failure.
void runInThread(const std::function<void()> &body);

inline std::shared_ptr<rt::cuda::CudaDevice> openFake() {
  return std::static_pointer_cast<rt::cuda::CudaDevice>(rt::openCuda(0));
}

/// A stream of the caller's.
class CallersStream {
public:
  explicit CallersStream(unsigned flags = rt::cuda::kNonBlocking)
      : device(openFake()) {
    rt::cuda::CudaDevice::Scope scope(*device);
    device->driver.check(device->driver.streamCreate(&stream, flags), "create");
  }
  ~CallersStream() {
    rt::cuda::CudaDevice::Scope scope(*device, std::nothrow);
    device->driver.streamDestroy(stream);
  }
  void synchronize() {
    rt::cuda::CudaDevice::Scope scope(*device);
    device->driver.check(device->driver.streamSynchronize(stream), "wait");
  }
  void begin(int mode) {
    rt::cuda::CudaDevice::Scope scope(*device);
    device->driver.check(device->driver.streamBeginCapture(stream, mode),
                         "begin");
  }
  /// What was recorded, null where something has ended that.
  rt::cuda::OwnedGraph end() {
    rt::cuda::OwnedGraph graph(*device);
    device->driver.streamEndCapture(stream, &graph.handle);
    return graph;
  }

  std::shared_ptr<rt::cuda::CudaDevice> device;
  rt::cuda::Stream stream = nullptr;
};

/// A program of inputs x and v, whose outputs are x, the state as it was and a
/// weight; v becomes the state.
struct CudaProgramOfCopies {
  CudaProgramOfCopies();
  std::string package;
  std::unique_ptr<rt::Programs> programs;
};

/// A context of it with tensors of `size` elements for x; v counts up by 1.
struct CudaContext : CudaProgramOfCopies {
  explicit CudaContext(std::shared_ptr<rt::Device> device = openFake());
  /// Frees the context's memory before the tensors: that waits for calls.
  ~CudaContext() { context.reset(); }
  void call(rt::cuda::Stream stream);
  void resize(int64_t size);
  float readState();
  void writeState(float value);

  std::shared_ptr<rt::State> state;
  std::unique_ptr<rt::Context> context;
  std::unique_ptr<TestTensor> x, y;
  TestTensor v, old, weight;
};

} // namespace fp8c::test

#endif // FP8C_TEST_UNIT_RUNTIME_CUDA_CUDAFIXTURE_H
