//===- Version.h - What --version prints ------------------------*- C++ -*-===//
//
// Part of fp8c, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef FP8C_TOOLS_COMMON_VERSION_H
#define FP8C_TOOLS_COMMON_VERSION_H

#include "fp8c/Package/Format.h"

#include "llvm/Config/llvm-config.h"
#include "llvm/Support/raw_ostream.h"

namespace fp8c::tools {

/// The versions that decide what a package holds and who can read it.
inline void printVersion(llvm::raw_ostream &os) {
  os << "fp8c " FP8C_VERSION "\n"
     << "LLVM " LLVM_VERSION_STRING "\n"
     << "CUDA none (this build has the cpu device alone)\n"
     << "plan format " << package::kPlanVersion << ", package format "
     << package::kVersion << "\n";
}

} // namespace fp8c::tools

#endif // FP8C_TOOLS_COMMON_VERSION_H
