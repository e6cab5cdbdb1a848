//===- Tool.cpp - What the tools have in common ---------------------------===//
//
// Part of fp8c, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Tool.h"

#include "fp8c/Package/Format.h"

#include "llvm/Config/llvm-config.h"
#include "llvm/Support/CommandLine.h"
#include "llvm/Support/WithColor.h"

using namespace llvm;
using namespace fp8c;

/// The versions that decide what a package holds and who can read it.
static void printVersion(raw_ostream &os) {
  os << "fp8c " FP8C_VERSION "\n"
     << "LLVM " LLVM_VERSION_STRING "\n"
     << "CUDA not needed to build; the cuda device asks the driver\n"
     << "plan format " << package::kPlanVersion << ", package format "
     << package::kVersion << "\n";
}

void tools::initialise() {
  cl::SetVersionPrinter(printVersion);
  // Of a category that no option is in: what is there by now goes.
  static cl::OptionCategory none("none");
  cl::HideUnrelatedOptions(none);
}

bool tools::parseCommandLine(int argc, char **argv, StringRef overview) {
  std::string errors;
  raw_string_ostream os(errors);
  if (cl::ParseCommandLineOptions(argc, argv, overview, &os))
    return true;
  // What follows are guesses, and what is missing after the first error. A
  // value that does not fit has been named already.
  if (!errors.empty())
    errs() << StringRef(errors).split('\n').first << "\n";
  return false;
}

int tools::fail(const Twine &message, int status) {
  WithColor::error(errs()) << message << "\n";
  return status;
}
