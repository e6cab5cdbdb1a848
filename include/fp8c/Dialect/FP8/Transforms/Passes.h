//===- Passes.h - Passes on the fp8 dialect ---------------------*- C++ -*-===//
//
// Part of fp8c, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef FP8C_DIALECT_FP8_TRANSFORMS_PASSES_H
#define FP8C_DIALECT_FP8_TRANSFORMS_PASSES_H

#include "fp8c/Dialect/FP8/FP8.h"

#include "mlir/Pass/Pass.h"

namespace fp8c::fp8 {

#define GEN_PASS_DECL
#define GEN_PASS_REGISTRATION
#include "fp8c/Dialect/FP8/Transforms/Passes.h.inc"

/// What `expandScaledOps` leaves alone.
struct ExpandScaledOptions {
  /// Leave fp8.amax over a whole tensor.
  bool keepTensorAmax = false;
  /// Leave fp8.dequantize that products alone read.
  bool keepDecoded = false;
};

/// Rewrites the scaled casts, amax, scales and history steps under `root`
/// (and itself never) into linalg on scalars, as the pass
/// `fp8-expand-scaled-ops` does. The dialects arith, linalg, math and tensor
/// must be loaded, as the pass's dependent dialects are.
void expandScaledOps(mlir::Operation *root,
                     const ExpandScaledOptions &options = {});

} // namespace fp8c::fp8

#endif // FP8C_DIALECT_FP8_TRANSFORMS_PASSES_H
