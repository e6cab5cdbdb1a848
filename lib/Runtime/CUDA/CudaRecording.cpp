//===- CudaRecording.cpp - CUDA graphs ------------------------------------===//
//
// Part of fp8c, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "RecordedStream.h"

using namespace fp8c::rt;
using namespace fp8c::rt::cuda;

namespace {

class CudaRecording : public Recording {
public:
  explicit CudaRecording(std::shared_ptr<CudaDevice> device)
      : device(std::move(device)) {}
  ~CudaRecording() override {
    if (!handle)
      return;
    CudaDevice::Scope current(*device, std::nothrow);
    if (current)
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

} // namespace

std::unique_ptr<Recording>
CudaDevice::record(const std::function<void(void *)> &commands) {
  Scope current(*this);
  RecordedStream recorded(*this);
  commands(recorded.stream());
  auto result = std::make_unique<CudaRecording>(
      std::static_pointer_cast<CudaDevice>(shared_from_this()));
  const OwnedGraph graph = recorded.end();
  driver.check(driver.graphInstantiate(&result->handle, graph.handle, 0),
               "cuGraphInstantiateWithFlags");
  return result;
}
