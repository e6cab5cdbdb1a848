//===- HostileTest.cpp - Damaged packages and plans -----------------------===//
//
// Part of fp8c, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "PlanWriter.h"

#include <gtest/gtest.h>

#include <functional>
#include <random>

using namespace fp8c::test;
using Kind = wire::ExprKind;

/// The message of loading a package, or of calling it.
static std::string failure(const std::string &package) {
  return TestProgram(package).error;
}

/// A small plan that is changed by `spoil` before it is finished.
static std::string failureOf(std::function<void(PlanWriter &)> spoil) {
  PlanWriter w;
  spoil(w);
  return failure(w.finish());
}

TEST(Hostile, PlansGetAnError) {
  EXPECT_EQ(failureOf([](PlanWriter &w) { w.expr(Kind::Add, 0, 0); }),
            "plan: expression 0: refers to 0 and 0, not earlier ones");
  EXPECT_EQ(failureOf([](PlanWriter &w) { w.expr(Kind(77), 0, 0); }),
            "plan: expression 0: kind 77");
  EXPECT_EQ(failureOf([](PlanWriter &w) { w.expr(Kind::Symbol, 3); }),
            "plan: expression 0: symbol 3 of 0");
  EXPECT_EQ(failureOf([](PlanWriter &w) { w.symbol("s", 5, 4); }),
            "plan: symbol \"s\": range 5 to 4");
  EXPECT_EQ(failureOf([](PlanWriter &w) { w.symbol("s", 0, 4, 0); }),
            "plan: symbol \"s\": multiple 0");
  EXPECT_EQ(failureOf([](PlanWriter &w) { w.check(9, "c"); }),
            "plan: check \"c\": expression 9 of 0");
  EXPECT_EQ(failureOf([](PlanWriter &w) { w.input("x", DType::F32, {99}); }),
            "plan: value 0: expression 99 of 1");
  EXPECT_EQ(failureOf([](PlanWriter &w) { w.input("x", DType(55), {}); }),
            "plan: value 0: dtype 55");
  EXPECT_EQ(failureOf([](PlanWriter &w) {
              w.value(wire::ValueKind::View, DType::F32, {}, {}, w.constant(0),
                      0, 0, 0, 0);
            }),
            "plan: value 0: views 0, not an earlier value");
  EXPECT_EQ(failureOf([](PlanWriter &w) {
              w.value(wire::ValueKind::Weight, DType::F32, {}, {}, 0, 4, kNone,
                      0, 0);
            }),
            "plan: value 0: weight 4 of 0");
  EXPECT_EQ(failureOf([](PlanWriter &w) { w.fill(7, 0); }),
            "plan: entry point \"forward\": step 0: value 7 of 0");
  EXPECT_EQ(
      failureOf([](PlanWriter &w) { w.fill(w.input("x", DType::F32, {}), 0); }),
      "plan: entry point \"forward\": step 0: value 0 is an input or a "
      "weight and is written");
  EXPECT_EQ(failureOf([](PlanWriter &w) {
              w.fill(w.arena(DType::F32, {}, 1, 1), 0);
            }),
            "plan: entry point \"forward\": step 0: value 0 is live from step "
            "1 to 1");
  EXPECT_EQ(failureOf([](PlanWriter &w) {
              w.launch(3, {}, {}, {}, w.constant(1), w.constant(0));
            }),
            "plan: entry point \"forward\": step 0: kernel 3 of 0");
  PlanWriter old;
  EXPECT_EQ(failure(old.package(old.finishPlan(99))),
            "plan: version 99, this runtime reads 1");
}

/// A launch of a kernel that takes operand `product`, behind a product of the
/// state with itself that is live to step `last`; it writes to the state or an
/// output, and may read the result by another operand too.
static std::string failureOfJoined(uint32_t product, uint32_t last,
                                   bool writesState, bool isFirst = false,
                                   bool readsTwice = false) {
  PlanWriter w;
  const float data[4] = {};
  const uint32_t two = w.constant(2);
  w.weight("w", DType::F32, {2, 2}, data);
  const uint32_t state = w.state("s", DType::F32, {2, 2});
  const uint32_t t = w.arena(DType::F32, {two, two}, 0, last);
  const uint32_t y =
      writesState ? state : w.output("y", DType::F32, {two, two});
  if (!isFirst)
    w.step(wire::Command::Matmul, wire::CreateMatmul(w.fbb, state, state, t),
           {state}, {t});
  w.step(wire::Command::Launch,
         wire::CreateLaunch(
             w.fbb, w.kernel("k", product),
             w.fbb.CreateVector(readsTwice ? Values{t, t, y} : Values{t, y}),
             w.fbb.CreateVector(Values{}), two, w.constant(0),
             /*joins=*/true),
         {t, state}, {y});
  w.copy(state, w.output("z", DType::F32, {two, two}));
  return failure(w.finish());
}

TEST(Hostile, JoinedProducts) {
  const std::string where = "plan: entry point \"forward\": step ";
  EXPECT_EQ(failureOfJoined(0, 1, false, true), where + "0: joins no product");
  EXPECT_EQ(failureOfJoined(2, 1, false), where + "1: joins no product");
  EXPECT_EQ(failureOfJoined(kNone, 1, false), where + "1: joins no product");
  EXPECT_EQ(failureOfJoined(1, 1, false),
            where + "1: joins a product whose result others read");
  EXPECT_EQ(failureOfJoined(0, 2, false),
            where + "1: joins a product whose result others read");
  EXPECT_EQ(failureOfJoined(0, 1, false, false, true),
            where + "1: joins a product whose result others read");
  EXPECT_EQ(failureOfJoined(0, 1, true),
            where + "1: joins a product whose operands it overwrites");
}

TEST(Hostile, VectorsAreAligned) {
  // The expressions begin four bytes later: their count is then the kind of
  // the first, which is 1, and its fields lie at odd addresses.
  PlanWriter w;
  std::string plan = writeSound(w).finishPlan();
  const wire::Plan *root = wire::GetPlan(plan.data());
  ASSERT_EQ(int(root->exprs()->Get(0)->kind()), 1);
  const auto *table = reinterpret_cast<const flatbuffers::Table *>(root);
  const uint8_t *field = table->GetAddressOf(wire::Plan::VT_EXPRS);
  plan[size_t(field - reinterpret_cast<const uint8_t *>(plan.data()))] += 4;
  EXPECT_EQ(failure(w.package(plan)),
            "plan: a vector does not lie at a multiple of 8 bytes");
}

TEST(Hostile, ViewsStayInTheirBuffer) {
  for (int64_t offset : {-1, 1, 3, 1000}) {
    PlanWriter w;
    uint32_t x = w.input("x", DType::F32, {w.constant(4)});
    uint32_t two = w.constant(2);
    uint32_t v = w.view(x, DType::F32, {two}, {two}, w.constant(offset));
    uint32_t y = w.output("y", DType::F32, {two});
    w.copy(v, y);
    TestProgram p(w.finish());
    TestTensor tx(DType::F32, {4}), ty(DType::F32, {2});
    std::string error = p.call({&tx}, {&ty});
    if (offset == 1)
      EXPECT_EQ(error, "");
    else
      EXPECT_EQ(error, "plan: value 1: a view of elements " +
                           std::to_string(offset) + " to " +
                           std::to_string(offset + 2) + " of a buffer of 4");
  }
}

TEST(Hostile, SizesThatOverflow) {
  PlanWriter w;
  uint32_t s0 = w.symbol("s0");
  uint32_t big = w.constant(INT64_MAX / 3);
  w.input("x", DType::F32, {s0});
  uint32_t t = w.arena(DType::F32, {w.expr(Kind::Mul, s0, big)}, 0, 0);
  w.fill(t, 0);
  TestProgram p(w.finish());
  TestTensor four(DType::F32, {4}), two(DType::F32, {2});
  EXPECT_EQ(p.call({&four}, {}), "value 1: s0*3074457345618258602 overflows");
  EXPECT_EQ(p.call({&two}, {}), "value 1: its size is negative or overflows");
}

TEST(Hostile, PackagesGetAnError) {
  PlanWriter w;
  std::string plan = writeSound(w).finishPlan();
  std::string good = w.package(plan);
  ASSERT_EQ(failure(good), "");
  EXPECT_EQ(failure("no zip"),
            "the package: not a .fp8 package: not a zip file");
  EXPECT_EQ(failure(makeZip({{"a", "b"}})),
            "the package: has no entry \"manifest.json\"");
  EXPECT_EQ(failure(makeZip({{"manifest.json", "{}"}})),
            "the package: not a .fp8 package: manifest.json does not have "
            "format \"fp8c-package\"");
  EXPECT_EQ(failure(makeZip({{"manifest.json",
                              "{\"format\":\"fp8c-package\",\"version\":9}"}})),
            "the package: package format version 9, this runtime reads 1");
  std::map<std::string, std::string> entries{{"plan.cpu.fb", plan}};
  std::string manifest = makeManifest(entries, false);
  entries["plan.cpu.fb"][40] ^= 1;
  entries["manifest.json"] = manifest;
  EXPECT_NE(failure(makeZip(entries)).find("has SHA-256"), std::string::npos);
  entries["plan.cpu.fb"] += "x";
  EXPECT_NE(failure(makeZip(entries)).find("bytes, the manifest says"),
            std::string::npos);
  entries["plan.cpu.fb"] = plan;
  for (const std::string &header :
       {std::string(), std::string("\x08\0\0\0\0\0\0\0", 8),
        std::string(8, '\xff') + "{}"}) {
    entries.erase("manifest.json");
    entries["weights.safetensors"] = header;
    entries["manifest.json"] = makeManifest(entries, false);
    EXPECT_NE(failure(makeZip(entries)).find("weights.safetensors: "),
              std::string::npos);
  }
}

TEST(Hostile, EveryTruncationAndManyFlips) {
  PlanWriter w;
  std::string plan = writeSound(w).finishPlan();
  std::string good = w.package(plan);
  for (size_t n = 0; n < good.size(); n += 3)
    failure(good.substr(0, n));
  std::mt19937 rng(5);
  for (int i = 0; i < 500; ++i) {
    std::string bad = good;
    for (unsigned j = 0; j <= rng() % 4; ++j)
      bad[rng() % bad.size()] ^= char(1 << rng() % 8);
    failure(bad);
  }
  // Damaged plans whose hashes hold: the plan's own checks are all there is.
  for (int i = 0; i < 1500; ++i) {
    std::string bad = plan;
    for (unsigned j = 0; j <= rng() % 3; ++j)
      bad[rng() % bad.size()] = char(rng());
    TestProgram p(w.package(bad), 1);
    TestTensor x(DType::F32, {3, 2}), y(DType::F32, {3, 3});
    std::fill_n(x.as<float>(), 6, 1.0f);
    p.call({&x}, {&y});
  }
}
