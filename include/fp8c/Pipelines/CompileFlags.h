//===- CompileFlags.h - Command line options of a compilation ---*- C++ -*-===//
//
// Part of fp8c, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef FP8C_PIPELINES_COMPILEFLAGS_H
#define FP8C_PIPELINES_COMPILEFLAGS_H

#include "fp8c/Pipelines/Compiler.h"
#include "llvm/Support/CommandLine.h"

namespace fp8c {

/// The options that fp8-compile and fp8-run share, as a tool's flags. One
/// object a tool, made before the command line is parsed.
class CompileFlags {
public:
  CompileFlags();

  /// The options that the flags say; an error names the flag and the rule.
  llvm::Expected<CompileOptions> get() const;
  /// Whether --target is given. Where it is not, get() says the CPU alone, and
  /// the tool knows which devices it is about.
  bool hasTargets() const { return target.getNumOccurrences() > 0; }
  /// The flags' category, for --help.
  llvm::cl::OptionCategory &getCategory() { return category; }

  /// Reads "NAME=MIN..MAX[:multiple]".
  static llvm::Expected<DimRange> parseDim(llvm::StringRef text);

private:
  llvm::cl::OptionCategory category;
  llvm::cl::opt<std::string> target, recipe, numerics, castOverflow,
      divideByNumber, launch;
  llvm::cl::opt<bool> assumeGuards;
};

/// The target that a device of this machine ("cpu", "cuda:1") wants; an error
/// says why there is none.
llvm::Expected<const Target *> findDeviceTarget(llvm::StringRef device);

} // namespace fp8c

#endif // FP8C_PIPELINES_COMPILEFLAGS_H
