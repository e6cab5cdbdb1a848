//===- Shapes.h - Sizes of all tensors of a function ------------*- C++ -*-===//
//
// Part of fp8c, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef FP8C_LIB_CONVERSION_KERNELSTOPLAN_SHAPES_H
#define FP8C_LIB_CONVERSION_KERNELSTOPLAN_SHAPES_H

#include "fp8c/Dialect/FP8/FP8.h"
#include "fp8c/Import/SizeArith.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/IRMapping.h"

namespace fp8c::toplan {

using import::SizeArith;
using import::Sizes;

/// Moves the index arithmetic of a function into a plan entry: the sizes of
/// each tensor as expressions over `fp8.symbol` there.
class Shapes {
public:
  /// New ops go to the end of the builder's block.
  explicit Shapes(mlir::OpBuilder &builder)
      : arith(builder), builder(builder) {}

  /// Walks `func`: sizes of every tensor, and its checks.
  mlir::LogicalResult run(mlir::func::FuncOp func);

  /// The sizes of a tensor of the function or of a kernel's body.
  const Sizes &sizes(mlir::Value tensor) const {
    return tensorSizes.find(tensor)->second;
  }
  /// The entry's form of an index of the function.
  mlir::OpFoldResult index(mlir::Value value) const {
    return indices.lookup(value);
  }
  /// The mixed static and dynamic sizes that a view op has, as expressions.
  Sizes map(llvm::ArrayRef<mlir::OpFoldResult> mixed) const;

  SizeArith arith;

private:
  mlir::LogicalResult visitArguments(mlir::func::FuncOp func);
  mlir::LogicalResult visit(mlir::Operation *op);
  mlir::LogicalResult visitIndexOp(mlir::Operation *op);
  mlir::LogicalResult visitKernel(mlir::Operation *op);
  void visitSymbol(fp8::SymbolOp symbol);
  mlir::LogicalResult visitCheck(mlir::Operation *op);
  /// The sizes of the results of `op`, null for ops that are not known.
  bool inferSizes(mlir::Operation *op);
  void setSizes(mlir::Value tensor, Sizes sizes);
  mlir::FailureOr<mlir::Value> mapCondition(mlir::Value value);

  mlir::OpBuilder &builder;
  llvm::DenseMap<mlir::Value, Sizes> tensorSizes;
  llvm::DenseMap<mlir::Value, mlir::OpFoldResult> indices;
  mlir::IRMapping conditions;
  llvm::StringMap<mlir::Value> symbols;
};

} // namespace fp8c::toplan

#endif // FP8C_LIB_CONVERSION_KERNELSTOPLAN_SHAPES_H
