//===- CudaRecording.cpp - CUDA graphs ------------------------------------===//
//
// Part of fp8c, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "CudaDevice.h"

using namespace fp8c::rt;
using namespace fp8c::rt::cuda;

/// CU_STREAM_NON_BLOCKING and CU_STREAM_CAPTURE_MODE_RELAXED.
static constexpr unsigned kNonBlocking = 1;
static constexpr int kRelaxed = 2;

namespace {

class CudaRecording : public Recording {
public:
  explicit CudaRecording(std::shared_ptr<CudaDevice> device)
      : device(std::move(device)) {}
  ~CudaRecording() override {
    if (!handle)
      return;
    CudaDevice::Scope current(*device);
    device->driver.graphExecDestroy(handle);
  }
  void replay(void *stream) override {
    CudaDevice::Scope current(*device);
    device->driver.check(
        device->driver.graphLaunch(handle, static_cast<Stream>(stream)),
        "cuGraphLaunch");
  }

  GraphExec handle = nullptr;

private:
  std::shared_ptr<CudaDevice> device;
};

/// A stream that is recorded. The caller's may be one that cannot be.
class RecordedStream {
public:
  explicit RecordedStream(const Driver &driver) : driver(driver) {
    driver.check(driver.streamCreate(&stream, kNonBlocking), "cuStreamCreate");
    Result result = driver.streamBeginCapture(stream, kRelaxed);
    if (result != 0)
      driver.streamDestroy(stream);
    driver.check(result, "cuStreamBeginCapture");
  }
  ~RecordedStream() {
    if (!isEnded)
      driver.streamEndCapture(stream, &graph);
    if (graph)
      driver.graphDestroy(graph);
    driver.streamDestroy(stream);
  }
  Graph end() {
    isEnded = true;
    driver.check(driver.streamEndCapture(stream, &graph), "cuStreamEndCapture");
    return graph;
  }

  Stream stream = nullptr;

private:
  const Driver &driver;
  Graph graph = nullptr;
  bool isEnded = false;
};

} // namespace

std::unique_ptr<Recording>
CudaDevice::record(const std::function<void(void *)> &commands) {
  Scope current(*this);
  RecordedStream recorded(driver);
  commands(recorded.stream);
  auto result = std::make_unique<CudaRecording>(
      std::static_pointer_cast<CudaDevice>(shared_from_this()));
  driver.check(driver.graphInstantiate(&result->handle, recorded.end(), 0),
               "cuGraphInstantiateWithFlags");
  return result;
}
