//===- Magnitudes.h - Values no larger than what they are of ----*- C++ -*-===//
//
// Part of fp8c, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef FP8C_LIB_CODEGEN_MAGNITUDES_H
#define FP8C_LIB_CODEGEN_MAGNITUDES_H

#include "fp8c/Codegen/RowProgram.h"

namespace fp8c::codegen {

/// Elements up to this magnitude are looked at.
inline constexpr double kLargestElement = 0x1p20;

/// The read of a captured tensor whose element is at least as large in
/// magnitude as `value`, a tensor of the body of the same narrow type, as x is
/// of x * sigmoid(x): for elements of up to kLargestElement, none of which
/// gives a NaN. Null if it is not known of any.
mlir::OpOperand *findLargerRead(const RowProgram &program, mlir::Value value);

} // namespace fp8c::codegen

#endif // FP8C_LIB_CODEGEN_MAGNITUDES_H
