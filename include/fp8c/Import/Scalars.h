//===- Scalars.h - Scalar arithmetic in bodies ------------------*- C++ -*-===//
//
// Part of fp8c, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What the body of a linalg.generic computes, spelled shortly, with PyTorch's
// rules of conversion.
//
//===----------------------------------------------------------------------===//

#ifndef FP8C_IMPORT_SCALARS_H
#define FP8C_IMPORT_SCALARS_H

#include "fp8c/Dialect/FP8/FP8.h"
#include "mlir/IR/Builders.h"

namespace fp8c::import {

/// A comparison of two numbers.
enum class Compare { EQ, NE, LT, LE, GT, GE };

/// The number without its fraction; the nearest integer where 64 bits do not
/// hold it, 0 for NaN.
int64_t truncate(double number);

/// Builds scalar operations at one insertion point. Floats, signless integers
/// and i1; operands of one operation have one type.
class Scalars {
public:
  Scalars(mlir::OpBuilder &builder, mlir::Location loc)
      : builder(builder), loc(loc) {}

  mlir::OpBuilder &getBuilder() { return builder; }
  mlir::Location getLoc() { return loc; }

  /// A number of a float, integer or index type, rounded to that type.
  mlir::Value number(mlir::Type type, double value);
  /// An integer of any type, exactly where that type can hold it.
  mlir::Value integer(mlir::Type type, int64_t value);

  mlir::Value add(mlir::Value a, mlir::Value b);
  mlir::Value sub(mlir::Value a, mlir::Value b);
  mlir::Value mul(mlir::Value a, mlir::Value b);
  /// True division of floats, truncating division of integers.
  mlir::Value div(mlir::Value a, mlir::Value b);
  /// a * b + c, one rounding.
  mlir::Value fma(mlir::Value a, mlir::Value b, mlir::Value c);
  mlir::Value neg(mlir::Value a);
  mlir::Value abs(mlir::Value a);
  /// The larger one; NaN if either is NaN.
  mlir::Value max(mlir::Value a, mlir::Value b);
  /// The smaller one; NaN if either is NaN.
  mlir::Value min(mlir::Value a, mlir::Value b);
  /// The larger one of a and 0; -0 and NaN stay.
  mlir::Value notNegative(mlir::Value a);
  mlir::Value compare(Compare predicate, mlir::Value a, mlir::Value b);
  mlir::Value select(mlir::Value condition, mlir::Value a, mlir::Value b);
  /// One `math` operation of one operand.
  template <typename OpTy> mlir::Value math(mlir::Value a) {
    return OpTy::create(builder, loc, a);
  }

  /// The value as `type`, by PyTorch's rules: one rounding, f64 and integers to
  /// 16 and 8 bits by way of f32, floats to integers by truncation, anything to
  /// i1 by `!= 0`. `isUnsigned` says how integers of eight bits are read,
  /// `overflow` what a cast to f8 does beyond the range (its default is that
  /// of PyTorch: saturate for f8E4M3FN, ieee for f8E5M2).
  mlir::Value convert(mlir::Value value, mlir::Type type,
                      bool isUnsigned = false,
                      std::optional<fp8::Overflow> overflow = std::nullopt);

private:
  mlir::OpBuilder &builder;
  mlir::Location loc;
};

/// The type in which PyTorch computes with values of an element type: f32 for
/// f16, bf16 and f8, else the type itself.
mlir::Type getComputeType(mlir::Type type);

} // namespace fp8c::import

#endif // FP8C_IMPORT_SCALARS_H
