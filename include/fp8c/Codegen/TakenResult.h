//===- TakenResult.h - Kernels that take a product's result -----*- C++ -*-===//
//
// Part of fp8c, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef FP8C_CODEGEN_TAKENRESULT_H
#define FP8C_CODEGEN_TAKENRESULT_H

#include "fp8c/Codegen/RowProgram.h"

namespace fp8c::codegen {

/// Why a kernel cannot take the product's result that its operand `operand` is
/// vector by vector, as it comes (fp8c/Package/JoinedProduct.h); "": it can.
llvm::StringRef whyNotTaken(const RowProgram &program, unsigned operand);

} // namespace fp8c::codegen

#endif // FP8C_CODEGEN_TAKENRESULT_H
