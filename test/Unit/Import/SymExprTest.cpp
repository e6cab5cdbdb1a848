//===- SymExprTest.cpp - Expressions as PyTorch writes them ---------------===//
//
// Part of fp8c, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "fp8c/Import/SymExpr.h"

#include "Sizes.h"

#include <gtest/gtest.h>

#include <cmath>

using namespace fp8c::test;
using fp8c::import::SymExpr;

static int64_t floorDiv(int64_t a, int64_t b) {
  return static_cast<int64_t>(std::floor(double(a) / double(b)));
}
static int64_t ceilDiv(int64_t a, int64_t b) { return -floorDiv(-a, b); }
static int64_t mod(int64_t a, int64_t b) { return a - b * floorDiv(a, b); }

/// The message of parsing what is no expression.
static std::string failureOf(llvm::StringRef text) {
  auto parsed = SymExpr::parse(text);
  return parsed ? "none" : llvm::toString(parsed.takeError());
}

namespace {
struct Case {
  const char *text;
  int64_t (*expected)(int64_t s0, int64_t s1);
};
} // namespace

TEST(SymExpr, ComputesWhatPyTorchMeans) {
  static constexpr Case cases[] = {
      // srepr
      {"Symbol('s0', positive=True, integer=True)",
       [](int64_t a, int64_t) { return a; }},
      {"Integer(-7)", [](int64_t, int64_t) { return int64_t(-7); }},
      {"Add(Integer(-3), Mul(Integer(-2), Symbol('s0', integer=True)))",
       [](int64_t a, int64_t) { return -3 - 2 * a; }},
      {"Add(Symbol('s0'), Symbol('s1'), Integer(1))",
       [](int64_t a, int64_t b) { return a + b + 1; }},
      {"FloorDiv(Add(Symbol('s0'), Integer(-9)), Integer(4))",
       [](int64_t a, int64_t) { return floorDiv(a - 9, 4); }},
      {"FloorDiv(Symbol('s0'), Integer(-4))",
       [](int64_t a, int64_t) { return floorDiv(a, -4); }},
      {"CleanDiv(Mul(Integer(6), Symbol('s0')), Integer(3))",
       [](int64_t a, int64_t) { return 2 * a; }},
      {"Mod(Add(Symbol('s0'), Integer(-9)), Integer(4))",
       [](int64_t a, int64_t) { return mod(a - 9, 4); }},
      {"PythonMod(Symbol('s0'), Integer(-4))",
       [](int64_t a, int64_t) { return mod(a, -4); }},
      {"Max(Integer(1), Symbol('s0'), Symbol('s1'))",
       [](int64_t a, int64_t b) { return std::max({int64_t(1), a, b}); }},
      {"Min(Integer(5), Symbol('s0'))",
       [](int64_t a, int64_t) { return std::min(int64_t(5), a); }},
      {"Pow(Symbol('s0'), Integer(3))",
       [](int64_t a, int64_t) { return a * a * a; }},
      {"PowByNatural(Symbol('s0'), Integer(0))",
       [](int64_t, int64_t) { return int64_t(1); }},
      {"CeilToInt(IntTrueDiv(Symbol('s0'), Integer(2)))",
       [](int64_t a, int64_t) { return ceilDiv(a, 2); }},
      {"FloorToInt(IntTrueDiv(Add(Symbol('s0'), Integer(-9)), Integer(2)))",
       [](int64_t a, int64_t) { return floorDiv(a - 9, 2); }},
      {"TruncToInt(IntTrueDiv(Add(Symbol('s0'), Integer(-9)), Integer(2)))",
       [](int64_t a, int64_t) { return (a - 9) / 2; }},
      {"TruncToInt(IntTrueDiv(ToFloat(Symbol('s0')), Integer(3)))",
       [](int64_t a, int64_t) { return a / 3; }},
      {"ceiling(Add(Mul(Rational(1, 2), Symbol('s0')), Rational(1, 3)))",
       [](int64_t a, int64_t) { return ceilDiv(3 * a + 2, 6); }},
      {"floor(Mul(Rational(-3, 2), Symbol('s0')))",
       [](int64_t a, int64_t) { return floorDiv(-3 * a, 2); }},
      {"Mul(Rational(1, 2), Add(Mul(Integer(2), Symbol('s0')), Integer(4)))",
       [](int64_t a, int64_t) { return a + 2; }},
      {"floor(Mul(Symbol('s0'), Pow(Integer(4), Integer(-1))))",
       [](int64_t a, int64_t) { return floorDiv(a, 4); }},
      {"ModularIndexing(Symbol('s0'), Integer(2), Integer(3))",
       [](int64_t a, int64_t) { return mod(floorDiv(a, 2), 3); }},
      {"Identity(Abs(Add(Symbol('s0'), Mul(Integer(-1), Symbol('s1')))))",
       [](int64_t a, int64_t b) { return std::abs(a - b); }},
      // As Python
      {"((s0 + 1)//2)", [](int64_t a, int64_t) { return floorDiv(a + 1, 2); }},
      {"-s0 // 2", [](int64_t a, int64_t) { return floorDiv(-a, 2); }},
      {"2*s0*s1 - s0 % 3 - 4",
       [](int64_t a, int64_t b) { return 2 * a * b - mod(a, 3) - 4; }},
      {"Max(1, s0)",
       [](int64_t a, int64_t) { return std::max(a, int64_t(1)); }},
      {"Mod(s0, 8)", [](int64_t a, int64_t) { return mod(a, 8); }},
      {"s0**2 + s1", [](int64_t a, int64_t b) { return a * a + b; }},
      {"CeilToInt(IntTrueDiv(s0, 2))",
       [](int64_t a, int64_t) { return ceilDiv(a, 2); }},
      {"math.ceil(s0 / 3)", [](int64_t a, int64_t) { return ceilDiv(a, 3); }},
      {"math.floor((s0 + s1) / 3)",
       [](int64_t a, int64_t b) { return floorDiv(a + b, 3); }},
      {"math.trunc(-s0 / 3)", [](int64_t a, int64_t) { return -a / 3; }},
  };
  for (const Case &c : cases) {
    SizesModule module;
    auto symbol = [&](llvm::StringRef name) { return module.symbol(name); };
    auto parsed = SymExpr::parse(c.text);
    ASSERT_TRUE(bool(parsed)) << llvm::toString(parsed.takeError());
    mlir::OpFoldResult built = parsed->build(module.graph.arith, symbol);
    auto again = SymExpr::parse(parsed->str());
    ASSERT_TRUE(bool(again)) << llvm::toString(again.takeError());
    mlir::OpFoldResult rebuilt = again->build(module.graph.arith, symbol);
    for (int64_t a = 0; a < 14; ++a)
      for (int64_t b : {0, 1, 7}) {
        int64_t expected = c.expected(a, b);
        EXPECT_EQ(module.evaluate(built, {{"s0", a}, {"s1", b}}), expected)
            << c.text << " for " << a << ", " << b;
        EXPECT_EQ(module.evaluate(rebuilt, {{"s0", a}, {"s1", b}}), expected)
            << parsed->str() << " for " << a << ", " << b;
        // With numbers for the symbols everything folds.
        auto number = [&](llvm::StringRef name) {
          return module.graph.arith.constant(name == "s0" ? a : b);
        };
        EXPECT_EQ(module.graph.arith.getConstant(
                      parsed->build(module.graph.arith, number)),
                  expected)
            << c.text << " folded for " << a << ", " << b;
      }
    EXPECT_FALSE(module.graph.isBroken());
  }
}

TEST(SymExpr, PrintsForTheSignature) {
  auto text = [](llvm::StringRef srepr) {
    return llvm::cantFail(SymExpr::parse(srepr)).str();
  };
  EXPECT_EQ(text("Mul(Integer(17), Symbol('s77'))"), "17*s77");
  EXPECT_EQ(text("Add(Symbol('s0'), Integer(-3))"), "s0+(-3)");
  EXPECT_EQ(text("FloorDiv(Add(Symbol('s0'), Integer(1)), Integer(2))"),
            "(s0+1)//2");
  EXPECT_EQ(text("Max(Integer(1), Symbol('s0'), Symbol('s1'))"),
            "max(max(1, s0), s1)");
  EXPECT_EQ(text("CeilToInt(IntTrueDiv(Symbol('s0'), Integer(2)))"),
            "ceildiv(s0, 2)");
}

TEST(SymExpr, DivisionByZeroIsLeftToTheCall) {
  SizesModule module;
  auto parsed = llvm::cantFail(SymExpr::parse("FloorDiv(s0, Integer(0))"));
  auto built = parsed.build(module.graph.arith, [&](llvm::StringRef name) {
    return module.symbol(name);
  });
  EXPECT_EQ(module.evaluate(built, {{"s0", 4}}), std::nullopt);
}

TEST(SymExpr, WhatCannotBeReadIsAnError) {
  std::string in = " in size expression '";
  EXPECT_EQ(failureOf(""), "expected an expression" + in + "'");
  EXPECT_EQ(failureOf("Symbol(s0)"),
            "expected a quoted name" + in + "Symbol(s0)'");
  EXPECT_EQ(failureOf("Symbol('s 0')"),
            "expected a name of letters, digits and '_'" + in +
                "Symbol('s 0')'");
  EXPECT_EQ(failureOf("Add(s0"), "expected ')'" + in + "Add(s0'");
  EXPECT_EQ(failureOf("s0 s1"),
            "unexpected text after the expression" + in + "s0 s1'");
  EXPECT_EQ(failureOf("zeta(s0)"), "unknown function" + in + "zeta(s0)'");
  EXPECT_EQ(failureOf("FloorDiv(s0)"),
            "expected two operands" + in + "FloorDiv(s0)'");
  EXPECT_EQ(failureOf("Abs(s0, s1)"),
            "expected one operand" + in + "Abs(s0, s1)'");
  EXPECT_EQ(failureOf("Pow(s0, s1)"),
            "expected an exponent from -8 to 8" + in + "Pow(s0, s1)'");
  EXPECT_EQ(failureOf("9223372036854775808"),
            "expected an integer" + in + "9223372036854775808'");
}

TEST(SymExpr, HugeAndDeepExpressionsAreErrors) {
  for (const char *nested : {"(", "-", "Abs(", "Add(1, ", "2**", "-("}) {
    std::string text;
    for (int i = 0; i < 100000; ++i)
      text += nested;
    std::string error = failureOf(text + "1");
    EXPECT_NE(error, "none") << nested;
  }
  std::string sum = "s0";
  for (int i = 0; i < 100000; ++i)
    sum += "+s0";
  EXPECT_EQ(failureOf(sum).substr(0, 25), "more than 1000 operations");
  // Each power repeats its base eight times.
  std::string power = "s0";
  for (int i = 0; i < 20; ++i)
    power = "Pow(" + power + ", 8)";
  EXPECT_EQ(failureOf(power).substr(0, 25), "more than 1000 operations");
}
