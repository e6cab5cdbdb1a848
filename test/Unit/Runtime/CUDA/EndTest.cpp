//===- EndTest.cpp - Processes that end -----------------------------------===//
//
// Part of fp8c, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "CudaFixture.h"

using namespace fp8c::rt;
using namespace fp8c::rt::cuda;
using namespace fp8c::test;

/// Static objects of a program may end after the driver has.
[[noreturn]] static void exitWithAContext() {
  static CallersStream stream;
  static CudaContext context;
  static std::unique_ptr<Stopwatch> stopwatch = openFake()->makeStopwatch();
  static std::unique_ptr<Recording> recording =
      openFake()->record([](void *) {});
  static CudaDevice::Scope scope(*openFake());
  static RecordedStream recorded(*openFake());
  for (int call = 0; call < 3; ++call)
    context.call(stream.stream);
  stopwatch->mark(0, stream.stream);
  std::atexit(fake::end);
  std::exit(0);
}

TEST(Ends, AfterTheDriver) {
  EXPECT_EXIT(exitWithAContext(), testing::ExitedWithCode(0), "^$");
}

/// Its contexts are never ended.
[[noreturn]] static void exitWithoutEnding() {
  static auto *context = new CudaContext;
  context->call(nullptr);
  std::exit(0);
}

TEST(Ends, WithContextsAlive) {
  EXPECT_EXIT(exitWithoutEnding(), testing::ExitedWithCode(0), "^$");
}
