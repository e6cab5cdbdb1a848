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

#include "fp8c/Dialect/FP8/FP8.h"
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
using namespace fp8c;

namespace {
struct CanonicalizeGraphPass
    : public fp8c::impl::CanonicalizeGraphPassBase<CanonicalizeGraphPass> {
  void runOnOperation() override {
    // The passes take the first declaration of a symbol for all.
    if (failed(fp8::verifySymbols(getOperation())))
      return signalPassFailure();
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
    // Ops of different nodes may be equal: names are no part of what is
    // compared.
    SmallVector<std::pair<Operation *, Attribute>> names;
    getOperation().walk([&](Operation *op) {
      if (Attribute name = op->removeAttr(fp8::kNodeAttr))
        names.push_back({op, name});
    });
    IRRewriter rewriter(context);
    DominanceInfo dominance(getOperation());
    eliminateCommonSubExpressions(rewriter, dominance, getOperation());
    DenseSet<Operation *> left;
    getOperation().walk([&](Operation *op) { left.insert(op); });
    for (auto [op, name] : names)
      if (left.contains(op))
        op->setAttr(fp8::kNodeAttr, name);
  }
};
} // namespace
