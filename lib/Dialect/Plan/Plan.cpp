//===- Plan.cpp - The plan dialect ----------------------------------------===//
//
// Part of fp8c, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "fp8c/Dialect/Plan/Plan.h"

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

LogicalResult LaunchOp::verifySymbolUses(SymbolTableCollection &symbols) {
  if (!symbols.lookupNearestSymbolFrom<KernelOp>((*this)->getParentOp(), getKernelAttr()))
    return emitOpError() << "refers to " << getKernelAttr() << ", which is no plan.kernel";
  return success();
}
