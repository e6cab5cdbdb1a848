//===- LowerToLLVM.h - Generated functions to the llvm dialect --*- C++ -*-===//
//
// Part of fp8c, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef FP8C_CODEGEN_LOWERTOLLVM_H
#define FP8C_CODEGEN_LOWERTOLLVM_H

#include "mlir/IR/BuiltinOps.h"

namespace fp8c::codegen {

/// Expands the functions of a generated module and converts it to the llvm
/// dialect. Operations of the nvvm dialect stay.
llvm::LogicalResult lowerToLLVM(mlir::ModuleOp module);

} // namespace fp8c::codegen

#endif // FP8C_CODEGEN_LOWERTOLLVM_H
