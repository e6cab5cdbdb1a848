//===- Object.h - LLVM IR to machine code -----------------------*- C++ -*-===//
//
// Part of fp8c, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef FP8C_LIB_CODEGEN_CPU_OBJECT_H
#define FP8C_LIB_CODEGEN_CPU_OBJECT_H

#include "fp8c/Codegen/CPU.h"

namespace llvm {
class Module;
}

namespace fp8c::codegen {

/// Optimises `module` for a level and gives the bytes of a relocatable object.
llvm::Expected<std::string> compileObject(llvm::Module &module, CpuLevel level);

/// Links an object into a shared object without undefined symbols.
llvm::Expected<std::string> linkObject(llvm::StringRef object);

} // namespace fp8c::codegen

#endif // FP8C_LIB_CODEGEN_CPU_OBJECT_H
