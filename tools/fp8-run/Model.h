//===- Model.h - From a file to a session -----------------------*- C++ -*-===//
//
// Part of fp8c, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef FP8C_TOOLS_FP8_RUN_MODEL_H
#define FP8C_TOOLS_FP8_RUN_MODEL_H

#include "Session.h"
#include "fp8c/Pipelines/Compiler.h"

namespace fp8c::run {

/// A package; a .pt2 or .mlir model is compiled first, into a temporary file
/// that lives as long as this.
class Model {
public:
  /// It is compiled for `devices`, each named once, where `options` has no
  /// targets.
  Model(const std::string &path, CompileOptions options,
        llvm::ArrayRef<std::string> devices);
  ~Model();
  Model(const Model &) = delete;

  std::unique_ptr<Session> load(const std::string &device,
                                const Options &options) const {
    return Session::load(package, device, options);
  }

private:
  std::string package;
  bool isTemporary = false;
};

/// Writes the report that a package keeps.
void writeReport(const std::string &package, const ReportRequest &request);

} // namespace fp8c::run

#endif // FP8C_TOOLS_FP8_RUN_MODEL_H
