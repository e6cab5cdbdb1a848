//===- RecordedStream.h - Streams that are recorded -------------*- C++ -*-===//
//
// Part of fp8c, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef FP8C_LIB_RUNTIME_CUDA_RECORDEDSTREAM_H
#define FP8C_LIB_RUNTIME_CUDA_RECORDEDSTREAM_H

#include "CudaDevice.h"

#include <utility>

namespace fp8c::rt::cuda {

/// A graph with its owner.
struct OwnedGraph {
  explicit OwnedGraph(const CudaDevice &device) : device(device) {}
  OwnedGraph(OwnedGraph &&other) noexcept
      : device(other.device), handle(std::exchange(other.handle, nullptr)) {}
  OwnedGraph &operator=(OwnedGraph &&) = delete;
  ~OwnedGraph() {
    if (!handle)
      return;
    CudaDevice::Scope scope(device, std::nothrow);
    if (scope)
      device.driver.graphDestroy(handle);
  }

  const CudaDevice &device;
  Graph handle = nullptr;
};

/// A stream that is recorded, inside a Scope. The caller's may be one that
/// cannot be.
class RecordedStream {
public:
  explicit RecordedStream(const CudaDevice &device)
      : device(device), own(device.driver) {
    device.driver.check(device.driver.streamBeginCapture(own.get(), kRelaxed),
                        "cuStreamBeginCapture");
  }
  ~RecordedStream() {
    if (isEnded)
      return;
    OwnedGraph graph(device);
    device.driver.streamEndCapture(own.get(), &graph.handle);
  }
  RecordedStream(const RecordedStream &) = delete;
  /// What was put into it.
  OwnedGraph end() {
    isEnded = true;
    OwnedGraph graph(device);
    device.driver.check(
        device.driver.streamEndCapture(own.get(), &graph.handle),
        "cuStreamEndCapture");
    return graph;
  }

  Stream stream() const { return own.get(); }

private:
  const CudaDevice &device;
  PrivateStream own;
  bool isEnded = false;
};

} // namespace fp8c::rt::cuda

#endif // FP8C_LIB_RUNTIME_CUDA_RECORDEDSTREAM_H
