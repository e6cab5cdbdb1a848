//===- ScalarTrace.h - Scalars through elementwise ops ----------*- C++ -*-===//
//
// Part of fp8c, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef FP8C_LIB_TRANSFORMS_SCALARTRACE_H
#define FP8C_LIB_TRANSFORMS_SCALARTRACE_H

#include "mlir/Dialect/Linalg/IR/Linalg.h"

namespace fp8c {

/// A scalar as one expression, however many elementwise ops it is spelled in:
/// a value in the body of an op, or an element of a tensor.
struct TracedScalar {
  /// The value in a body; null for an element of `tensor`.
  mlir::Value value;
  /// The op whose body holds `value`.
  mlir::linalg::GenericOp op;
  mlir::Value tensor;
  /// The loops of `op`, or the place in `tensor`, from the loops of the op that
  /// the trace began at.
  mlir::AffineMap map;

  mlir::Type getType() const;
  /// The scalar op that computes it; null for an element of a tensor.
  template <typename OpTy> OpTy getDefiningOp() const {
    return value ? value.getDefiningOp<OpTy>() : OpTy();
  }
  /// An operand of the op that computes it.
  TracedScalar getOperand(mlir::Value operand) const {
    return {operand, op, {}, map};
  }
  /// True for the element of a tensor that is at the trace's own loops.
  bool isSameElement() const { return tensor && map.isIdentity(); }
};

/// True for an op with one result whose body computes each element of it from
/// the operands' elements alone.
bool isElementwise(mlir::linalg::GenericOp op);

/// What an elementwise op, or the body of a reduction, yields.
TracedScalar traceYield(mlir::linalg::GenericOp op);

/// Steps out of the body: a block argument becomes the element of its tensor.
TracedScalar leaveBody(TracedScalar scalar);

/// Steps into the op that makes the tensor, if that is elementwise and `enter`
/// wants it; out of bodies on the way.
TracedScalar
enterProducers(TracedScalar scalar,
               llvm::function_ref<bool(mlir::linalg::GenericOp)> enter);

/// Looks through exact widenings, in as many ops as there are.
TracedScalar stripWidening(TracedScalar scalar);

/// True if all that an elementwise op does is to widen its one input exactly.
bool isWidening(mlir::linalg::GenericOp op);

} // namespace fp8c

#endif // FP8C_LIB_TRANSFORMS_SCALARTRACE_H
