//===- Propagation.h - Reshapes out of the way, one function ----*- C++ -*-===//
//
// Part of fp8c, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef FP8C_LIB_TRANSFORMS_PROPAGATION_H
#define FP8C_LIB_TRANSFORMS_PROPAGATION_H

#include "DimFactors.h"

#include "fp8c/Dialect/FP8/FP8.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "llvm/ADT/SetVector.h"

namespace fp8c {

/// A tensor over atoms: flattened position `p` of the original is dim `perm[p]`
/// of `base`.
struct Form {
  mlir::Value base;
  llvm::SmallVector<unsigned> perm;
};

/// The reshape propagation of one function.
class Propagation {
public:
  explicit Propagation(mlir::func::FuncOp func)
      : func(func), shapes(func), factors(shapes), builder(func) {}

  void run();

private:
  // Tying.
  llvm::ArrayRef<int> getDims(mlir::Value tensor);
  void tieGeneric(mlir::linalg::GenericOp op);
  void tieView(mlir::Operation *op);
  llvm::SmallVector<int> getAtoms(llvm::ArrayRef<int> dims);

  // Rewriting.
  void rewrite(mlir::linalg::GenericOp op);
  void rewriteAmax(fp8::AmaxOp op);
  /// Gives an op that stays the tensors as they were; views go before `before`.
  void fixOperands(mlir::Operation *op, mlir::Operation *before = nullptr);
  const Form &getForm(mlir::Value tensor);
  mlir::Value getOriginal(mlir::Value tensor);
  mlir::Value toAtoms(mlir::Value tensor);
  mlir::Value fromAtoms(const Form &form, mlir::Value tensor);
  mlir::Value castTo(mlir::Value tensor, llvm::ArrayRef<SizeExpr> sizes);
  mlir::Value makeEmpty(llvm::ArrayRef<int> atoms, mlir::Type element);
  mlir::RankedTensorType getType(llvm::ArrayRef<SizeExpr> sizes,
                                 mlir::Type element);
  bool isUntouched(mlir::linalg::GenericOp op);

  mlir::func::FuncOp func;
  SymbolicShape shapes;
  DimFactors factors;
  mlir::OpBuilder builder;
  mlir::Location loc = mlir::UnknownLoc::get(builder.getContext());
  llvm::DenseMap<mlir::Value, llvm::SmallVector<int>> valueDims;
  /// Generics that are written over atoms, with the dims of their loops.
  llvm::DenseMap<mlir::Operation *, llvm::SmallVector<int>> loops;
  /// Views whose source and result have the same atoms.
  llvm::DenseSet<mlir::Operation *> tiedViews;
  llvm::DenseMap<mlir::Value, Form> forms;
  /// Values whose original op goes.
  llvm::DenseSet<mlir::Value> replaced;
  llvm::DenseMap<mlir::Value, mlir::Value> originals;
  llvm::SetVector<mlir::Operation *> dead;
};

/// True for an init operand whose elements say nothing but a constant.
bool isEmptyOrFill(mlir::Value value);

} // namespace fp8c

#endif // FP8C_LIB_TRANSFORMS_PROPAGATION_H
