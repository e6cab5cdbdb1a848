//===- SizeArithTest.cpp - Arithmetic on sizes ----------------------------===//
//
// Part of fp8c, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Sizes.h"

#include <gtest/gtest.h>

using namespace fp8c::test;
using fp8c::import::SizeArith;
using mlir::OpFoldResult;

TEST(SizeArith, EqualExpressionsAreOneValue) {
  SizesModule m;
  SizeArith &a = m.graph.arith;
  OpFoldResult s0 = m.symbol("s0"), s1 = m.symbol("s1"), c = a.constant(64);
  EXPECT_EQ(a.mul(s0, s1), a.mul(s1, s0));
  EXPECT_EQ(a.floorDiv(a.mul(a.mul(s0, s1), c), c), a.mul(s0, s1));
  EXPECT_EQ(a.sub(a.add(s0, s1), s1), s0);
  EXPECT_EQ(a.getConstant(a.sub(s0, s0)), 0);
  EXPECT_EQ(a.max(s0, a.constant(0)), s0);
  EXPECT_EQ(a.min(s0, a.constant(0)), a.constant(0));
  EXPECT_EQ(a.exactDiv(a.mul(s0, c), s0), c);
  EXPECT_FALSE(a.exactDiv(a.add(s0, c), c));
  EXPECT_FALSE(a.exactDiv(s0, a.constant(0)));
  EXPECT_TRUE(a.equal(a.mod(a.mul(s0, c), c), a.constant(0)));
  EXPECT_FALSE(a.isBroken());
}

TEST(SizeArith, RoundsDownAsPythonDoes) {
  SizesModule m;
  SizeArith &a = m.graph.arith;
  for (int64_t x = -9; x <= 9; ++x)
    for (int64_t y : {-4, -3, -1, 1, 3, 4}) {
      int64_t quotient = x / y - (x % y != 0 && (x < 0) != (y < 0));
      OpFoldResult cx = a.constant(x), cy = a.constant(y);
      EXPECT_EQ(a.getConstant(a.floorDiv(cx, cy)), quotient);
      EXPECT_EQ(a.getConstant(a.mod(cx, cy)), x - y * quotient);
      EXPECT_EQ(a.getConstant(a.ceilDiv(cx, cy)), quotient + (x % y != 0));
      // The same with a symbol.
      OpFoldResult s = a.add(m.symbol("s0"), a.constant(-9));
      std::map<std::string, int64_t> values{{"s0", x + 9}};
      EXPECT_EQ(m.evaluate(a.floorDiv(s, cy), values), quotient);
      EXPECT_EQ(m.evaluate(a.mod(s, cy), values), x - y * quotient);
      EXPECT_EQ(m.evaluate(a.ceilDiv(s, cy), values), quotient + (x % y != 0));
    }
}

TEST(SizeArith, RangesDecideComparisons) {
  SizesModule m;
  SizeArith &a = m.graph.arith;
  OpFoldResult s0 = m.symbol("s0", 2, 8), s1 = m.symbol("s1", 0);
  EXPECT_EQ(a.lowerBound(a.mul(s0, s1)), 0);
  EXPECT_EQ(a.lowerBound(a.sub(a.constant(9), s0)), 1);
  EXPECT_EQ(a.lowerBound(a.sub(s0, s1)), std::nullopt);
  EXPECT_TRUE(a.knownLessEqual(s0, a.constant(8)));
  EXPECT_FALSE(a.knownLessEqual(s1, a.constant(8)));
  // A difference that 64 bits do not hold decides nothing and harms nothing.
  EXPECT_FALSE(a.knownLessEqual(a.constant(-2), a.constant(INT64_MAX)));
  EXPECT_FALSE(a.isBroken());
}

TEST(SizeArith, OverflowIsNoticed) {
  using Method = OpFoldResult (SizeArith::*)(OpFoldResult, OpFoldResult);
  struct {
    Method method;
    int64_t a, b;
  } cases[] = {{&SizeArith::add, INT64_MAX, 1},
               {&SizeArith::sub, -2, INT64_MAX},
               {&SizeArith::mul, INT64_MAX / 2, 3},
               {&SizeArith::mul, INT64_MIN + 1, 2}};
  for (auto [method, a, b] : cases) {
    SizesModule m;
    SizeArith &arith = m.graph.arith;
    (arith.*method)(arith.constant(a), arith.constant(b));
    EXPECT_TRUE(arith.isBroken()) << a << ", " << b;
  }
  // So is a product of too many terms.
  SizesModule m;
  OpFoldResult sum = m.graph.arith.constant(1);
  for (int i = 0; i < 100; ++i)
    sum = m.graph.arith.add(sum, m.symbol("s" + std::to_string(i)));
  m.graph.arith.mul(sum, sum);
  EXPECT_TRUE(m.graph.arith.isBroken());
}
