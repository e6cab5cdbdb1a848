//===- Arguments.h - Inputs of a call ---------------------------*- C++ -*-===//
//
// Part of fp8c, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef FP8C_TOOLS_FP8_RUN_ARGUMENTS_H
#define FP8C_TOOLS_FP8_RUN_ARGUMENTS_H

#include "Options.h"
#include "Session.h"

namespace fp8c::run {

/// What is wrong with the form of --dim or --input; empty for nothing.
std::string findWrongAssignment(const Options &options);

/// The inputs in the signature's order: from files, or random.
std::vector<HostTensor> makeArguments(const Session &session,
                                      const Options &options);

} // namespace fp8c::run

#endif // FP8C_TOOLS_FP8_RUN_ARGUMENTS_H
