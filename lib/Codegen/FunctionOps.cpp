//===- FunctionOps.cpp - Ops that need an expansion -----------------------===//
//
// Part of fp8c, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "fp8c/Codegen/FunctionOps.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"

using namespace mlir;

bool fp8c::codegen::isFunction(Operation *op) {
  if (isa<arith::RemFOp>(op))
    return true;
  // The others become one instruction or a few.
  return isa<math::MathDialect>(op->getDialect()) &&
         !isa<math::AbsFOp, math::AbsIOp, math::CeilOp, math::CopySignOp,
              math::CountLeadingZerosOp, math::CtPopOp,
              math::CountTrailingZerosOp, math::FloorOp, math::FmaOp,
              math::IsFiniteOp, math::IsInfOp, math::IsNaNOp, math::IsNormalOp,
              math::RoundEvenOp, math::RoundOp, math::SqrtOp, math::TruncOp>(
             op);
}
