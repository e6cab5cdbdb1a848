//===- KernelsToPlan.cpp - From kernels to a plan -------------------------===//
//
// Part of fp8c, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "fp8c/Pipelines/KernelsToPlan.h"

#include "fp8c/Conversion/KernelsToPlan/Passes.h"
#include "fp8c/Dialect/FP8/Transforms/Passes.h"
#include "fp8c/Transforms/Passes.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Pass/PassRegistry.h"
#include "mlir/Transforms/Passes.h"

using namespace mlir;

void fp8c::buildKernelsToPlanPipeline(OpPassManager &manager,
                                      const KernelsToPlanOptions &options) {
  fp8::ExpandScaledOpsPassOptions expand;
  expand.keepTensorAmax = true;
  OpPassManager &functions = manager.nest<func::FuncOp>();
  functions.nest<fp8::KernelOp>().addPass(
      fp8::createExpandScaledOpsPass(expand));
  RecomputeValuesPassOptions recompute;
  recompute.target = options.target;
  functions.addPass(createRecomputeValuesPass(recompute));
  JoinScalarKernelsPassOptions join;
  join.target = options.target;
  functions.addPass(createJoinScalarKernelsPass(join));
  // Before, not after: the plan's tasks and scratch are those of the bodies as
  // the code generator sees them.
  functions.nest<fp8::KernelOp>().addPass(createCSEPass());
  ConvertToPlanPassOptions convert;
  convert.target = options.target;
  convert.launch = options.launch;
  manager.addPass(createConvertToPlanPass(convert));
  JoinProductsPassOptions products;
  products.target = options.target;
  manager.addPass(createJoinProductsPass(products));
}

void fp8c::registerKernelsToPlanPipeline() {
  PassPipelineRegistration<KernelsToPlanOptions>(
      "fp8-kernels-to-plan", "From kernels to the commands of a plan",
      buildKernelsToPlanPipeline);
}
