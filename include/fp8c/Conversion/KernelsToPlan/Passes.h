//===- Passes.h - Kernel level to plan --------------------------*- C++ -*-===//
//
// Part of fp8c, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef FP8C_CONVERSION_KERNELSTOPLAN_PASSES_H
#define FP8C_CONVERSION_KERNELSTOPLAN_PASSES_H

#include "fp8c/Dialect/Plan/Plan.h"

#include "mlir/IR/BuiltinOps.h"
#include "mlir/Pass/Pass.h"

namespace fp8c {

#define GEN_PASS_DECL
#include "fp8c/Conversion/KernelsToPlan/Passes.h.inc"

#define GEN_PASS_REGISTRATION
#include "fp8c/Conversion/KernelsToPlan/Passes.h.inc"

} // namespace fp8c

#endif // FP8C_CONVERSION_KERNELSTOPLAN_PASSES_H
