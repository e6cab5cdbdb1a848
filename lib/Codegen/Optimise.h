//===- Optimise.h - The passes over generated LLVM IR -----------*- C++ -*-===//
//
// Part of fp8c, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef FP8C_LIB_CODEGEN_OPTIMISE_H
#define FP8C_LIB_CODEGEN_OPTIMISE_H

namespace llvm {
class Module;
class TargetMachine;
} // namespace llvm

namespace fp8c::codegen {

/// A short pipeline: generated code has its loops already. Library functions
/// are unknown to it, so no loop becomes a call. With `scalarize`, vectors
/// become scalars and pairs of narrow values.
void optimise(llvm::Module &module, llvm::TargetMachine &machine,
              bool scalarize);

} // namespace fp8c::codegen

#endif // FP8C_LIB_CODEGEN_OPTIMISE_H
