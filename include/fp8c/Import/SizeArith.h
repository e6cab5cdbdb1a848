//===- SizeArith.h - Arithmetic on sizes ------------------------*- C++ -*-===//
//
// Part of fp8c, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Sizes of tensors while a graph is built: a number, or an index value. Each
// one is an expression of SymbolicShape, so that `(s0*s1*64)/64` and `s1*s0`
// are one SSA value and a reshape knows which dims it merges.
//
//===----------------------------------------------------------------------===//

#ifndef FP8C_IMPORT_SIZEARITH_H
#define FP8C_IMPORT_SIZEARITH_H

#include "fp8c/Analysis/SymbolicShape.h"

#include "mlir/IR/OpDefinition.h"
#include "llvm/ADT/SmallVector.h"
#include <optional>

namespace fp8c::import {

/// The sizes of a tensor's dims; each an integer attribute of index type or an
/// index value, never a value that is a known constant.
using Sizes = llvm::SmallVector<mlir::OpFoldResult>;

/// Builds index arithmetic and interns it: equal expressions are one value.
/// Index ops go to the builder's insertion point, so the builder has to stay in
/// one block, at its end, while values are made.
class SizeArith {
public:
  explicit SizeArith(mlir::OpBuilder &builder) : builder(builder) {}

  /// Where new index ops get their location from.
  void setLoc(mlir::Location newLoc) { loc = newLoc; }

  /// True after a number that 64 bits do not hold, or an expression of too
  /// many terms: sizes since then mean nothing.
  bool isBroken() const { return broken || shapes.isBroken(); }

  /// The size as a constant attribute.
  mlir::OpFoldResult constant(int64_t value) const;
  /// The number that a size is, if it is one whatever the symbols are.
  std::optional<int64_t> getConstant(mlir::OpFoldResult size);
  /// The size in its canonical form.
  mlir::OpFoldResult canonical(mlir::OpFoldResult size);
  /// The size as an SSA value.
  mlir::Value value(mlir::OpFoldResult size);

  mlir::OpFoldResult add(mlir::OpFoldResult a, mlir::OpFoldResult b);
  mlir::OpFoldResult sub(mlir::OpFoldResult a, mlir::OpFoldResult b);
  mlir::OpFoldResult mul(mlir::OpFoldResult a, mlir::OpFoldResult b);
  /// Python's `//`.
  mlir::OpFoldResult floorDiv(mlir::OpFoldResult a, mlir::OpFoldResult b);
  /// The quotient rounded up.
  mlir::OpFoldResult ceilDiv(mlir::OpFoldResult a, mlir::OpFoldResult b);
  /// Python's `%`: the sign of the divisor.
  mlir::OpFoldResult mod(mlir::OpFoldResult a, mlir::OpFoldResult b);
  mlir::OpFoldResult min(mlir::OpFoldResult a, mlir::OpFoldResult b);
  mlir::OpFoldResult max(mlir::OpFoldResult a, mlir::OpFoldResult b);
  /// The product of all sizes.
  mlir::OpFoldResult product(llvm::ArrayRef<mlir::OpFoldResult> sizes);

  /// True where both are equal whatever the symbols are.
  bool equal(mlir::OpFoldResult a, mlir::OpFoldResult b);
  /// `a / b` where that is exact whatever the symbols are, else a null result.
  mlir::OpFoldResult exactDiv(mlir::OpFoldResult a, mlir::OpFoldResult b);
  /// The least value that a size can have, from the symbols' ranges.
  std::optional<int64_t> lowerBound(mlir::OpFoldResult size);
  /// True where `a <= b` whatever the symbols are.
  bool knownLessEqual(mlir::OpFoldResult a, mlir::OpFoldResult b);

private:
  /// The expression of a size; an index value stands for its expression from
  /// then on.
  SizeExpr expr(mlir::OpFoldResult size);
  /// The size that an expression is: a number, or its one value.
  mlir::OpFoldResult fold(SizeExpr expr);
  mlir::Location location();

  mlir::OpBuilder &builder;
  std::optional<mlir::Location> loc;
  bool broken = false;
  SymbolicShape shapes;
  SizeValues values;
};

} // namespace fp8c::import

#endif // FP8C_IMPORT_SIZEARITH_H
