//===- Prepare.h - Runs @prepare at compile time ----------------*- C++ -*-===//
//
// Part of fp8c, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef FP8C_LIB_PIPELINES_PREPARE_H
#define FP8C_LIB_PIPELINES_PREPARE_H

#include "fp8c/Package/PackageWriter.h"
#include "mlir/IR/BuiltinOps.h"

#include <list>

namespace fp8c {

/// Runs `plan.entry @prepare` of a plan on the CPU and takes it out of the
/// module. `contents` holds the weights that it reads and the kernels; the
/// weights that it writes are added, their bytes kept in `prepared`. Without
/// such an entry nothing happens.
llvm::Error runPrepare(mlir::ModuleOp plan, package::PackageContents &contents,
                       std::list<std::string> &prepared);

} // namespace fp8c

#endif // FP8C_LIB_PIPELINES_PREPARE_H
