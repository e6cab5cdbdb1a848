//===- VerifyTarget.cpp - fp8-verify-target -------------------------------===//
//
// Part of fp8c, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "fp8c/Dialect/FP8/Transforms/Passes.h"
#include "fp8c/Target/Target.h"

namespace fp8c::fp8 {
#define GEN_PASS_DEF_VERIFYTARGETPASS
#include "fp8c/Dialect/FP8/Transforms/Passes.h.inc"
} // namespace fp8c::fp8

using namespace mlir;
using namespace fp8c;

namespace {

struct VerifyTargetPass
    : public fp8::impl::VerifyTargetPassBase<VerifyTargetPass> {
  using Base::Base;

  void runOnOperation() override {
    markAllAnalysesPreserved();
    const Target *found = findTarget(target);
    if (!found) {
      InFlightDiagnostic diagnostic = emitError(UnknownLoc::get(&getContext()));
      diagnostic << "unknown target '" << target << "', expected one of ";
      llvm::interleaveComma(getTargets(), diagnostic, [&](const Target &known) {
        diagnostic << known.name;
      });
      return signalPassFailure();
    }
    getOperation()->walk([&](Operation *op) {
      std::string why = whyUnsupported(op, *found);
      if (why.empty())
        return;
      op->emitOpError() << why;
      signalPassFailure();
    });
  }
};

} // namespace
