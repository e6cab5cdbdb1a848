//===- CallMarks.cpp - Calls that the host waits for ----------------------===//
//
// Part of fp8c, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "CallMarks.h"

#include "CudaDevice.h"

#include <algorithm>

using namespace fp8c::rt;
using namespace fp8c::rt::cuda;

void CallMarks::add(Event event) {
  std::lock_guard<std::mutex> lock(mutex);
  events.push_back(event);
}

void CallMarks::remove(Event event) {
  std::lock_guard<std::mutex> lock(mutex);
  events.erase(std::find(events.begin(), events.end(), event));
}

void CallMarks::wait(const Driver &driver) {
  std::lock_guard<std::mutex> lock(mutex);
  for (Event event : events)
    driver.check(driver.eventSynchronize(event), "cuEventSynchronize");
}

CallMark::CallMark(std::shared_ptr<CudaDevice> owner)
    : device(std::move(owner)) {
  CudaDevice::Scope scope(*device);
  device->driver.check(device->driver.eventCreate(&event, kWithoutTime),
                       "cuEventCreate");
  device->callMarks.add(event);
}

CallMark::~CallMark() {
  device->callMarks.remove(event);
  CudaDevice::Scope scope(*device, std::nothrow);
  if (!scope)
    return;
  // Nobody can wait for it later.
  device->driver.eventSynchronize(event);
  device->driver.eventDestroy(event);
}

void CallMark::set(Stream stream) noexcept {
  const Driver &driver = device->driver;
  int isRecording = 0;
  // Into a stream that cannot be asked the call has put nothing.
  if (driver.streamIsCapturing(stream, &isRecording) != 0)
    return;
  if (isRecording)
    driver.eventRecordWithFlags(event, stream, kRecordExternal);
  else
    driver.eventRecord(event, stream);
}
