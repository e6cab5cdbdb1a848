//===- Passes.h - Passes from kernels to code -------------------*- C++ -*-===//
//
// Part of fp8c, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef FP8C_CODEGEN_PASSES_H
#define FP8C_CODEGEN_PASSES_H

#include "fp8c/Dialect/FP8/FP8.h"

#include "mlir/Dialect/ControlFlow/IR/ControlFlow.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/Pass/Pass.h"

namespace fp8c::codegen {

#define GEN_PASS_DECL
#define GEN_PASS_REGISTRATION
#include "fp8c/Codegen/Passes.h.inc"

} // namespace fp8c::codegen

#endif // FP8C_CODEGEN_PASSES_H
