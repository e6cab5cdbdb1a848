//===- ProgramTest.cpp - Packages, shapes, launches, state ----------------===//
//
// Part of fp8c, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "PlanWriter.h"

#include "../../../lib/Runtime/MemoryPlanner.h"

#include "fp8c/Runtime/Observer.h"

#include <gtest/gtest.h>

#include <cstdio>
#include <random>
#include <unistd.h>

using namespace fp8c::test;
using Kind = wire::ExprKind;

//===----------------------------------------------------------------------===//
// Launches
//===----------------------------------------------------------------------===//

/// y = 2 * (2 * x) for x of 3*s0 elements.
static PlanWriter &writeTwice(PlanWriter &w) {
  w.objectPath = FP8C_TEST_KERNELS;
  uint32_t one = w.constant(1), four = w.constant(4);
  uint32_t s0 = w.symbol("s0", 1, 100);
  uint32_t n = w.expr(Kind::Mul, w.constant(3), s0);
  uint32_t x = w.input("x", DType::F32, {n});
  uint32_t t = w.arena(DType::F32, {n}, 0, 1);
  uint32_t y = w.output("y", DType::F32, {n});
  uint32_t k = w.kernel("twice");
  w.launch(k, {x}, {t}, {n, one, one}, n, four);
  w.launch(k, {t}, {y}, {n, one, one}, n, four);
  return w;
}

TEST(Program, Launches) {
  PlanWriter w;
  TestProgram p(writeTwice(w).finish());
  ASSERT_EQ(p.error, "");
  for (int64_t n : {6, 300, 3}) {
    TestTensor x(DType::F32, {n}), y(DType::F32, {n});
    for (int64_t i = 0; i < n; ++i)
      x.as<float>()[i] = float(i);
    ASSERT_EQ(p.call({&x}, {&y}), "");
    for (int64_t i = 0; i < n; ++i)
      EXPECT_EQ(y.as<float>()[i], 4 * float(i));
  }
}

TEST(Program, TellsItsSignature) {
  PlanWriter w;
  TestProgram p(writeTwice(w).finish());
  size_t count;
  ASSERT_EQ(fp8rt_program_num_inputs(p.program, nullptr, &count), FP8RT_OK);
  EXPECT_EQ(count, 1u);
  fp8rt_tensor_info_t info{};
  info.struct_size = sizeof(info);
  ASSERT_EQ(fp8rt_program_input(p.program, nullptr, 0, &info), FP8RT_OK);
  EXPECT_STREQ(info.name, "x");
  EXPECT_EQ(info.ndim, 1);
  EXPECT_EQ(info.dims[0], -1);
  EXPECT_STREQ(info.dim_texts[0], "3*s0");
  int64_t s0 = 5, dim;
  ASSERT_EQ(fp8rt_program_input_dims(p.program, nullptr, 0, &s0, 1, &dim),
            FP8RT_OK);
  EXPECT_EQ(dim, 15);
  EXPECT_EQ(fp8rt_program_input(p.program, nullptr, 1, &info),
            FP8RT_INVALID_ARGUMENT);
  EXPECT_STREQ(fp8rt_error_message(), "input 1 of 1");
  EXPECT_EQ(fp8rt_program_num_inputs(p.program, "backward", &count),
            FP8RT_NOT_FOUND);
  EXPECT_STREQ(fp8rt_error_message(),
               "no entry point \"backward\", the program has forward");
}

TEST(Program, TellsItsPlan) {
  PlanWriter w;
  TestProgram p(writeTwice(w).finish());
  const char *text;
  ASSERT_EQ(fp8rt_program_plan_text(p.program, nullptr, &text), FP8RT_OK);
  EXPECT_NE(std::string(text).find("arena live 0..1 : f32[3*s0]"),
            std::string::npos)
      << text;
  const char *again;
  ASSERT_EQ(fp8rt_program_plan_text(p.program, "cpu", &again), FP8RT_OK);
  EXPECT_EQ(text, again);
  EXPECT_EQ(fp8rt_program_plan_text(p.program, "sm_90a", &text),
            FP8RT_NOT_FOUND);
  EXPECT_STREQ(fp8rt_error_message(),
               "the package has plans for cpu, none for sm_90a");
}

/// The text of the plan of `w`, or why it has none.
static std::string planText(PlanWriter &w) {
  TestProgram p(w.finish());
  const char *text = nullptr;
  return fp8rt_program_plan_text(p.program, nullptr, &text) == FP8RT_OK
             ? text
             : fp8rt_error_message();
}

TEST(Program, TellsPlansOfAnySize) {
  // Expressions of great depth.
  for (wire::ExprKind kind : {wire::ExprKind::Not, wire::ExprKind::Add}) {
    PlanWriter w;
    uint32_t e = w.symbol("s0");
    for (int i = 0; i < 50000; ++i)
      e = w.expr(kind, e, e);
    w.outputInteger("n", e);
    EXPECT_NE(planText(w).find("\nsize e4999"), std::string::npos);
  }
  // Lines, of names that end neither them nor the text.
  PlanWriter w;
  w.outputInteger("a\nb\x7f", w.symbol("s0"));
  EXPECT_NE(planText(w).find("output \"a?b?\" s0\n"), std::string::npos);
  // A name of great length, said often.
  PlanWriter large;
  std::string name(64 << 10, 's');
  Values dims(60, large.symbol(name.c_str()));
  for (int i = 0; i < 70; ++i)
    large.value(wire::ValueKind::Input, DType::F32, dims, dims, 0, 0, kNone, 0,
                0);
  EXPECT_EQ(planText(large), "plan: its text has more than 268435456 bytes");
}

TEST(Device, TellsItsCapability) {
  int capability = -1;
  ASSERT_EQ(fp8rt_device_capability("cpu", &capability), FP8RT_OK);
  EXPECT_EQ(capability, 0);
  EXPECT_NE(fp8rt_device_capability("cuda:9999", &capability), FP8RT_OK);
  EXPECT_EQ(fp8rt_device_capability("tpu", &capability), FP8RT_INCOMPATIBLE);
  EXPECT_STREQ(fp8rt_error_message(),
               "no device \"tpu\", this runtime has cpu, cuda and cuda:N");
}

TEST(Program, NamesWhatDoesNotFit) {
  PlanWriter w;
  TestProgram p(writeTwice(w).finish());
  TestTensor x(DType::F32, {6}), y(DType::F32, {6});
  TestTensor odd(DType::F32, {7}), big(DType::F32, {303}),
      half(DType::BF16, {6}), matrix(DType::F32, {2, 3}),
      empty(DType::F32, {0});
  EXPECT_EQ(p.call({&odd}, {&y}),
            "input \"x\": dim 0: got 7, expected a multiple of 3 (3*s0)");
  EXPECT_EQ(p.call({&big}, {&y}), "input \"x\": dim 0: got 303, so s0 = 101, "
                                  "expected s0 from 1 to 100");
  EXPECT_EQ(p.call({&empty}, {&y}), "input \"x\": dim 0: got 0, expected s0 "
                                    "from 1 to 100");
  EXPECT_EQ(p.call({&half}, {&y}), "input \"x\": got dtype bf16, expected f32");
  EXPECT_EQ(p.call({&matrix}, {&y}), "input \"x\": got rank 2, expected 1");
  EXPECT_EQ(p.call({nullptr}, {&y}), "input \"x\" is missing");
  EXPECT_EQ(p.call({}, {&y}), "got 0 inputs, expected 1");
  EXPECT_EQ(p.call({&x}, {&odd}), "output \"y\": dim 0: got 7, expected 6");
  EXPECT_EQ(p.call({&x}, {&x}), "output \"y\" overlaps input \"x\"");
  int64_t stride = 2;
  x.dl.strides = &stride;
  EXPECT_EQ(p.call({&x}, {&y}), "input \"x\": dim 0: got stride 2, expected 1 "
                                "(dense and row-major)");
}

TEST(Program, KeepsABoundedNumberOfShapes) {
  PlanWriter w;
  TestProgram p(writeTwice(w).finish(), 2, 2);
  for (int round = 0; round < 3; ++round)
    for (int64_t n : {3, 6, 9, 12}) {
      TestTensor x(DType::F32, {n}), y(DType::F32, {n});
      std::fill_n(x.as<float>(), n, 1.5f);
      ASSERT_EQ(p.call({&x}, {&y}), "");
      EXPECT_EQ(y.as<float>()[n - 1], 6);
    }
}

TEST(Program, ChecksItsGuards) {
  PlanWriter w;
  uint32_t s0 = w.symbol("s0"), s1 = w.symbol("s1", 0, 64, 16);
  uint32_t x = w.input("x", DType::F32, {s0, s1});
  uint32_t y = w.output("y", DType::F32, {s1, s0});
  w.check(w.expr(Kind::Eq, w.expr(Kind::Mod, s1, s0), w.constant(0)),
          "s0 divides s1", "model.py:7");
  w.outputInteger("count", w.expr(Kind::Mul, s0, s1));
  uint32_t view =
      w.view(x, DType::F32, {s1, s0}, {w.constant(1), s1}, w.constant(0));
  w.copy(view, y);
  TestProgram p(w.finish());
  auto call = [&](int64_t a, int64_t b) {
    TestTensor tx(DType::F32, {a, b}), ty(DType::F32, {b, a}),
        count(DType::I64, {});
    for (int64_t i = 0; i < a * b; ++i)
      tx.as<float>()[i] = float(i);
    std::string error = p.call({&tx}, {&ty, &count});
    if (error.empty()) {
      EXPECT_EQ(*count.as<int64_t>(), a * b);
      for (int64_t i = 0; i < a; ++i)
        for (int64_t j = 0; j < b; ++j)
          EXPECT_EQ(ty.as<float>()[j * a + i], tx.as<float>()[i * b + j]);
    }
    return error;
  };
  EXPECT_EQ(call(4, 32), "");
  EXPECT_EQ(call(4, 0), "");
  EXPECT_EQ(call(3, 32),
            "s0 divides s1: (s1 % s0) == 0 does not hold: got 2 and 0, with "
            "s0 = 3 (dim 0 of input \"x\"), s1 = 32 (dim 1 of input \"x\"); at "
            "model.py:7");
  EXPECT_EQ(call(0, 32),
            "s0 divides s1: (s1 % s0) == 0 divides by 0, with s0 = 0 (dim 0 of "
            "input \"x\"), s1 = 32 (dim 1 of input \"x\"); at model.py:7");
  EXPECT_EQ(call(4, 24),
            "input \"x\": dim 1: got 24, expected s1 to be a multiple of 16");
}

//===----------------------------------------------------------------------===//
// State and weights
//===----------------------------------------------------------------------===//

TEST(Program, CarriesStateOn) {
  PlanWriter w;
  w.objectPath = FP8C_TEST_KERNELS;
  float initial[3] = {1, 2, 3};
  uint32_t one = w.constant(1), three = w.constant(3);
  w.weight("init", DType::F32, {3}, initial);
  uint32_t s = w.state("history", DType::F32, {3});
  uint32_t t = w.arena(DType::F32, {three}, 0, 1);
  uint32_t y = w.output("y", DType::F32, {three});
  w.launch(w.kernel("twice"), {s}, {t}, {three, one, one}, three,
           w.constant(4));
  w.copy(t, s);
  w.copy(s, y);
  TestProgram p(w.finish());
  ASSERT_EQ(p.error, "");
  TestTensor ty(DType::F32, {3}), now(DType::F32, {3});
  ASSERT_EQ(p.call({}, {&ty}), "");
  ASSERT_EQ(p.call({}, {&ty}), "");
  EXPECT_EQ(ty.as<float>()[2], 12);
  fp8rt_state_t *state;
  ASSERT_EQ(fp8rt_context_state(p.context, &state), FP8RT_OK);
  ASSERT_EQ(fp8rt_state_get(state, "history", &now.dl), FP8RT_OK);
  EXPECT_EQ(now.as<float>()[0], 4);
  std::string path = "/tmp/fp8c-state-" + std::to_string(getpid());
  ASSERT_EQ(fp8rt_state_save(state, path.c_str()), FP8RT_OK);
  ASSERT_EQ(fp8rt_state_reset(state), FP8RT_OK);
  ASSERT_EQ(p.call({}, {&ty}), "");
  EXPECT_EQ(ty.as<float>()[2], 6);
  ASSERT_EQ(fp8rt_state_restore(state, path.c_str()), FP8RT_OK);
  ASSERT_EQ(p.call({}, {&ty}), "");
  EXPECT_EQ(ty.as<float>()[2], 24);
  now.as<float>()[2] = -1;
  ASSERT_EQ(fp8rt_state_set(state, "history", &now.dl), FP8RT_OK);
  ASSERT_EQ(p.call({}, {&ty}), "");
  EXPECT_EQ(ty.as<float>()[2], -2);
  EXPECT_EQ(fp8rt_state_get(state, "other", &now.dl), FP8RT_NOT_FOUND);
  EXPECT_STREQ(fp8rt_error_message(), "no state \"other\"");
  fp8rt_state_destroy(state);
  std::remove(path.c_str());
}

TEST(Program, BindsWeights) {
  PlanWriter w;
  float data[2] = {5, 6}, mine[2] = {7, 8};
  uint32_t weight = w.weight("w", DType::F32, {2}, data);
  uint32_t y = w.output("y", DType::F32, {w.constant(2)});
  w.copy(weight, y);
  TestProgram p(w.finish());
  fp8rt_context_destroy(p.context);
  p.context = nullptr;
  fp8rt_program_destroy(p.program);
  ASSERT_EQ(fp8rt_program_load_memory(p.package.data(), p.package.size(),
                                      nullptr, &p.program),
            FP8RT_OK);
  TestTensor bound(DType::F32, {2}), wrong(DType::F32, {3}),
      y2(DType::F32, {2});
  std::memcpy(bound.as<float>(), mine, sizeof(mine));
  EXPECT_EQ(fp8rt_program_bind_weight(p.program, "w", &wrong.dl),
            FP8RT_MISMATCH);
  EXPECT_STREQ(fp8rt_error_message(), "weight \"w\": dim 0: got 3, expected 2");
  ASSERT_EQ(fp8rt_program_bind_weight(p.program, "w", &bound.dl), FP8RT_OK);
  ASSERT_EQ(fp8rt_context_create(p.program, nullptr, &p.context), FP8RT_OK);
  EXPECT_EQ(fp8rt_program_bind_weight(p.program, "w", &bound.dl),
            FP8RT_INVALID_STATE);
  ASSERT_EQ(p.call({}, {&y2}), "");
  EXPECT_EQ(y2.as<float>()[1], 8);
}

//===----------------------------------------------------------------------===//
// Observer and memory
//===----------------------------------------------------------------------===//

TEST(Program, ShowsItsSteps) {
  struct Watcher : fp8c::rt::Observer {
    void beforeStep(const fp8c::rt::ObservedStep &step) override {
      if (step.index == 1) // Replaces what the second launch reads.
        static_cast<float *>(step.reads[0].data)[0] = 100;
    }
    void afterStep(const fp8c::rt::ObservedStep &step, double) override {
      seen += std::string(step.kernel) + " " + std::string(step.path) + " " +
              std::string(step.writes[0].rootName) + ";";
    }
    std::string seen;
  } watcher;
  PlanWriter w;
  TestProgram p(writeTwice(w).finish());
  fp8c::rt::setObserver(p.context, &watcher);
  TestTensor x(DType::F32, {3}), y(DType::F32, {3});
  std::fill_n(x.as<float>(), 3, 1.0f);
  ASSERT_EQ(p.call({&x}, {&y}), "");
  EXPECT_EQ(watcher.seen, "twice path ;twice path y;");
  EXPECT_EQ(y.as<float>()[0], 200);
  EXPECT_EQ(y.as<float>()[1], 4);
}

TEST(MemoryPlanner, NeverOverlapsWhatLivesTogether) {
  std::mt19937 rng(3);
  for (int round = 0; round < 200; ++round) {
    std::vector<fp8c::rt::Lifetime> buffers;
    int64_t sum = 0;
    for (int i = 0; i < 40; ++i) {
      uint32_t first = uint32_t(rng() % 30), length = uint32_t(rng() % 6);
      buffers.push_back({int64_t(rng() % 5000), first, first + length});
      sum += fp8c::rt::alignUp(buffers.back().bytes);
    }
    auto again = buffers;
    int64_t total = fp8c::rt::planMemory(buffers);
    EXPECT_EQ(fp8c::rt::planMemory(again), total);
    EXPECT_LE(total, sum);
    for (size_t i = 0; i < buffers.size(); ++i) {
      EXPECT_EQ(buffers[i].offset % 64, 0);
      EXPECT_LE(buffers[i].offset + buffers[i].bytes, total);
      EXPECT_EQ(buffers[i].offset, again[i].offset);
      for (size_t j = 0; j < i; ++j) {
        const auto &a = buffers[i], &b = buffers[j];
        if (a.first <= b.last && b.first <= a.last && a.bytes && b.bytes)
          EXPECT_TRUE(a.offset + a.bytes <= b.offset ||
                      b.offset + b.bytes <= a.offset);
      }
    }
  }
}

TEST(MemoryPlanner, ReusesTheSmallestGap) {
  // Two of 256 die at step 0 with one of 64 between; what comes then fits.
  std::vector<fp8c::rt::Lifetime> b = {
      {1024, 0, 5}, {256, 0, 1}, {128, 0, 5}, {200, 2, 3}, {64, 2, 3}};
  EXPECT_EQ(fp8c::rt::planMemory(b), 1024 + 256 + 128 + 64);
  EXPECT_EQ(b[3].offset, b[1].offset);
}
