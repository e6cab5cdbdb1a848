//===- CallMarks.h - Calls that the host waits for --------------*- C++ -*-===//
//
// Part of fp8c, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Waiting for the whole device would end recordings of the caller's, and a
// stream of the caller's may be gone when the host wants to wait for it. So
// queues whose calls use a state put an event behind each call, and who reads
// or writes memory from the host waits for these.
//
//===----------------------------------------------------------------------===//

#ifndef FP8C_LIB_RUNTIME_CUDA_CALLMARKS_H
#define FP8C_LIB_RUNTIME_CUDA_CALLMARKS_H

#include "Driver.h"

#include <memory>
#include <mutex>
#include <vector>

namespace fp8c::rt::cuda {

class CudaDevice;

/// The events of a device's queues.
class CallMarks {
public:
  void add(Event event);
  void remove(Event event);
  /// Waits until all are reached.
  void wait(const Driver &driver);

private:
  std::mutex mutex;
  std::vector<Event> events;
};

/// A queue's event. A call waits for the one before it, as both use the
/// context's memory, so the last one's says all.
class CallMark {
public:
  explicit CallMark(std::shared_ptr<CudaDevice> device);
  ~CallMark();
  CallMark(const CallMark &) = delete;

  /// Sets it behind what was put into `stream`. Where the stream is recorded,
  /// each run of the graph sets it.
  void set(Stream stream) noexcept;

private:
  std::shared_ptr<CudaDevice> device;
  Event event = nullptr;
};

} // namespace fp8c::rt::cuda

#endif // FP8C_LIB_RUNTIME_CUDA_CALLMARKS_H
