//===- Options.h - The command line of fp8-run ------------------*- C++ -*-===//
//
// Part of fp8c, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef FP8C_TOOLS_FP8_RUN_OPTIONS_H
#define FP8C_TOOLS_FP8_RUN_OPTIONS_H

#include "fp8c/Pipelines/Report.h"
#include "fp8c/Runtime/fp8rt.h"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace fp8c::run {

/// What the command line says.
struct Options {
  std::string model;
  std::string device;
  /// One of fp8rt_graphs_t.
  int32_t graphs = FP8RT_GRAPHS_AUTO;
  bool poison = false;
  int32_t lanes = 0;
  fp8rt_backends_t backends = FP8RT_BACKENDS_AUTO;
  /// Empty for none.
  std::string compare;

  std::string inputs;
  /// NAME=FILE.npy
  std::vector<std::string> inputFiles;
  std::optional<uint64_t> random;
  /// INPUT.AXIS=N or SYMBOL=N
  std::vector<std::string> dims;
  int64_t calls = 1;
  std::string outputs, stateIn, stateOut;

  std::string expect, expectState, expectTrace;
  double maxDistance = 0.01;

  /// What --report asks for; none without it.
  std::optional<ReportRequest> report;
  bool list = false, benchmark = false, json = false, profile = false,
       quiet = false, verbose = false;
};

} // namespace fp8c::run

#endif // FP8C_TOOLS_FP8_RUN_OPTIONS_H
