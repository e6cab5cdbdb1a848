//===- CPU.h - Kernels as an ELF shared object ------------------*- C++ -*-===//
//
// Part of fp8c, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Each `plan.kernel` becomes a function of C linkage
//
//   void NAME(void *const *operands, const int64_t *sizes, int64_t begin,
//             int64_t end, void *scratch);
//
// in a shared object for each level of x86-64. `operands` point to the first
// element of the captured tensors, then of the results; `sizes` is the size
// block of RowProgram.h; tasks [begin, end) are done; `scratch` is the calling
// thread's, aligned to 64 bytes. The object needs nothing from outside.
//
//===----------------------------------------------------------------------===//

#ifndef FP8C_CODEGEN_CPU_H
#define FP8C_CODEGEN_CPU_H

#include "mlir/IR/BuiltinOps.h"
#include "llvm/Support/Error.h"

#include <string>

namespace mlir {
class DialectRegistry;
}

namespace fp8c::codegen {

/// The levels of x86-64 that kernels are compiled for.
enum class CpuLevel {
  /// AVX2, FMA, F16C.
  V3 = 3,
  /// AVX-512 F, BW, CD, DQ, VL.
  V4 = 4,
};

/// The dialects that generated code uses, for a context that only parses plans.
void registerCpuDialects(mlir::DialectRegistry &registry);

/// Builds a module with a function for each `plan.kernel` of `plan`, in the
/// scf, arith, math, vector and llvm dialects. Names have no suffix.
llvm::Expected<mlir::OwningOpRef<mlir::ModuleOp>>
generateCpuKernels(mlir::ModuleOp plan);

/// Compiles all kernels of `plan` for each of the levels: the bytes of one ELF
/// shared object a level.
llvm::Expected<llvm::SmallVector<std::string>>
compileCpuKernels(mlir::ModuleOp plan, llvm::ArrayRef<CpuLevel> levels);

} // namespace fp8c::codegen

#endif // FP8C_CODEGEN_CPU_H
