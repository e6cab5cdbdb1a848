//===- MemoryOrder.h - An amax in the order of memory -----------*- C++ -*-===//
//
// Part of fp8c, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef FP8C_LIB_CONVERSION_KERNELSTOPLAN_MEMORYORDER_H
#define FP8C_LIB_CONVERSION_KERNELSTOPLAN_MEMORYORDER_H

#include "Layout.h"

#include "fp8c/Dialect/FP8/FP8.h"

namespace fp8c::toplan {

/// Where a kernel is the amax of a whole tensor and no more, and the tensor
/// lies densely in another order of its dims: makes `region` the kernel with
/// the dims in that order, and `operand` the layout of what it reads so.
bool orderByMemory(fp8::KernelOp op, Layout &operand, SizeArith &arith,
                   mlir::Region &region);

} // namespace fp8c::toplan

#endif // FP8C_LIB_CONVERSION_KERNELSTOPLAN_MEMORYORDER_H
