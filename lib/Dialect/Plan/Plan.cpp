//===- Plan.cpp - The plan dialect ----------------------------------------===//
//
// Part of fp8c, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "fp8c/Dialect/Plan/Plan.h"

#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/OpImplementation.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace fp8c::plan;

#include "fp8c/Dialect/Plan/PlanDialect.cpp.inc"

#define GET_OP_CLASSES
#include "fp8c/Dialect/Plan/PlanOps.cpp.inc"

void PlanDialect::initialize() {
  addOperations<
#define GET_OP_LIST
#include "fp8c/Dialect/Plan/PlanOps.cpp.inc"
      >();
}

/// Whether `op` rounds as IEEE 754 says, or does not round: everything but the
/// functions of the math dialect that are approximated.
static bool isCorrectlyRounded(Operation *op) {
  if (!isa_and_nonnull<math::MathDialect>(op->getDialect()))
    return true;
  return isa<math::AbsFOp, math::AbsIOp, math::CeilOp, math::CopySignOp,
             math::FloorOp, math::FmaOp, math::IsFiniteOp, math::IsInfOp,
             math::IsNaNOp, math::RoundEvenOp, math::RoundOp, math::SqrtOp,
             math::TruncOp>(op);
}

/// Whether each accumulator of a reduction is combined by an operation that
/// gives the same bytes in any order.
static bool isOrderFree(linalg::GenericOp op) {
  if (op.getNumReductionLoops() == 0)
    return true;
  auto yield = cast<linalg::YieldOp>(op.getBody()->getTerminator());
  return llvm::all_of(yield.getOperands(), [](Value value) {
    if (value.getType().isIntOrIndex())
      return true;
    return isa_and_nonnull<arith::MaximumFOp, arith::MinimumFOp,
                           arith::MaxNumFOp, arith::MinNumFOp>(
        value.getDefiningOp());
  });
}

bool KernelOp::isExact() {
  WalkResult result = getBody().walk([](Operation *op) {
    auto generic = dyn_cast<linalg::GenericOp>(op);
    bool exact = isCorrectlyRounded(op) && (!generic || isOrderFree(generic));
    return exact ? WalkResult::advance() : WalkResult::interrupt();
  });
  return !result.wasInterrupted();
}
