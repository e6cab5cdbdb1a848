//===- LanesContextTest.cpp - Calls whose steps run side by side ----------===//
//
// Part of fp8c, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The cpu in the place of a device with lanes: whichever order of steps lanes
// and waits allow must give the same results, in memory that is shared out for
// lanes.
//
//===----------------------------------------------------------------------===//

#include "PlanWriter.h"
#include "WrappedDevice.h"

#include "../../../lib/Runtime/Context.h"
#include "../../../lib/Runtime/State.h"

#include <gtest/gtest.h>

#include <random>

using namespace fp8c::rt;
using namespace fp8c::test;
using fp8c::test::DType;
using fp8c::test::kNone;

namespace {

/// Runs steps of lanes in a random order that is allowed.
class ShuffledQueue : public WrappedQueue {
public:
  ShuffledQueue(std::unique_ptr<Queue> cpu, std::mt19937 &random)
      : WrappedQueue(std::move(cpu)), random(random) {}

  bool isRecorded() const override { return true; }
  uint32_t lanes() const override { return 4; }
  void runInLanes(const std::vector<LaneStep> &steps,
                  const std::function<void(size_t)> &run) override {
    std::vector<bool> done(steps.size());
    for (size_t count = 0; count < steps.size(); ++count) {
      std::vector<size_t> ready;
      std::vector<bool> isBusy(lanes());
      for (size_t i = 0; i < steps.size(); ++i) {
        if (done[i] || isBusy[steps[i].lane])
          continue;
        isBusy[steps[i].lane] = true;
        bool waits = false;
        for (uint32_t other : steps[i].waits)
          waits |= !done[other];
        if (!waits)
          ready.push_back(i);
      }
      ASSERT_FALSE(ready.empty());
      wasShuffled |= ready.size() > 1;
      size_t next = ready[random() % ready.size()];
      run(next);
      done[next] = true;
    }
  }

  static inline bool wasShuffled = false;

private:
  std::mt19937 &random;
};

/// A step of the plan: value `value` from two halves of others, or to output.
struct Step {
  uint32_t value;
  bool isOutput;
};

} // namespace

constexpr uint32_t kValues = 24, kSize = 16;

/// Values of 16 numbers, each of two halves of earlier ones, and an output of
/// all of them that is written now and then.
static std::string writePlan(std::mt19937 &random) {
  PlanWriter w;
  const uint32_t one = w.constant(1), half = w.constant(kSize / 2),
                 size = w.constant(kSize);
  const uint32_t x = w.input("x", DType::F32, {size}),
                 y = w.output("y", DType::F32, {w.constant(kValues * kSize)});
  auto part = [&](uint32_t value, uint32_t at, uint32_t extent) {
    return w.view(value, DType::F32, {extent}, {one}, w.constant(at));
  };
  // What each value is made of (0: the input), and when it is put out.
  std::vector<std::array<uint32_t, 2>> sources;
  std::vector<Step> order;
  std::vector<uint32_t> waiting;
  for (uint32_t i = 1; i <= kValues; ++i) {
    auto source = [&] {
      return i - 1 - std::min<uint32_t>(i - 1, random() % 8);
    };
    sources.push_back({source(), source()});
    order.push_back({i, false});
    waiting.push_back(i);
    while (!waiting.empty() && random() % 2) {
      size_t which = random() % waiting.size();
      order.push_back({waiting[which], true});
      waiting.erase(waiting.begin() + long(which));
    }
  }
  for (uint32_t value : waiting)
    order.push_back({value, true});
  // Two steps for a value, one for an output.
  std::vector<uint32_t> first(kValues + 1), last(kValues + 1);
  uint32_t number = 0;
  for (const Step &step : order) {
    if (step.isOutput) {
      last[step.value] = std::max(last[step.value], number++);
      continue;
    }
    first[step.value] = number;
    for (uint32_t source : sources[step.value - 1])
      last[source] = std::max(last[source], number++);
    last[step.value] = std::max(last[step.value], number - 1);
  }
  std::vector<uint32_t> values{x};
  for (uint32_t i = 1; i <= kValues; ++i)
    values.push_back(w.arena(DType::F32, {size}, first[i], last[i]));
  for (const Step &step : order) {
    if (step.isOutput) {
      w.copy(values[step.value], part(y, (step.value - 1) * kSize, size));
      continue;
    }
    for (uint32_t h = 0; h < 2; ++h) {
      uint32_t from = random() % 2 * (kSize / 2);
      w.copy(part(values[sources[step.value - 1][h]], from, half),
             part(values[step.value], h * (kSize / 2), half));
    }
  }
  return w.finish();
}

TEST(Lanes, CallsGiveTheSameInAnyOrder) {
  std::mt19937 random(7);
  for (int round = 0; round < 60; ++round) {
    const std::string package = writePlan(random);
    TestTensor x(DType::F32, {kSize}), y(DType::F32, {kValues * kSize});
    for (uint32_t i = 0; i < kSize; ++i)
      x.as<float>()[i] = float(i);
    TestProgram inOrder(package);
    ASSERT_EQ(inOrder.call({&x}, {&y}), "");

    Programs programs(Package::openMemory(
        {reinterpret_cast<const unsigned char *>(package.data()),
         package.size()}));
    auto device =
        std::make_shared<WrappedDevice>([&](std::unique_ptr<Queue> cpu) {
          return std::make_unique<ShuffledQueue>(std::move(cpu), random);
        });
    auto state = std::make_shared<State>(programs.first());
    state->attach(device);
    fp8rt_context_options_t options{};
    options.struct_size = sizeof(options);
    Context context(device, programs.first(), state, options);
    for (int call = 0; call < 5; ++call) {
      TestTensor z(DType::F32, {kValues * kSize});
      const DLTensor *in[] = {&x.dl};
      DLTensor *out[] = {&z.dl};
      context.call(in, 1, out, 1, nullptr);
      ASSERT_EQ(y.bytes, z.bytes) << "round " << round;
    }
  }
  EXPECT_TRUE(ShuffledQueue::wasShuffled);
}
