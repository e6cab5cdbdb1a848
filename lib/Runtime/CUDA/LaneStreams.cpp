//===- LaneStreams.cpp - Lanes as streams that are recorded ---------------===//
//
// Part of fp8c, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "LaneStreams.h"

using namespace fp8c::rt;
using namespace fp8c::rt::cuda;

/// CU_STREAM_NON_BLOCKING and CU_EVENT_DISABLE_TIMING.
static constexpr unsigned kNonBlocking = 1;
static constexpr unsigned kWithoutTime = 2;

LaneStreams::LaneStreams(std::shared_ptr<CudaDevice> owner)
    : device(std::move(owner)), driver(device->driver) {}

LaneStreams::~LaneStreams() {
  CudaDevice::Scope scope(*device);
  for (Stream stream : streams)
    driver.streamDestroy(stream);
  for (Event event : events)
    driver.eventDestroy(event);
}

Stream LaneStreams::stream(uint32_t lane) {
  if (lane == 0)
    return origin;
  while (streams.size() < lane) {
    Stream created;
    driver.check(driver.streamCreate(&created, kNonBlocking), "cuStreamCreate");
    streams.push_back(created);
  }
  return streams[lane - 1];
}

Event LaneStreams::event(size_t index) {
  while (events.size() <= index) {
    Event created;
    driver.check(driver.eventCreate(&created, kWithoutTime), "cuEventCreate");
    events.push_back(created);
  }
  return events[index];
}

void LaneStreams::run(Stream recorded, const std::vector<LaneStep> &steps,
                      const std::function<void(size_t, Stream, bool)> &put) {
  origin = recorded;
  auto record = [&](size_t index, Stream where) {
    driver.check(driver.eventRecord(event(index), where), "cuEventRecord");
  };
  auto wait = [&](Stream where, size_t index) {
    driver.check(driver.streamWaitEvent(where, event(index), 0),
                 "cuStreamWaitEvent");
  };
  // An event a step, then one for the start and one for each lane's end.
  const size_t start = steps.size();
  std::vector<bool> isOpen{true};
  bool isForked = false;
  for (const LaneStep &step : steps) {
    isForked |= step.lane != 0;
    if (isOpen.size() <= step.lane)
      isOpen.resize(step.lane + 1);
  }
  if (isForked)
    record(start, origin);
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
  for (uint32_t lane = 1; lane < isOpen.size(); ++lane)
    if (isOpen[lane]) {
      record(start + lane, stream(lane));
      wait(origin, start + lane);
    }
}
