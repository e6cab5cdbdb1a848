//===- KernelsToPlan.cpp - Kernel level to plan ---------------------------===//
//
// Part of fp8c, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "fp8c/Conversion/KernelsToPlan/Passes.h"

#include "fp8c/Codegen/LaunchShape.h"

#include "CaptureOrder.h"
#include "Entry.h"

namespace fp8c {
#define GEN_PASS_DEF_CONVERTTOPLANPASS
#include "fp8c/Conversion/KernelsToPlan/Passes.h.inc"
} // namespace fp8c

#include "mlir/AsmParser/AsmParser.h"

using namespace mlir;
using namespace fp8c;

namespace {

struct ConvertToPlanPass
    : public fp8c::impl::ConvertToPlanPassBase<ConvertToPlanPass> {
  using ConvertToPlanPassBase::ConvertToPlanPassBase;

  void runOnOperation() override {
    ModuleOp module = getOperation();
    const Target *launchTarget = findTarget(target);
    if (!launchTarget) {
      module.emitError() << "'" << target << "' is not a target";
      return signalPassFailure();
    }
    DictionaryAttr choices;
    if (!launch.empty()) {
      choices = dyn_cast_if_present<DictionaryAttr>(
          parseAttribute(launch, &getContext()));
      std::string expected =
          choices ? codegen::checkLaunchChoices(choices) : "a dictionary";
      if (!expected.empty()) {
        emitError(module.getLoc())
            << "launch=" << launch << ": expected " << expected;
        return signalPassFailure();
      }
    }
    toplan::KernelTable kernels(module, choices);
    for (auto func :
         llvm::make_early_inc_range(module.getOps<func::FuncOp>())) {
      if (!func.getBody().hasOneBlock()) {
        func.emitError("has no body of one block");
        return signalPassFailure();
      }
      toplan::orderCaptures(func);
      OpBuilder builder = OpBuilder::atBlockEnd(module.getBody());
      auto entry =
          plan::EntryOp::create(builder, func.getLoc(), func.getSymName());
      entry.getBody().emplaceBlock();
      if (failed(toplan::Entry(func, entry, kernels, *launchTarget).run()))
        return signalPassFailure();
      func.erase();
    }
  }
};

} // namespace
