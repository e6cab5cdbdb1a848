//===- HistoryStep.h - The step of delayed scaling --------------*- C++ -*-===//
//
// Part of fp8c, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef FP8C_LIB_TRANSFORMS_HISTORYSTEP_H
#define FP8C_LIB_TRANSFORMS_HISTORYSTEP_H

#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

#include <optional>

namespace fp8c {

/// A history of amaxs that is read, rolled and written.
struct HistoryStep {
  mlir::Value history;
  /// What is written into element 0, of one element.
  mlir::Value amax;
  /// The maximum of the history before; null if nothing needs it.
  mlir::linalg::GenericOp used;
};

/// Matches an insertion into element 0 of a history that is rolled by one
/// towards higher indices: whatever index arithmetic the roll is spelled in.
std::optional<HistoryStep> matchHistoryStep(mlir::tensor::InsertSliceOp op);

/// Moves what computes `value` before `before`, an op of the same block; false,
/// with nothing moved, if that has effects or needs `before` itself.
bool moveBefore(mlir::Value value, mlir::Operation *before);

} // namespace fp8c

#endif // FP8C_LIB_TRANSFORMS_HISTORYSTEP_H
