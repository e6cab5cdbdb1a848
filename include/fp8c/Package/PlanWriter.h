//===- PlanWriter.h - A plan in binary form ---------------------*- C++ -*-===//
//
// Part of fp8c, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef FP8C_PACKAGE_PLANWRITER_H
#define FP8C_PACKAGE_PLANWRITER_H

#include "mlir/IR/BuiltinOps.h"

#include <string>

namespace fp8c::package {

/// Writes the plan dialect's entries, kernels and globals of `module` as the
/// flatbuffer of plan.fbs. The same module gives the same bytes. An op that a
/// plan cannot hold is an error at its location.
mlir::FailureOr<std::string> writePlan(mlir::ModuleOp module,
                                       llvm::StringRef target);

} // namespace fp8c::package

#endif // FP8C_PACKAGE_PLANWRITER_H
