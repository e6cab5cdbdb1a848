//===- LaneStreams.cpp - Lanes as streams that are recorded ---------------===//
//
// Part of fp8c, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "LaneStreams.h"

#include <algorithm>

using namespace fp8c::rt;
using namespace fp8c::rt::cuda;

/// Priorities: smaller numbers go first, 0 is what streams have by default. The
/// first lane has what a call waits for longest.
static constexpr int kFirst = -1, kOthers = 0;

LaneStreams::LaneStreams(std::shared_ptr<CudaDevice> owner)
    : device(std::move(owner)), driver(device->driver) {}

LaneStreams::~LaneStreams() {
  CudaDevice::Scope scope(*device, std::nothrow);
  if (!scope)
    return;
  for (Stream stream : streams)
    driver.streamDestroy(stream);
  for (Event event : events)
    driver.eventDestroy(event);
}

Stream LaneStreams::stream(uint32_t lane) {
  while (streams.size() <= lane) {
    Stream created;
    driver.check(
        driver.streamCreateWithPriority(&created, kNonBlocking,
                                        streams.empty() ? kFirst : kOthers),
        "cuStreamCreateWithPriority");
    streams.push_back(created);
  }
  return streams[lane];
}

Event LaneStreams::event(size_t index) {
  while (events.size() <= index) {
    Event created;
    driver.check(driver.eventCreate(&created, kWithoutTime), "cuEventCreate");
    events.push_back(created);
  }
  return events[index];
}

void LaneStreams::run(Stream origin, const std::vector<LaneStep> &steps,
                      const std::function<void(size_t, Stream, bool)> &put) {
  uint32_t last = 0;
  for (const LaneStep &step : steps)
    last = std::max(last, step.lane);
  if (last == 0) {
    for (size_t i = 0; i < steps.size(); ++i)
      put(i, origin, true);
    return;
  }
  auto record = [&](size_t index, Stream where) {
    driver.check(driver.eventRecord(event(index), where), "cuEventRecord");
  };
  auto wait = [&](Stream where, size_t index) {
    driver.check(driver.streamWaitEvent(where, event(index), 0),
                 "cuStreamWaitEvent");
  };
  // An event a step, then one for the start, which ends serve too.
  const size_t start = steps.size();
  record(start, origin);
  std::vector<bool> isOpen(last + 1);
  for (size_t i = 0; i < steps.size(); ++i) {
    const LaneStep &step = steps[i];
    Stream where = stream(step.lane);
    const bool opens = !isOpen[step.lane];
    isOpen[step.lane] = true;
    if (opens)
      wait(where, start);
    for (uint32_t other : step.waits)
      wait(where, other);
    put(i, where, step.waits.empty() && !opens);
    if (step.isAwaited)
      record(i, where);
  }
  for (uint32_t lane = 0; lane <= last; ++lane)
    if (isOpen[lane]) {
      record(start, stream(lane));
      wait(origin, start);
    }
}
