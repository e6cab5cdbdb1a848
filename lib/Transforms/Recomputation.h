//===- Recomputation.h - A value that kernels compute again -----*- C++ -*-===//
//
// Part of fp8c, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef FP8C_LIB_TRANSFORMS_RECOMPUTATION_H
#define FP8C_LIB_TRANSFORMS_RECOMPUTATION_H

#include "fp8c/Dialect/FP8/FP8.h"
#include "fp8c/Target/Target.h"

#include "llvm/ADT/SetVector.h"

#include <string>

namespace fp8c {

/// A result of a kernel that only other kernels read, and how those would
/// compute it again.
class Recomputation {
public:
  Recomputation(mlir::OpResult result, const Target &target, int64_t &nextId)
      : result(result), maker(llvm::cast<fp8::KernelOp>(result.getOwner())),
        target(target), nextId(nextId) {}

  /// Whether there is something to decide: its maker runs anyway and its
  /// readers take it element by element.
  bool analyze();
  /// Bytes of memory for an element of it: with it in memory, and without.
  int64_t getStoredBytes() const { return elementBytes * (1 + readers.size()); }
  int64_t getAgainBytes() const { return againBytes; }
  fp8::KernelOp getMaker() const { return maker; }
  /// The node whose value it is.
  llvm::StringRef getNode() const;
  /// Has it computed again, which gives a new maker; the reason why not
  /// otherwise.
  std::string apply();

private:
  /// Finds `ops` and `leaves`.
  bool collect();
  bool countBytes();
  /// `reader` with the value computed in it, beside it.
  fp8::KernelOp makeReader(fp8::KernelOp reader);
  /// `maker` without the result, beside it.
  fp8::KernelOp makeMaker();
  /// The value outside that a leaf is.
  mlir::Value getOuter(mlir::Value leaf);
  mlir::Value getMade() {
    return maker.getBody().front().getTerminator()->getOperand(
        result.getResultNumber());
  }

  mlir::OpResult result;
  fp8::KernelOp maker;
  const Target &target;
  /// The next number of fp8::kSameSumsAttr.
  int64_t &nextId;
  llvm::SmallSetVector<mlir::Operation *, 2> readers;
  /// What is computed again, and what that is computed from: arguments of the
  /// maker's body, and values that it writes anyway.
  llvm::SetVector<mlir::Operation *> ops;
  llvm::SetVector<mlir::Value> leaves;
  int64_t elementBytes = 0, againBytes = 0;
};

} // namespace fp8c

#endif // FP8C_LIB_TRANSFORMS_RECOMPUTATION_H
