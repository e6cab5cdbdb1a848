//===- CaptureOrder.h - Dims of captures in the order of loops --*- C++ -*-===//
//
// Part of fp8c, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef FP8C_LIB_CONVERSION_KERNELSTOPLAN_CAPTUREORDER_H
#define FP8C_LIB_CONVERSION_KERNELSTOPLAN_CAPTUREORDER_H

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace fp8c::toplan {

/// Has the kernels of a function read each captured tensor with its dims in the
/// order of their loops, through transposes outside, where all reads agree.
void orderCaptures(mlir::func::FuncOp func);

} // namespace fp8c::toplan

#endif // FP8C_LIB_CONVERSION_KERNELSTOPLAN_CAPTUREORDER_H
