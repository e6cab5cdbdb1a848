//===- Passes.h - From the graph level to kernels ---------------*- C++ -*-===//
//
// Part of fp8c, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef FP8C_TRANSFORMS_PASSES_H
#define FP8C_TRANSFORMS_PASSES_H

#include "mlir/Pass/Pass.h"

#include <memory>

namespace mlir::func {
class FuncOp;
} // namespace mlir::func

namespace fp8c {

#define GEN_PASS_DECL
#include "fp8c/Transforms/Passes.h.inc"

#define GEN_PASS_REGISTRATION
#include "fp8c/Transforms/Passes.h.inc"

} // namespace fp8c

#endif // FP8C_TRANSFORMS_PASSES_H
