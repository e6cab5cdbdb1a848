//===- Common.h - What the families of operators share ----------*- C++ -*-===//
//
// Part of fp8c, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef FP8C_LIB_IMPORT_OPS_COMMON_H
#define FP8C_LIB_IMPORT_OPS_COMMON_H

#include "fp8c/Import/ImportContext.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"

namespace fp8c::import {

/// What a converter returns.
using Results = mlir::FailureOr<llvm::SmallVector<Result>>;

/// The results of an operator that makes one tensor.
inline Results one(mlir::Value tensor) {
  return llvm::SmallVector<Result>{tensor};
}
/// The results of an operator that makes one size.
inline Results one(mlir::OpFoldResult size) {
  return llvm::SmallVector<Result>{size};
}
/// The results of an operator that makes a list.
inline Results many(llvm::ArrayRef<mlir::Value> tensors) {
  return llvm::SmallVector<Result>(tensors.begin(), tensors.end());
}

/// An operand of arithmetic: a tensor, or a Python number.
struct Operand {
  mlir::Value tensor;
  Number number;
};

/// An argument that may be a tensor or a number.
Operand getOperand(ImportContext &c, llvm::StringRef name);

/// PyTorch's type promotion: dims win over 0-d tensors, those over numbers,
/// within one category (bool, integer, float).
mlir::Type promote(ImportContext &c, llvm::ArrayRef<Operand> operands);

/// How a kernel of PyTorch's CPU reads an operand of another type than the one
/// that it computes in.
enum class Reading {
  /// Rounded to the promoted type first.
  Rounded,
  /// A number or a 0-d tensor is read in the type of computation, unrounded
  /// (the right side of mul and div).
  Exact
};

/// A Python number as a scalar of `type`, rounded to `via` before; a size of
/// the call is converted at run time.
mlir::Value readNumber(ImportContext &c, Scalars &s, const Number &number,
                       mlir::Type via, mlir::Type type);

/// One elementwise operation over operands: each is read as `common` and
/// widened to the type of computation, and the body's value is rounded once to
/// `result`. `readings` tells how each operand is read (default: rounded).
mlir::Value
elementwise(ImportContext &c, llvm::ArrayRef<Operand> operands,
            mlir::Type common, mlir::Type result,
            llvm::function_ref<mlir::Value(Scalars &, mlir::ValueRange)> body,
            llvm::ArrayRef<Reading> readings = {});

/// `body(self, other)` of the operands, in the output's type.
Results binary(
    ImportContext &c, Operand self, Operand other,
    llvm::function_ref<mlir::Value(Scalars &, mlir::Value, mlir::Value)> body,
    Reading right = Reading::Rounded);

/// Refuses arithmetic on f8 values, by the operator's name.
mlir::LogicalResult refuseF8(ImportContext &c,
                             llvm::ArrayRef<mlir::Value> tensors);

/// A dim argument in [0, rank), or an error.
mlir::FailureOr<int64_t> getDim(ImportContext &c, llvm::StringRef name,
                                int64_t rank);
/// Dim arguments in [0, rank); all dims where the list is None or empty.
mlir::FailureOr<llvm::SmallVector<int64_t>>
getDims(ImportContext &c, llvm::StringRef name, int64_t rank);
/// All dims.
llvm::SmallVector<int64_t> allDims(mlir::Value tensor);

/// The value rounded to the type that the archive states for an output, with
/// the sizes that it states.
mlir::Value asOutput(ImportContext &c, mlir::Value tensor, unsigned index = 0);

/// A number as an attribute of a tensor's element type.
mlir::TypedAttr getNumberAttr(mlir::Type type, const Number &number);

/// Adds `aten.BASE.OVERLOAD` and its in-place form to the elementwise family.
void addElementwise(OpTable &table, llvm::StringRef base,
                    llvm::StringRef overload, llvm::StringRef schema,
                    Converter convert);

/// Register one family each.
void addArithmeticOps(OpTable &table);
void addAttentionOps(OpTable &table);
void addCastOps(OpTable &table);
void addConstantOps(OpTable &table);
void addConvolutionOps(OpTable &table);
void addDivisionOps(OpTable &table);
void addFP8Ops(OpTable &table);
void addIndexingOps(OpTable &table);
void addJoinOps(OpTable &table);
void addLogicOps(OpTable &table);
void addNormOps(OpTable &table);
void addProductOps(OpTable &table);
void addQuantizeOps(OpTable &table);
void addReductionOps(OpTable &table);
void addResampleOps(OpTable &table);
void addScanOps(OpTable &table);
void addShapeOps(OpTable &table);
void addSliceOps(OpTable &table);
void addSoftmaxOps(OpTable &table);
void addUnaryOps(OpTable &table);
void addViewOps(OpTable &table);

} // namespace fp8c::import

#endif // FP8C_LIB_IMPORT_OPS_COMMON_H
