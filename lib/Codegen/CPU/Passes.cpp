//===- Passes.cpp - The steps to CPU code as passes -----------------------===//
//
// Part of fp8c, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Both passes are wrappers around what `compileCpuKernels` calls.
//
//===----------------------------------------------------------------------===//

#include "fp8c/Codegen/Passes.h"
#include "fp8c/Codegen/CPU.h"
#include "fp8c/Codegen/Functions.h"
#include "fp8c/Codegen/GenerateKernels.h"
#include "fp8c/Codegen/LowerToLLVM.h"
#include "fp8c/Dialect/Plan/Plan.h"

#include "mlir/Pass/PassManager.h"

using namespace mlir;
using namespace fp8c;

namespace fp8c::codegen {
#define GEN_PASS_DEF_GENERATECPUKERNELSPASS
#define GEN_PASS_DEF_LOWERTOLLVMPASS
#include "fp8c/Codegen/Passes.h.inc"
} // namespace fp8c::codegen

namespace {

struct GenerateCpuKernelsPass
    : codegen::impl::GenerateCpuKernelsPassBase<GenerateCpuKernelsPass> {
  void runOnOperation() override {
    ModuleOp module = getOperation();
    llvm::Expected<OwningOpRef<ModuleOp>> generated =
        codegen::generateCpuKernels(module);
    if (!generated) {
      module.emitError() << llvm::toString(generated.takeError());
      return signalPassFailure();
    }
    codegen::replaceKernels(module, **generated);
  }
};

struct LowerToLLVMPass : codegen::impl::LowerToLLVMPassBase<LowerToLLVMPass> {
  void runOnOperation() override {
    OpPassManager casts(ModuleOp::getOperationName());
    casts.addPass(codegen::createLowerCastsPass());
    if (failed(codegen::expandFunctions(getOperation())) ||
        failed(runPipeline(casts, getOperation())) ||
        failed(codegen::lowerToLLVM(getOperation())))
      signalPassFailure();
  }
};

} // namespace
