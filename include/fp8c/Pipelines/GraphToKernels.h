//===- GraphToKernels.h - From the graph level to kernels -------*- C++ -*-===//
//
// Part of fp8c, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef FP8C_PIPELINES_GRAPHTOKERNELS_H
#define FP8C_PIPELINES_GRAPHTOKERNELS_H

namespace mlir {
class OpPassManager;
} // namespace mlir

namespace fp8c {

/// Adds the passes that turn a module at the graph level into one whose
/// computation is in `fp8.kernel`s, products and attention.
void buildGraphToKernelsPipeline(mlir::OpPassManager &manager);

/// Registers the pipelines `fp8-canonicalize` and `fp8-graph-to-kernels`.
void registerGraphToKernelsPipeline();

} // namespace fp8c

#endif // FP8C_PIPELINES_GRAPHTOKERNELS_H
