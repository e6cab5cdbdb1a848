//===- Tool.h - What the tools have in common -------------------*- C++ -*-===//
//
// Part of fp8c, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef FP8C_TOOLS_COMMON_TOOL_H
#define FP8C_TOOLS_COMMON_TOOL_H

#include "llvm/ADT/StringRef.h"
#include "llvm/ADT/Twine.h"
#include "llvm/Support/raw_ostream.h"

namespace fp8c::tools {

/// The exit status of wrong usage; 1 is an error of another kind.
inline constexpr int kWrongUsage = 2;

/// Sets what --version prints, and hides from --help the options that LLVM's
/// libraries registered before main. Call it before a tool's own options that
/// are no globals are made.
void initialise();

/// Parses the command line; false, after a message, for wrong usage.
bool parseCommandLine(int argc, char **argv, llvm::StringRef overview);

/// Prints an error as the tools do and returns `status`.
int fail(const llvm::Twine &message, int status = 1);

} // namespace fp8c::tools

#endif // FP8C_TOOLS_COMMON_TOOL_H
