//===- NVVM.h - Kernels for NVIDIA GPUs -------------------------*- C++ -*-===//
//
// Part of fp8c, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Each `plan.kernel` becomes an entry of a PTX module
//
//   .entry NAME(.param .align 8 .b8 operands[8 * max(operands, 1)],
//               .param .align 8 .b8 sizes[8 * max(sizes, 1)])
//
// with two arrays by value: the addresses of the first elements of the captured
// tensors, then of the results; and the size block of RowProgram.h. Blocks have
// the threads of the kernel's LaunchShape. Any number of blocks is right; more
// than LaunchShape::buildBlocks have nothing to do.
//
//===----------------------------------------------------------------------===//

#ifndef FP8C_CODEGEN_NVVM_H
#define FP8C_CODEGEN_NVVM_H

#include "fp8c/Codegen/LaunchShape.h"
#include "fp8c/Target/Target.h"

#include "mlir/IR/BuiltinOps.h"
#include "llvm/Support/Error.h"

#include <optional>
#include <string>

namespace fp8c::codegen {

/// Builds a module with a kernel for each `plan.kernel` of `plan`, in the scf,
/// arith, math, vector, llvm and nvvm dialects.
llvm::Expected<mlir::OwningOpRef<mlir::ModuleOp>>
generateGpuKernels(mlir::ModuleOp plan, const Target &target);

/// The PTX of all kernels of `plan`.
llvm::Expected<std::string> compileGpuKernels(mlir::ModuleOp plan,
                                              const Target &target);

/// Where the toolkit's assembler is: $FP8C_PTXAS, on the PATH, or in
/// /usr/local/cuda/bin. Nothing where there is none.
std::optional<std::string> findAssembler();

/// Assembles PTX to a cubin by the program at `assembler`.
llvm::Expected<std::string> assemblePTX(llvm::StringRef ptx,
                                        const Target &target,
                                        llvm::StringRef assembler);

} // namespace fp8c::codegen

#endif // FP8C_CODEGEN_NVVM_H
