//===- CudaStopwatch.cpp - Times of a GPU, and what it reaches at best ----===//
//
// Part of fp8c, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "CudaDevice.h"

#include "OwnKernels.h"

#include <algorithm>
#include <vector>

using namespace fp8c::rt;
using namespace fp8c::rt::cuda;

namespace {

/// Events.
class CudaStopwatch : public Stopwatch {
public:
  explicit CudaStopwatch(std::shared_ptr<CudaDevice> device)
      : device(std::move(device)), driver(this->device->driver) {}
  ~CudaStopwatch() override {
    CudaDevice::Scope scope(*device, std::nothrow);
    if (!scope)
      return;
    for (Event event : events)
      driver.eventDestroy(event);
  }

  void mark(size_t index, void *stream) override {
    CudaDevice::Scope scope(*device);
    while (events.size() <= index)
      driver.check(driver.eventCreate(&events.emplace_back(), kWithTime),
                   "cuEventCreate");
    driver.check(driver.eventRecord(events[index], static_cast<Stream>(stream)),
                 "cuEventRecord");
  }
  double seconds(size_t index) override {
    CudaDevice::Scope scope(*device);
    driver.check(driver.eventSynchronize(events[index + 1]),
                 "cuEventSynchronize");
    float milliseconds = 0;
    driver.check(
        driver.eventElapsed(&milliseconds, events[index], events[index + 1]),
        "cuEventElapsedTime");
    return double(milliseconds) * 1e-3;
  }
  double markSeconds() override;
  void stall(double seconds, void *stream) override {
    CudaDevice::Scope scope(*device);
    uint64_t nanoseconds = uint64_t(seconds * 1e9);
    void *arguments[] = {&nanoseconds};
    driver.check(driver.launch(device->ownKernels().stall(), 1, 1, 1, 1, 1, 1,
                               0, static_cast<Stream>(stream), arguments,
                               nullptr),
                 "cuLaunchKernel");
  }

private:
  std::shared_ptr<CudaDevice> device;
  const Driver &driver;
  std::vector<Event> events;
};

} // namespace

/// Commands that do next to nothing take longer with marks between them: a mark
/// waits for what is before it, and a command for the mark.
double CudaStopwatch::markSeconds() {
  constexpr int kCommands = 64, kRounds = 9;
  constexpr double kStall = 1e-3;
  auto measure = [&](bool isMarked) {
    std::vector<double> times;
    for (int round = 0; round < kRounds; ++round) {
      stall(kStall, nullptr);
      mark(0, nullptr);
      for (int i = 0; i < kCommands; ++i) {
        stall(0, nullptr);
        if (isMarked)
          mark(size_t(i) + 2, nullptr);
      }
      mark(1, nullptr);
      times.push_back(seconds(0));
    }
    std::sort(times.begin(), times.end());
    return times[kRounds / 2];
  };
  return std::max(measure(true) - measure(false), 0.0) / kCommands;
}

std::unique_ptr<Stopwatch> CudaDevice::makeStopwatch() {
  return std::make_unique<CudaStopwatch>(
      std::static_pointer_cast<CudaDevice>(shared_from_this()));
}

DeviceLimits CudaDevice::getLimits() {
  // Products: what was measured with cuBLASLt on random numbers (H200).
  DeviceLimits limits;
  if (capability == 90)
    limits = {0, 1500e12, 790e12, 395e12};
  constexpr int64_t kBytes = int64_t(1) << 28;
  constexpr int kCopies = 8;
  DeviceMemory from(shared_from_this(), kBytes), to(shared_from_this(), kBytes);
  std::unique_ptr<Stopwatch> stopwatch = makeStopwatch();
  Scope scope(*this);
  for (int i = -1; i <= kCopies; ++i) {
    if (i == 0 || i == kCopies)
      stopwatch->mark(i ? 1 : 0, nullptr);
    driver.check(driver.copyAsync(reinterpret_cast<Pointer>(to.data()),
                                  reinterpret_cast<Pointer>(from.data()),
                                  size_t(kBytes), nullptr),
                 "cuMemcpyDtoDAsync");
  }
  limits.copyBytes = 2.0 * kBytes * kCopies / stopwatch->seconds(0);
  wait(nullptr);
  return limits;
}
