//===- FakeDriver.h - A CUDA driver without a GPU ---------------*- C++ -*-===//
//
// Part of fp8c, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A libcuda.so.1 that tests are linked with, so that the runtime finds it as it
// would find the driver. It knows streams, events, memory, recordings and their
// rules. What is put into a stream runs as late as the rules allow: when
// something waits for it. So who reads memory without waiting reads old bytes,
// each time.
//
// Stricter than the driver: while recordings forbid a thread what may be
// unsafe, it may do nothing but put something into streams.
//
//===----------------------------------------------------------------------===//

#ifndef FP8C_TEST_UNIT_RUNTIME_CUDA_FAKEDRIVER_H
#define FP8C_TEST_UNIT_RUNTIME_CUDA_FAKEDRIVER_H

#include "../../../../lib/Runtime/CUDA/Driver.h"

namespace fp8c::test::fake {

/// CUresult.
enum : rt::cuda::Result {
  kOk = 0,
  kInvalidValue = 1,
  kDeinitialized = 4,
  kInvalidContext = 201,
  kNotSupported = 801,
  kCaptureUnsupported = 900,
  kCaptureInvalidated = 901,
  kCaptureImplicit = 906
};
/// What a block of a kernel takes.
constexpr double kBlockMicroseconds = 0.05;

/// CUstreamCaptureMode.
enum { kGlobal, kThreadLocal, kRelaxed };

/// What another library does that waits for the whole device.
rt::cuda::Result synchronizeAll();
/// As when the process ends: from now on all functions fail.
void end();
/// Of what was made and not given back yet.
size_t countAllocations();
size_t countStreams();
size_t countEvents();
/// The thread's.
int captureMode();

} // namespace fp8c::test::fake

#endif // FP8C_TEST_UNIT_RUNTIME_CUDA_FAKEDRIVER_H
