//===- RecordingTest.cpp - Calls that are recorded ------------------------===//
//
// Part of fp8c, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "PlanWriter.h"
#include "WrappedDevice.h"

#include "../../../lib/Runtime/Context.h"
#include "../../../lib/Runtime/Error.h"
#include "../../../lib/Runtime/State.h"

#include <gtest/gtest.h>

using namespace fp8c::rt;
using namespace fp8c::test;
using fp8c::test::DType;

namespace {

/// What a queue has recorded, and how many recordings something ends.
struct Recorded {
  int disturbed = 0, made = 0, replayed = 0;
};

class RecordingQueue : public WrappedQueue {
public:
  RecordingQueue(std::unique_ptr<Queue> cpu, Recorded &recorded)
      : WrappedQueue(std::move(cpu)), recorded(recorded) {}

  std::unique_ptr<Command>
  record(const std::function<void()> &commands) override {
    if (recorded.disturbed > 0) {
      --recorded.disturbed;
      fail(FP8RT_INTERNAL, "the recording has ended");
    }
    ++recorded.made;
    return std::make_unique<Replay>(commands, recorded);
  }

private:
  struct Replay : Command {
    Replay(const std::function<void()> &commands, Recorded &recorded)
        : recorded(recorded) {
      commands();
    }
    void run() override { ++recorded.replayed; }
    Recorded &recorded;
  };

  Recorded &recorded;
};

/// A context of a plan that copies its input, on a device that records.
class Recordings : public testing::Test {
protected:
  explicit Recordings() {
    PlanWriter w;
    const uint32_t size = w.constant(4);
    w.copy(w.input("x", DType::F32, {size}), w.output("y", DType::F32, {size}));
    package = w.finish();
    Programs programs(Package::openMemory(
        {reinterpret_cast<const unsigned char *>(package.data()),
         package.size()}));
    auto device = std::make_shared<WrappedDevice>(
        [this](std::unique_ptr<Queue> cpu) {
          return std::make_unique<RecordingQueue>(std::move(cpu), recorded);
        },
        kDLCUDA);
    auto state = std::make_shared<State>(programs.first());
    state->attach(device);
    fp8rt_context_options_t options{};
    options.struct_size = sizeof(options);
    options.graphs = FP8RT_GRAPHS_AUTO;
    context.emplace(device, programs.first(), state, options);
    x.dl.device.device_type = y.dl.device.device_type = kDLCUDA;
  }

  void call() {
    const DLTensor *in[] = {&x.dl};
    DLTensor *out[] = {&y.dl};
    context->call(in, 1, out, 1, nullptr);
  }

  std::string package;
  Recorded recorded;
  std::optional<Context> context;
  TestTensor x{DType::F32, {4}}, y{DType::F32, {4}};
};

} // namespace

TEST_F(Recordings, AreMadeByTheSecondCall) {
  for (int i = 0; i < 4; ++i)
    call();
  EXPECT_EQ(recorded.made, 1);
  EXPECT_EQ(recorded.replayed, 3);
}

TEST_F(Recordings, ThatFailAreTriedAgain) {
  recorded.disturbed = 2;
  for (int i = 0; i < 3; ++i) {
    x.as<float>()[0] = y.as<float>()[1] = float(i + 1);
    call();
    EXPECT_EQ(x.bytes, y.bytes);
  }
  EXPECT_EQ(recorded.made, 0);
  call();
  EXPECT_EQ(recorded.made, 1);
  EXPECT_EQ(recorded.replayed, 1);
}

TEST_F(Recordings, ThatFailOftenAreTriedNoMore) {
  recorded.disturbed = 100;
  for (int i = 0; i < 20; ++i) {
    x.as<float>()[0] = float(i + 1);
    call();
    EXPECT_EQ(x.bytes, y.bytes);
  }
  EXPECT_EQ(recorded.disturbed, 92);
}
