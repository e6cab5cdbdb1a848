//===- CaptureTest.cpp - Beside a caller's recording ----------------------===//
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

namespace {
/// By its mode and the flags of the stream that is recorded.
class Beside : public testing::TestWithParam<std::tuple<int, unsigned>> {
protected:
  const int mode = std::get<0>(GetParam());
  CallersStream recorded{std::get<1>(GetParam())};
};
} // namespace

TEST_P(Beside, ContextsAreMadeCalledAndEnded) {
  const size_t allocations = fake::countAllocations(),
               events = fake::countEvents(), streams = fake::countStreams();
  recorded.begin(mode);
  runInThread([&] {
    CallersStream stream;
    CudaContext context;
    for (int64_t size : {4, 400, 4}) {
      context.resize(size);
      const DLTensor *in[] = {&context.x->dl, &context.v.dl};
      fp8rt_output_t out[3];
      for (fp8rt_output_t &o : out)
        o.struct_size = sizeof(o);
      context.context->queryOutputs(in, 2, out, 3);
      EXPECT_EQ(out[0].dims[0], size);
      // Plain, recorded, replayed.
      for (int call = 0; call < 3; ++call) {
        context.y->as<float>()[size - 1] = 0;
        context.call(stream.stream);
        stream.synchronize();
        EXPECT_EQ(context.x->bytes, context.y->bytes);
      }
    }
    context.writeState(3);
    EXPECT_EQ(context.readState(), 3);
    context.state->reset();
    EXPECT_EQ(context.readState(), 0.5f);
    EXPECT_EQ(fake::captureMode(), fake::kGlobal);
  });
  EXPECT_NE(recorded.end().handle, nullptr);
  EXPECT_EQ(fake::countAllocations(), allocations);
  EXPECT_EQ(fake::countEvents(), events);
  EXPECT_EQ(fake::countStreams(), streams);
}

TEST_P(Beside, TheDefaultStreamIsNotNeededToMakeShapes) {
  recorded.begin(mode);
  runInThread([&] {
    CudaContext context;
    const DLTensor *in[] = {&context.x->dl, &context.v.dl};
    fp8rt_output_t out[3];
    for (fp8rt_output_t &o : out)
      o.struct_size = sizeof(o);
    context.context->queryOutputs(in, 2, out, 3);
  });
  EXPECT_NE(recorded.end().handle, nullptr);
}

TEST_P(Beside, ACallInTheDefaultStreamLeavesWhatItWaitsForAlone) {
  const bool waits = std::get<1>(GetParam()) != kNonBlocking;
  CudaContext context;
  recorded.begin(mode);
  std::string error;
  runInThread([&] {
    try {
      context.call(nullptr);
    } catch (const Error &caught) {
      error = caught.message;
    }
  });
  EXPECT_EQ(error, waits ? "cuStreamIsCapturing: error 906: " : "");
  EXPECT_NE(recorded.end().handle, nullptr);
}

TEST_P(Beside, TheFirstCallOfAShapeIsRecorded) {
  const Driver &driver = recorded.device->driver;
  CudaContext context;
  context.v.as<float>()[0] = 7;
  recorded.begin(mode);
  context.call(recorded.stream);
  EXPECT_EQ(fake::captureMode(), fake::kGlobal);
  const OwnedGraph graph = recorded.end();
  ASSERT_NE(graph.handle, nullptr);
  EXPECT_EQ(context.readState(), 0.5f);
  CudaDevice::Scope scope(*recorded.device);
  GraphExec exec = nullptr;
  driver.check(driver.graphInstantiate(&exec, graph.handle, 0), "instantiate");
  for (float value : {7.f, 8.f}) {
    context.v.as<float>()[0] = value;
    driver.check(driver.graphLaunch(exec, recorded.stream), "launch");
    // Whatever ran the call.
    EXPECT_EQ(context.readState(), value);
    EXPECT_EQ(context.x->bytes, context.y->bytes);
  }
  driver.graphExecDestroy(exec);
}

INSTANTIATE_TEST_SUITE_P(Recordings, Beside,
                         testing::Combine(testing::Values(fake::kGlobal,
                                                          fake::kThreadLocal),
                                          testing::Values(0u, kNonBlocking)));

TEST(Calls, AreAwaitedByWhoReadsState) {
  CallersStream stream;
  CudaContext context;
  for (float value : {1.f, 2.f, 3.f}) {
    context.v.as<float>()[0] = value;
    context.call(stream.stream);
    EXPECT_EQ(context.readState(), value);
  }
}

TEST(Calls, AreAwaitedByWhoReadsStateAfterAQuery) {
  CallersStream stream;
  CudaContext context;
  context.v.as<float>()[0] = 5;
  context.call(stream.stream);
  const DLTensor *in[] = {&context.x->dl, &context.v.dl};
  fp8rt_output_t out[3];
  for (fp8rt_output_t &o : out)
    o.struct_size = sizeof(o);
  context.context->queryOutputs(in, 2, out, 3);
  EXPECT_EQ(context.readState(), 5);
}

TEST(Calls, AreAwaitedByWhoWritesState) {
  CallersStream stream;
  CudaContext context;
  for (float value : {1.f, 2.f, 3.f}) {
    context.writeState(value);
    context.call(stream.stream);
    context.writeState(9);
    stream.synchronize();
    EXPECT_EQ(context.old.as<float>()[0], value);
    EXPECT_EQ(context.readState(), 9);
  }
}

TEST(Calls, EndBeforeTheirMemoryIsFreed) {
  CallersStream stream;
  CudaContext context;
  context.call(stream.stream);
  // A larger arena takes the place of the one that is in use.
  auto small = std::move(context.x), result = std::move(context.y);
  context.resize(1 << 12);
  context.call(stream.stream);
  EXPECT_EQ(small->bytes, result->bytes);
}
