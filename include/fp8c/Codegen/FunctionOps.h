//===- FunctionOps.h - Ops that need an expansion ---------------*- C++ -*-===//
//
// Part of fp8c, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef FP8C_CODEGEN_FUNCTIONOPS_H
#define FP8C_CODEGEN_FUNCTIONOPS_H

#include "mlir/IR/Operation.h"

namespace fp8c::codegen {

/// True for an op that would become a call of a library of functions.
bool isFunction(mlir::Operation *op);

} // namespace fp8c::codegen

#endif // FP8C_CODEGEN_FUNCTIONOPS_H
