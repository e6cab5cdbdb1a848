//===- Model.h - From a file to a session -----------------------*- C++ -*-===//
//
// Part of fp8c, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef FP8C_TOOLS_FP8_RUN_MODEL_H
#define FP8C_TOOLS_FP8_RUN_MODEL_H

#include "Options.h"
#include "Session.h"
#include "fp8c/Pipelines/Compiler.h"

namespace fp8c::run {

/// Loads a package; a .pt2 or .mlir model is compiled first.
std::unique_ptr<Session> loadModel(const Options &options,
                                   const CompileOptions &compileOptions);

} // namespace fp8c::run

#endif // FP8C_TOOLS_FP8_RUN_MODEL_H
