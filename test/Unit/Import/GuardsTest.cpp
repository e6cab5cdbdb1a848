//===- GuardsTest.cpp - Guards as PyTorch writes them ---------------------===//
//
// Part of fp8c, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "../../../lib/Import/Guards.h"

#include "Sizes.h"

#include <gtest/gtest.h>

using namespace fp8c::test;

namespace {
/// Guards over x of shape (s0, 8) and y of shape (s1).
struct Fixture : SizesModule {
  llvm::Expected<mlir::Value> build(std::string text) {
    // Short names for the sizes.
    for (auto [from, to] : {std::pair("X", "L['x'].size()[0]"),
                            std::pair("Y", "L['y'].size()[0]")})
      for (size_t at; (at = text.find(from)) != std::string::npos;)
        text.replace(at, 1, to);
    return fp8c::import::buildGuard(
        text, graph, [&](llvm::StringRef input, int64_t dim) {
          if (input == "x" && dim == 1)
            return graph.arith.constant(8);
          if (dim != 0 || (input != "x" && input != "y"))
            return mlir::OpFoldResult();
          return symbol(input == "x" ? "s0" : "s1");
        });
  }
  std::string failureOf(const std::string &text) {
    auto built = build(text);
    return built ? "none" : llvm::toString(built.takeError());
  }
};
struct Case {
  const char *text;
  bool (*expected)(int64_t x, int64_t y);
};
} // namespace

TEST(Guards, HoldWhereTheyDoInPython) {
  static constexpr Case cases[] = {
      {"X == Y", [](int64_t x, int64_t y) { return x == y; }},
      {"X != Y + 1", [](int64_t x, int64_t y) { return x != y + 1; }},
      {"2*X - Y <= 9", [](int64_t x, int64_t y) { return 2 * x - y <= 9; }},
      {"X > 3", [](int64_t x, int64_t) { return x > 3; }},
      {"X >= Y", [](int64_t x, int64_t y) { return x >= y; }},
      {"1 < X < Y <= 9",
       [](int64_t x, int64_t y) { return 1 < x && x < y && y <= 9; }},
      {"X % 4 == 1", [](int64_t x, int64_t) { return x % 4 == 1; }},
      {"Eq(Mod(X, 8), 0)", [](int64_t x, int64_t) { return x % 8 == 0; }},
      {"Ne(FloorDiv(X, 2), Y)",
       [](int64_t x, int64_t y) { return x / 2 != y; }},
      {"((X + 1)//2) == Y",
       [](int64_t x, int64_t y) { return (x + 1) / 2 == y; }},
      {"math.ceil(X / 2) == Y",
       [](int64_t x, int64_t y) { return (x + 1) / 2 == y; }},
      {"math.floor((X + Y) / 3) < 2",
       [](int64_t x, int64_t y) { return (x + y) / 3 < 2; }},
      {"(-X) // 3 == -2", [](int64_t x, int64_t) { return x >= 4 && x <= 6; }},
      {"(-X) % 3 == 1",
       [](int64_t x, int64_t) { return (3 - x % 3) % 3 == 1; }},
      {"max(X, 4) == min(Y, 7)",
       [](int64_t x, int64_t y) {
         return std::max<int64_t>(x, 4) == std::min<int64_t>(y, 7);
       }},
      {"Max(1, X) < Min(Y, 5)",
       [](int64_t x, int64_t y) {
         return std::max<int64_t>(x, 1) < std::min<int64_t>(y, 5);
       }},
      {"X**2 == Y", [](int64_t x, int64_t y) { return x * x == y; }},
      {"not X == Y", [](int64_t x, int64_t y) { return x != y; }},
      {"not (X < 3 or Y < 3)",
       [](int64_t x, int64_t y) { return x >= 3 && y >= 3; }},
      {"X == 2 and Y == 3 or X == Y",
       [](int64_t x, int64_t y) { return (x == 2 && y == 3) || x == y; }},
      // A division by 0 is a violation, also behind `not`; what Python does not
      // evaluate does not count.
      {"X // Y == 1", [](int64_t x, int64_t y) { return y && x / y == 1; }},
      {"not X % Y == 1", [](int64_t x, int64_t y) { return y && x % y != 1; }},
      {"Y != 0 and X % Y == 0",
       [](int64_t x, int64_t y) { return y && x % y == 0; }},
      {"Y == 0 or X % Y == 0",
       [](int64_t x, int64_t y) { return !y || x % y == 0; }},
      {"L['x'].shape[1] == 8", [](int64_t, int64_t) { return true; }},
      {"L[\"x\"].size()[1] > 8", [](int64_t, int64_t) { return false; }},
      {"X", [](int64_t x, int64_t) { return x != 0; }},
      {"True and (X >= 0)", [](int64_t, int64_t) { return true; }},
  };
  for (const Case &c : cases) {
    Fixture fixture;
    auto built = fixture.build(c.text);
    ASSERT_TRUE(bool(built)) << c.text << llvm::toString(built.takeError());
    for (int64_t x = 0; x < 12; ++x)
      for (int64_t y = 0; y < 12; ++y) {
        // A null value always holds.
        auto holds = *built ? fixture.evaluate(*built, {{"s0", x}, {"s1", y}})
                            : std::optional<int64_t>(1);
        ASSERT_TRUE(holds.has_value()) << c.text;
        EXPECT_EQ(*holds & 1, c.expected(x, y))
            << c.text << " for " << x << ", " << y;
      }
  }
}

TEST(Guards, WhatCannotBeReadIsAnError) {
  Fixture f;
  EXPECT_EQ(f.failureOf("X =="), "unexpected ''");
  EXPECT_EQ(f.failureOf("X == 'a'"), "unexpected ''a''");
  EXPECT_EQ(f.failureOf("L['z'].size()[0] == 1"),
            "there is no dim 0 of an input 'z'");
  EXPECT_EQ(f.failureOf("L['x'].size()[7] == 1"),
            "there is no dim 7 of an input 'x'");
  EXPECT_EQ(f.failureOf("X // (Y - 3) == 1"), "a divisor may be negative");
  EXPECT_EQ(f.failureOf("X == 99999999999999999999"), "a number is too large");
  EXPECT_EQ(f.failureOf("(X == 1) + 1"), "expected numbers around an operator");
  EXPECT_EQ(f.failureOf("X ** 9 == 1"), "expected an exponent from 0 to 8");
  EXPECT_EQ(f.failureOf("X / 2 == 1"), "unexpected '/ 2 == 1'");
  EXPECT_EQ(f.failureOf("open('/etc/passwd')"),
            "unexpected 'open('/etc/passwd')'");
}

TEST(Guards, HugeAndDeepGuardsAreErrors) {
  for (const char *nested : {"(", "not ", "-", "min(", "Eq(", "X < ("}) {
    Fixture f;
    std::string text;
    for (int i = 0; i < 2000; ++i)
      text += nested;
    EXPECT_NE(f.failureOf(text), "none") << nested;
  }
  Fixture f;
  std::string power = "X";
  for (int i = 0; i < 9; ++i)
    power = "(" + power + ")**8";
  auto built = f.build(power + " == 1");
  if (!built)
    llvm::consumeError(built.takeError());
  EXPECT_TRUE(f.graph.isBroken());
}
