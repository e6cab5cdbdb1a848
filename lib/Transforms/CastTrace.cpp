//===- CastTrace.cpp - What a cast rounds ---------------------------------===//
//
// Part of fp8c, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "CastTrace.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace fp8c;

/// The number of a constant scalar, 0 if it is none.
static double getNumber(Value value) {
  FloatAttr number;
  return matchPattern(value, m_Constant(&number)) ? number.getValueAsDouble()
                                                  : 0.0;
}

CastInput fp8c::traceCast(TracedScalar value, double largest) {
  CastInput input;
  while (true) {
    TracedScalar outside = leaveBody(value);
    if (outside.tensor) {
      if (!input.rounding)
        input.tensor = outside;
      auto made = outside.tensor.getDefiningOp<linalg::GenericOp>();
      value = outside;
      if (!made || !isElementwise(made) ||
          !(isWidening(made) || made->hasOneUse()))
        break;
      value = traceYield(made);
      value.map = outside.map;
      continue;
    }
    // A clamp: its bound is a number, on either side.
    Operation *op = value.value.getDefiningOp();
    if (isa_and_nonnull<arith::MaximumFOp, arith::MinimumFOp>(op)) {
      bool isLower = isa<arith::MaximumFOp>(op);
      unsigned side = getNumber(op->getOperand(0)) != 0 ? 0 : 1;
      double bound = getNumber(op->getOperand(side));
      if (isLower ? !(bound <= -largest) : !(bound >= largest))
        break;
      input.atLargest &= bound == (isLower ? -largest : largest);
      (isLower ? input.below : input.above) = true;
      value = value.getOperand(op->getOperand(1 - side));
    } else if (auto narrow = dyn_cast_or_null<arith::TruncFOp>(op)) {
      if (input.rounding)
        break;
      input.rounding = narrow.getType();
      value = value.getOperand(narrow.getIn());
    } else if (auto widen = dyn_cast_or_null<arith::ExtFOp>(op)) {
      // Rounding a value of the type that it is rounded to changes nothing.
      if (input.rounding && input.rounding != widen.getIn().getType())
        break;
      input.rounding = {};
      value = value.getOperand(widen.getIn());
    } else {
      break;
    }
  }
  input.value = value;
  return input;
}
