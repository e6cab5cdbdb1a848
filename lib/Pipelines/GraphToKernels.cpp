//===- GraphToKernels.cpp - From the graph level to kernels ---------------===//
//
// Part of fp8c, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "fp8c/Pipelines/GraphToKernels.h"

#include "fp8c/Transforms/Passes.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Linalg/Passes.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Pass/PassRegistry.h"

using namespace mlir;

void fp8c::buildGraphToKernelsPipeline(OpPassManager &manager) {
  OpPassManager &graph = manager.nest<func::FuncOp>();
  graph.addPass(createCanonicalizeGraphPass());
  // Elementwise ops of whole tensors, fp8.cast among them: one form for all.
  graph.addPass(createConvertElementwiseToLinalgPass());
  graph.addPass(createRecognizeAttentionPass());
  graph.addPass(createRecognizeScaledCastsPass());
  graph.addPass(createPropagateReshapesPass());
  graph.addPass(createCanonicalizeGraphPass());
  manager.addPass(createPrepareWeightsPass());
  OpPassManager &kernels = manager.nest<func::FuncOp>();
  kernels.addPass(createCanonicalizeGraphPass());
  kernels.addPass(createFuseCastsPass());
}

void fp8c::registerGraphToKernelsPipeline() {
  PassPipelineRegistration<>(
      "fp8-canonicalize",
      "The graph level in its canonical form: folded, equal ops merged",
      [](OpPassManager &manager) {
        manager.addNestedPass<func::FuncOp>(createCanonicalizeGraphPass());
      });
  PassPipelineRegistration<>(
      "fp8-graph-to-kernels",
      "From the graph level to kernels: reshapes out of the way, weights "
      "prepared, kernels formed",
      buildGraphToKernelsPipeline);
}
