//===- CanonicalizeGraph.cpp - Fold, merge, drop --------------------------===//
//
// Part of fp8c, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Bit-exact. Only folders run, and the patterns of index arithmetic: upstream's
// patterns on tensors make new ops that have lost their node's name.
//
//===----------------------------------------------------------------------===//

#include "KeptSymbols.h"

#include "fp8c/Transforms/Passes.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/Dominance.h"
#include "mlir/Transforms/CSE.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"

namespace fp8c {
#define GEN_PASS_DEF_CANONICALIZEGRAPHPASS
#include "fp8c/Transforms/Passes.h.inc"
} // namespace fp8c

using namespace mlir;

namespace {
struct CanonicalizeGraphPass
    : public fp8c::impl::CanonicalizeGraphPassBase<CanonicalizeGraphPass> {
  void runOnOperation() override {
    fp8c::KeptSymbols symbols(getOperation());
    MLIRContext *context = &getContext();
    RewritePatternSet patterns(context);
    for (RegisteredOperationName op : context->getRegisteredOperations())
      if (op.getDialectNamespace() ==
          arith::ArithDialect::getDialectNamespace())
        op.getCanonicalizationPatterns(patterns, context);
    GreedyRewriteConfig config;
    // Bodies compute what the graph says, rounding by rounding: their folders
    // run, but nothing is merged across regions.
    config.setRegionSimplificationLevel(GreedySimplifyRegionLevel::Disabled);
    if (failed(
            applyPatternsGreedily(getOperation(), std::move(patterns), config)))
      return signalPassFailure();
    IRRewriter rewriter(context);
    DominanceInfo dominance(getOperation());
    eliminateCommonSubExpressions(rewriter, dominance, getOperation());
  }
};
} // namespace
