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
  explicit OwnedGraph(const Driver &driver) : driver(driver) {}
  OwnedGraph(OwnedGraph &&other) noexcept
      : driver(other.driver), handle(std::exchange(other.handle, nullptr)) {}
  OwnedGraph &operator=(OwnedGraph &&) = delete;
  ~OwnedGraph() {
    if (handle)
      driver.graphDestroy(handle);
  }

  const Driver &driver;
  Graph handle = nullptr;
};

/// CU_STREAM_CAPTURE_MODE_RELAXED.
inline constexpr int kRelaxed = 2;

/// While it lives the thread may do what a recording by the caller forbids it
/// by default, such as to load a kernel.
class RelaxedScope {
public:
  explicit RelaxedScope(const Driver &driver) : driver(driver) {
    driver.check(driver.exchangeCaptureMode(&mode),
                 "cuThreadExchangeStreamCaptureMode");
  }
  ~RelaxedScope() { driver.exchangeCaptureMode(&mode); }
  RelaxedScope(const RelaxedScope &) = delete;

private:
  const Driver &driver;
  /// The thread's other one.
  int mode = kRelaxed;
};

/// A stream that is recorded. The caller's may be one that cannot be.
class RecordedStream {
public:
  explicit RecordedStream(CudaDevice &device)
      : lock(device.recordings), driver(device.driver) {
    // CU_STREAM_NON_BLOCKING.
    constexpr unsigned kNonBlocking = 1;
    driver.check(driver.streamCreate(&stream, kNonBlocking), "cuStreamCreate");
    Result result = driver.streamBeginCapture(stream, kRelaxed);
    if (result != 0)
      driver.streamDestroy(stream);
    driver.check(result, "cuStreamBeginCapture");
  }
  ~RecordedStream() {
    if (!isEnded) {
      OwnedGraph graph(driver);
      driver.streamEndCapture(stream, &graph.handle);
    }
    driver.streamDestroy(stream);
  }
  RecordedStream(const RecordedStream &) = delete;
  /// What was put into it.
  OwnedGraph end() {
    isEnded = true;
    OwnedGraph graph(driver);
    driver.check(driver.streamEndCapture(stream, &graph.handle),
                 "cuStreamEndCapture");
    return graph;
  }

  Stream stream = nullptr;

private:
  std::lock_guard<std::recursive_mutex> lock;
  const Driver &driver;
  bool isEnded = false;
};

} // namespace fp8c::rt::cuda

#endif // FP8C_LIB_RUNTIME_CUDA_RECORDEDSTREAM_H
