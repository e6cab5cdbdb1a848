//===- PrivateStream.cpp - Streams of our own -----------------------------===//
//
// Part of fp8c, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "PrivateStream.h"

using namespace fp8c::rt;
using namespace fp8c::rt::cuda;

void PrivateStream::waitFor(Stream other) const {
  // For the default stream the question fails, harmlessly, while a stream is
  // recorded that it would wait for.
  int isRecording = 0;
  if (driver.streamIsCapturing(other, &isRecording) != 0 || isRecording)
    return;
  Event event = nullptr;
  driver.check(driver.eventCreate(&event, kWithoutTime), "cuEventCreate");
  Result result = driver.eventRecord(event, other);
  if (result == 0)
    result = driver.streamWaitEvent(stream, event, 0);
  driver.eventDestroy(event);
  driver.check(result, "cuStreamWaitEvent");
}
