//===- TargetTest.cpp - Tests of the target table -------------------------===//
//
// Part of fp8c, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "fp8c/Target/Target.h"

#include "mlir/IR/BuiltinOps.h"
#include "mlir/Parser/Parser.h"

#include "gtest/gtest.h"

using namespace mlir;
using namespace fp8c;

namespace {

/// What a product is made of, in the dialect's syntax.
struct Product {
  std::string lhsScale = "1x1xf32", lhsScaling = "?x?";
  std::string rhsScale = "1x1xf32", rhsScaling = "?x?";
  std::string m = "64", k = "256", n = "128", result = "bf16", amax;
};

class TargetTest : public testing::Test {
protected:
  TargetTest() { context.loadDialect<fp8::FP8Dialect>(); }

  /// Why `target`'s library does not compute the product.
  std::string why(const Product &p, StringRef target) {
    std::string lhs = "tensor<" + p.m + "x" + p.k + "xf8E4M3FN>";
    std::string rhs = "tensor<" + p.k + "x" + p.n + "xf8E4M3FN>";
    std::string text =
        "%a, %b, %s, %t = \"test.values\"() : () -> (" + lhs + ", " + rhs +
        ", tensor<" + p.lhsScale + ">, tensor<" + p.rhsScale + ">)\n" +
        (p.amax.empty() ? "%d" : "%d, %m") + " = fp8.scaled_matmul(%a by %s <" +
        p.lhsScaling + ">, %b by %t <" + p.rhsScaling + ">) : " + lhs +
        ", tensor<" + p.lhsScale + ">, " + rhs + ", tensor<" + p.rhsScale +
        "> -> tensor<" + p.m + "x" + p.n + "x" + p.result + ">" + p.amax;
    context.allowUnregisteredDialects();
    OwningOpRef<ModuleOp> module =
        parseSourceString<ModuleOp>(text, ParserConfig(&context));
    EXPECT_TRUE(module) << text;
    std::string reason = "no product";
    if (module)
      module->walk([&](fp8::ScaledMatmulOp op) {
        reason = whyNotLibrary(op, *findTarget(target));
      });
    return reason;
  }

  MLIRContext context;
};

Product rows() {
  Product p;
  p.lhsScale = "64x1xf32", p.lhsScaling = "1x?";
  p.rhsScale = "1x128xf32", p.rhsScaling = "?x1";
  return p;
}

Product blocks() {
  Product p;
  p.lhsScale = "64x2xf32", p.lhsScaling = "1x128";
  p.rhsScale = "2x1xf32", p.rhsScaling = "128x128";
  return p;
}

TEST_F(TargetTest, Names) {
  EXPECT_EQ(findTarget("sm_90"), nullptr);
  for (const Target &target : getTargets())
    EXPECT_EQ(findTarget(target.name), &target);
  EXPECT_TRUE(findTarget("cpu")->isCPU());
}

TEST_F(TargetTest, TensorScales) {
  for (StringRef target : {"cpu", "sm_89", "sm_90a", "sm_100a", "sm_120a"})
    EXPECT_EQ(why(Product(), target), "") << target.str();
  EXPECT_NE(why(Product(), "sm_80"), "");
}

TEST_F(TargetTest, RowAndBlockScales) {
  EXPECT_EQ(why(rows(), "sm_90a"), "");
  EXPECT_EQ(why(rows(), "sm_89"), "no scales of this shape on sm_89");
  EXPECT_EQ(why(blocks(), "sm_90a"), "");
  EXPECT_EQ(why(blocks(), "sm_100a"), "no scales of this shape on sm_100a");
  Product p = blocks();
  p.lhsScale = "1x2xf32", p.lhsScaling = "128x128";
  EXPECT_EQ(why(p, "sm_90a"), "128x128 blocks on both sides");
  p = blocks();
  p.m = "66", p.lhsScale = "66x2xf32";
  EXPECT_EQ(why(p, "sm_90a"), "block scales need M and N that 4 divides");
  p = rows();
  p.rhsScale = "1x1xf32", p.rhsScaling = "?x?";
  EXPECT_EQ(why(p, "sm_90a"), "scales of two kinds");
  EXPECT_EQ(why(p, "cpu"), "");
}

TEST_F(TargetTest, MXScales) {
  Product p;
  p.lhsScale = "64x8xf8E8M0FNU", p.lhsScaling = "1x32";
  p.rhsScale = "8x128xf8E8M0FNU", p.rhsScaling = "32x1";
  EXPECT_EQ(why(p, "sm_100a"), "");
  EXPECT_EQ(why(p, "sm_90a"), "no scales of this shape on sm_90a");
}

TEST_F(TargetTest, SizesAndAmax) {
  Product p;
  p.k = "41";
  EXPECT_EQ(why(p, "sm_90a"), "K of 41 is no multiple of 16");
  EXPECT_EQ(why(p, "cpu"), "");
  p = Product();
  p.n = "20001";
  EXPECT_NE(why(p, "sm_90a"), "");
  p.n = "?";
  EXPECT_EQ(why(p, "sm_90a"), "");
  p = Product();
  p.amax = " amax tensor<1x1xf32>";
  EXPECT_EQ(why(p, "sm_90a"), "amax of a result that is not f8");
  p.result = "f8E4M3FN";
  EXPECT_EQ(why(p, "sm_90a"), "");
}

TEST(Target, OfAComputeCapability) {
  EXPECT_EQ(findTargetForCapability(0), findTarget("cpu"));
  EXPECT_EQ(findTargetForCapability(90), findTarget("sm_90a"));
  EXPECT_EQ(findTargetForCapability(100), findTarget("sm_100a"));
  // Later ones run what is not named "...a".
  EXPECT_EQ(findTargetForCapability(103), findTarget("sm_89"));
  // No f8 before 8.9.
  EXPECT_EQ(findTargetForCapability(80), nullptr);
}

} // namespace
