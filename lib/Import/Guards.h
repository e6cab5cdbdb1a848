//===- Guards.h - Conditions between input sizes ----------------*- C++ -*-===//
//
// Part of fp8c, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef FP8C_LIB_IMPORT_GUARDS_H
#define FP8C_LIB_IMPORT_GUARDS_H

#include "fp8c/Import/GraphBuilder.h"
#include "llvm/Support/Error.h"

namespace fp8c::import {

/// Builds a guard as an i1 value: Python conditions over
/// `L['x'].size()[0]` with `+ - * // %`, min, max, math.floor and math.ceil of
/// a quotient, comparisons (chained too), `and`, `or`, `not`, and sympy's names
/// of these (`Eq(Mod(a, 8), 0)`). `dim` gives a size of an input, null where
/// there is no such input or dim. A null value: the guard always holds.
llvm::Expected<mlir::Value> buildGuard(
    llvm::StringRef text, GraphBuilder &graph,
    llvm::function_ref<mlir::OpFoldResult(llvm::StringRef, int64_t)> dim);

} // namespace fp8c::import

#endif // FP8C_LIB_IMPORT_GUARDS_H
