//===- LaunchShapeTest.cpp - Who does what in a kernel on a GPU -----------===//
//
// Part of fp8c, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "fp8c/Codegen/LaunchShape.h"
#include "fp8c/Codegen/CPU.h"
#include "fp8c/Dialect/Plan/Plan.h"

#include "mlir/IR/MLIRContext.h"
#include "mlir/Parser/Parser.h"

#include <gtest/gtest.h>

using namespace mlir;
using namespace fp8c;
using namespace fp8c::codegen;

namespace {

/// A kernel on bf16 rows of `size` elements: the sum of each row, added to its
/// elements, or only twice the elements.
class LaunchShapeTest : public testing::Test {
protected:
  LaunchShapeTest() {
    DialectRegistry registry;
    registry.insert<plan::PlanDialect, fp8::FP8Dialect, linalg::LinalgDialect,
                    arith::ArithDialect, tensor::TensorDialect>();
    context.appendDialectRegistry(registry);
    context.loadAllAvailableDialects();
  }

  LaunchShape choose(const std::string &size, bool hasSum) {
    std::string row = "tensor<?x" + size + "xbf16>";
    std::string text = R"mlir(
#id = affine_map<(d0, d1) -> (d0, d1)>
#row = affine_map<(d0, d1) -> (d0)>
plan.kernel @k unit_dims = [1, 1] {
^bb0(%x: ROW, %n: index, %h: index):
  %zero = arith.constant 0.0 : bf16
  %e = tensor.empty(%n) : tensor<?xbf16>
  %f = linalg.fill ins(%zero : bf16) outs(%e : tensor<?xbf16>) -> tensor<?xbf16>
  %s = linalg.generic {indexing_maps = [#id, #row], iterator_types = ["parallel", "reduction"]}
      ins(%x : ROW) outs(%f : tensor<?xbf16>) {
  ^bb1(%a: bf16, %o: bf16):
    %0 = arith.addf %o, %a : bf16
    linalg.yield %0 : bf16
  } -> tensor<?xbf16>
  %r = tensor.empty(EMPTY) : ROW
  %y = linalg.generic {indexing_maps = [#id, MAP, #id], iterator_types = ["parallel", "parallel"]}
      ins(%x, OTHER) outs(%r : ROW) {
  ^bb1(%a: bf16, %b: bf16, %o: bf16):
    %0 = arith.addf %a, %b : bf16
    linalg.yield %0 : bf16
  } -> ROW
  fp8.yield %y : ROW
})mlir";
    auto replace = [&](StringRef from, const std::string &to) {
      for (size_t at; (at = text.find(from)) != std::string::npos;)
        text.replace(at, from.size(), to);
    };
    if (!hasSum) {
      size_t from = text.find("  %e = "), to = text.find("  %r = ");
      text.erase(from, to - from);
    }
    replace("MAP", hasSum ? "#row" : "#id");
    replace("OTHER", hasSum ? "%s : ROW, tensor<?xbf16>" : "%x : ROW, ROW");
    replace("EMPTY", size == "?" ? "%n, %h" : "%n");
    replace("ROW", row);
    auto module = parseSourceString<ModuleOp>(text, &context);
    EXPECT_TRUE(module);
    auto kernel = *module->getOps<plan::KernelOp>().begin();
    std::string why;
    auto program = RowProgram::analyze(kernel.getBody().front(),
                                       kernel.getUnitDims(), why);
    EXPECT_TRUE(succeeded(program)) << why;
    return LaunchShape::choose(*program, *findTarget("sm_90a"));
  }

  void expectRow(int64_t size, unsigned group, unsigned vectors,
                 unsigned width) {
    LaunchShape shape = choose(std::to_string(size), true);
    EXPECT_EQ(shape.group, group) << size;
    EXPECT_EQ(shape.vectors, vectors) << size;
    EXPECT_EQ(shape.width, width) << size;
    EXPECT_EQ(shape.groups, group > 32 ? 1u : 128 / group) << size;
    EXPECT_EQ(int64_t(group) * vectors * width, size);
  }

  MLIRContext context;
};

/// Rows of the sizes that models have: all of a row in registers.
TEST_F(LaunchShapeTest, Rows) {
  expectRow(2048, 64, 4, 8);
  expectRow(4096, 128, 4, 8);
  expectRow(1152, 32, 9, 4);
  expectRow(14336, 256, 7, 8);
}

/// Sizes that no groups cover exactly, or that are not known.
TEST_F(LaunchShapeTest, Loops) {
  LaunchShape odd = choose("257", true);
  EXPECT_EQ(odd.vectors, 0u);
  EXPECT_EQ(odd.width, 1u);
  EXPECT_EQ(odd.group % 32, 0u);
  LaunchShape dynamic = choose("?", true);
  EXPECT_EQ(dynamic.vectors, 0u);
  EXPECT_EQ(dynamic.width, 8u);
  EXPECT_LE(dynamic.getThreads(), 1024u);
}

TEST_F(LaunchShapeTest, Elementwise) {
  // Whatever the rows: all elements as one.
  for (const char *size : {"4096", "64", "257", "?"}) {
    LaunchShape shape = choose(size, false);
    EXPECT_TRUE(shape.flat) << size;
    EXPECT_EQ(shape.getThreads(), 64u) << size;
    EXPECT_EQ(shape.width, 8u) << size;
    EXPECT_EQ(shape.chunk, 2048) << size;
  }
}

} // namespace
