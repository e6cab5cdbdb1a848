//===- KernelsToPlan.h - From kernels to a plan -----------------*- C++ -*-===//
//
// Part of fp8c, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef FP8C_PIPELINES_KERNELSTOPLAN_H
#define FP8C_PIPELINES_KERNELSTOPLAN_H

#include "mlir/Pass/PassOptions.h"

namespace mlir {
class OpPassManager;
} // namespace mlir

namespace fp8c {

struct KernelsToPlanOptions : mlir::PassPipelineOptions<KernelsToPlanOptions> {
  Option<std::string> target{*this, "target",
                             llvm::cl::desc("who runs the plan"),
                             llvm::cl::init("cpu")};
  Option<std::string> launch{
      *this, "launch", llvm::cl::desc("choices for the kernels of a GPU")};
};

/// Adds the passes that turn a module of kernels, products and attention into
/// plan entries.
void buildKernelsToPlanPipeline(mlir::OpPassManager &manager,
                                const KernelsToPlanOptions &options);

/// Registers the pipeline `fp8-kernels-to-plan`.
void registerKernelsToPlanPipeline();

} // namespace fp8c

#endif // FP8C_PIPELINES_KERNELSTOPLAN_H
