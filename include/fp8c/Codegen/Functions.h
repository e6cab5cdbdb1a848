//===- Functions.h - Functions as arithmetic --------------------*- C++ -*-===//
//
// Part of fp8c, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The one table of function expansions, for every device: math ops on f32
// scalars and vectors become arith ops and math.fma, so that results do not
// depend on a library or on the number of lanes. Measured bounds in
// docs/numerics.md.
//
//===----------------------------------------------------------------------===//

#ifndef FP8C_CODEGEN_FUNCTIONS_H
#define FP8C_CODEGEN_FUNCTIONS_H

#include "mlir/IR/PatternMatch.h"

namespace fp8c::codegen {

/// The patterns that replace math ops by their expansions.
void populateExpandFunctionsPatterns(mlir::RewritePatternSet &patterns);

/// Expands all functions inside `root`. Fails at one that the table does not
/// have, with a diagnostic at the op.
llvm::LogicalResult expandFunctions(mlir::Operation *root);

} // namespace fp8c::codegen

#endif // FP8C_CODEGEN_FUNCTIONS_H
