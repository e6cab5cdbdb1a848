//===- Assembly.h - LLVM IR to PTX ------------------------------*- C++ -*-===//
//
// Part of fp8c, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef FP8C_LIB_CODEGEN_NVVM_ASSEMBLY_H
#define FP8C_LIB_CODEGEN_NVVM_ASSEMBLY_H

#include "fp8c/Target/Target.h"

#include "llvm/Support/Error.h"

#include <string>

namespace llvm {
class Module;
}

namespace fp8c::codegen {

/// Optimises a module of kernels and prints it as PTX of the target.
llvm::Expected<std::string> emitPTX(llvm::Module &module, const Target &target);

} // namespace fp8c::codegen

#endif // FP8C_LIB_CODEGEN_NVVM_ASSEMBLY_H
