//===- GenerateKernels.h - What generators share ----------------*- C++ -*-===//
//
// Part of fp8c, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef FP8C_CODEGEN_GENERATEKERNELS_H
#define FP8C_CODEGEN_GENERATEKERNELS_H

#include "fp8c/Codegen/RowProgram.h"

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/Support/Error.h"

namespace fp8c::codegen {

/// A module with what `build` makes of each `plan.kernel` of a plan; it gets
/// the kernel's program and name, and a builder at the module's end. A kernel
/// that is not legal is an error.
llvm::Expected<mlir::OwningOpRef<mlir::ModuleOp>>
generateKernels(mlir::ModuleOp plan,
                llvm::function_ref<void(const RowProgram &, mlir::OpBuilder &,
                                        llvm::StringRef)>
                    build);

/// Puts generated code where a plan has its `plan.kernel`s.
void replaceKernels(mlir::ModuleOp plan, mlir::ModuleOp generated);

} // namespace fp8c::codegen

#endif // FP8C_CODEGEN_GENERATEKERNELS_H
