//===- GenerateKernels.cpp - What generators share ------------------------===//
//
// Part of fp8c, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "fp8c/Codegen/GenerateKernels.h"

#include "fp8c/Dialect/Plan/Plan.h"

using namespace mlir;
using namespace fp8c;

llvm::Expected<OwningOpRef<ModuleOp>> codegen::generateKernels(
    ModuleOp plan,
    llvm::function_ref<void(const RowProgram &, OpBuilder &, StringRef)>
        build) {
  OwningOpRef<ModuleOp> module = ModuleOp::create(plan.getLoc());
  OpBuilder builder(plan.getContext());
  for (auto kernel : plan.getOps<plan::KernelOp>()) {
    std::string why;
    FailureOr<RowProgram> program = RowProgram::analyze(
        kernel.getBody().front(), kernel.getUnitDims(), why);
    if (failed(program))
      return llvm::createStringError("kernel '" + kernel.getSymName().str() +
                                     "' cannot be generated: " + why);
    builder.setInsertionPointToEnd(module->getBody());
    build(*program, builder, kernel.getSymName());
  }
  return module;
}

void codegen::replaceKernels(ModuleOp plan, ModuleOp generated) {
  for (auto kernel : llvm::make_early_inc_range(plan.getOps<plan::KernelOp>()))
    kernel.erase();
  plan.getBody()->getOperations().splice(plan.getBody()->end(),
                                         generated.getBody()->getOperations());
}
