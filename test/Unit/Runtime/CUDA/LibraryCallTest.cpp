//===- LibraryCallTest.cpp - Calls of libraries that are recorded ---------===//
//
// Part of fp8c, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "CudaFixture.h"

#include "../../../../lib/Runtime/CUDA/LibraryCall.h"

using namespace fp8c::rt;
using namespace fp8c::rt::cuda;
using namespace fp8c::test;

namespace {
/// A library that fills memory.
class LibraryCalls : public testing::Test {
protected:
  void run() {
    queue->begin(stream.stream);
    const void *addresses[] = {memory};
    const char value = ++memory[0];
    call.run(addresses, 1, [&](Stream into) {
      ++called;
      const Driver &driver = queue->driver;
      driver.check(
          driver.set8Async(reinterpret_cast<Pointer>(memory + 1), 9, 1, into),
          "fill");
      int isRecording = 0;
      driver.streamIsCapturing(into, &isRecording);
      if (isRecording && disturbing) {
        --disturbing;
        EXPECT_NE(fake::synchronizeAll(), fake::kOk);
      }
    });
    queue->end();
    stream.synchronize();
    EXPECT_EQ(memory[1], 9);
    EXPECT_EQ(memory[0], value);
    memory[1] = 0;
  }

  CallersStream stream;
  CudaProgramOfCopies copies;
  CudaProgram program{openFake(), copies.programs->first()};
  std::unique_ptr<Queue> made = program.makeQueue({});
  CudaQueue *queue = static_cast<CudaQueue *>(made.get());
  LibraryCall call{*queue};
  char memory[2] = {};
  int called = 0, disturbing = 0;
};
} // namespace

TEST_F(LibraryCalls, AreRecordedByTheSecond) {
  for (int i = 0; i < 5; ++i)
    run();
  EXPECT_EQ(called, 2);
}

TEST_F(LibraryCalls, WhoseRecordingEndsAreRecordedLater) {
  disturbing = 2;
  for (int i = 0; i < 3; ++i)
    run();
  // By itself, then twice a recording that ends and by itself.
  EXPECT_EQ(called, 5);
  for (int i = 0; i < 4; ++i)
    run();
  EXPECT_EQ(called, 6);
}

TEST_F(LibraryCalls, WhoseRecordingsEndOftenAreRecordedNoMore) {
  disturbing = 100;
  for (int i = 0; i < 20; ++i)
    run();
  EXPECT_EQ(disturbing, 100 - int(kMostDisturbed));
  EXPECT_EQ(called, 20 + int(kMostDisturbed));
}
