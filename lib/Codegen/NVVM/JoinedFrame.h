//===- JoinedFrame.h - Products around what takes their results -*- C++ -*-===//
//
// Part of fp8c, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef FP8C_LIB_CODEGEN_NVVM_JOINEDFRAME_H
#define FP8C_LIB_CODEGEN_NVVM_JOINEDFRAME_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/ADT/Twine.h"
#include "llvm/Support/Error.h"

#include <string>

namespace llvm {
class Module;
}

namespace fp8c::codegen {

/// The name of one of the functions of a kernel that take a product's result:
/// `take1` and `take4`, of so many vectors.
inline std::string getTakeName(llvm::StringRef kernel, llvm::StringRef take) {
  return (kernel + "_" + take).str();
}

/// Adds the joined forms of kernels whose functions `code` has.
llvm::Error linkJoinedProducts(llvm::Module &code,
                               llvm::ArrayRef<std::string> kernels);

} // namespace fp8c::codegen

#endif // FP8C_LIB_CODEGEN_NVVM_JOINEDFRAME_H
