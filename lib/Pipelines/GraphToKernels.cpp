//===- GraphToKernels.cpp - From the graph level to kernels ---------------===//
//
// Part of fp8c, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "fp8c/Pipelines/GraphToKernels.h"

#include "fp8c/Dialect/FP8/Transforms/Passes.h"
#include "fp8c/Transforms/Passes.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Linalg/Passes.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Pass/PassRegistry.h"

using namespace mlir;
using namespace fp8c;

/// The graph level in its canonical form.
static void buildGraphPipeline(OpPassManager &manager) {
  OpPassManager &graph = manager.nest<func::FuncOp>();
  graph.addPass(createCanonicalizeGraphPass());
  // Elementwise ops of whole tensors, fp8.cast among them: one form for all.
  graph.addPass(createConvertElementwiseToLinalgPass());
  graph.addPass(createRecognizeAttentionPass());
  graph.addPass(createRecognizeScaledCastsPass());
  graph.addPass(createFlattenProductsPass());
  graph.addPass(createCanonicalizeGraphPass());
}

void fp8c::buildGraphToKernelsPipeline(OpPassManager &manager) {
  // What is meant has been said: from here on loops count. A tensor-wide amax
  // stays, since what needs it waits for all of it, and so does the decoding of
  // a weight, which is its product's.
  fp8::ExpandScaledOpsPassOptions expand;
  expand.keepTensorAmax = true;
  expand.keepDecoded = true;
  OpPassManager &graph = manager.nest<func::FuncOp>();
  graph.addPass(fp8::createExpandScaledOpsPass(expand));
  graph.addPass(createCanonicalizeGraphPass());
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
      "The graph level in its canonical form: folded, equal ops merged, scaled "
      "casts recognised",
      buildGraphPipeline);
  PassPipelineRegistration<>(
      "fp8-graph-to-kernels",
      "From the graph level to kernels: reshapes out of the way, weights "
      "prepared, kernels formed",
      buildGraphToKernelsPipeline);
}
