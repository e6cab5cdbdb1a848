//===- Passes.cpp - The steps to GPU code as passes -----------------------===//
//
// Part of fp8c, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "fp8c/Codegen/Passes.h"
#include "fp8c/Codegen/GenerateKernels.h"
#include "fp8c/Codegen/NVVM.h"
#include "fp8c/Dialect/Plan/Plan.h"

using namespace mlir;
using namespace fp8c;

namespace fp8c::codegen {
#define GEN_PASS_DEF_GENERATEGPUKERNELSPASS
#include "fp8c/Codegen/Passes.h.inc"
} // namespace fp8c::codegen

namespace {

struct GenerateGpuKernelsPass
    : codegen::impl::GenerateGpuKernelsPassBase<GenerateGpuKernelsPass> {
  using GenerateGpuKernelsPassBase::GenerateGpuKernelsPassBase;

  void runOnOperation() override {
    ModuleOp module = getOperation();
    const Target *gpu = findTarget(target);
    if (!gpu || gpu->isCPU()) {
      module.emitError() << "'" << target << "' is not a GPU";
      return signalPassFailure();
    }
    llvm::Expected<OwningOpRef<ModuleOp>> generated =
        codegen::generateGpuKernels(module, *gpu);
    if (!generated) {
      module.emitError() << llvm::toString(generated.takeError());
      return signalPassFailure();
    }
    codegen::replaceKernels(module, **generated);
  }
};

} // namespace
