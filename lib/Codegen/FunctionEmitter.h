//===- FunctionEmitter.h - Arithmetic on f32 lanes --------------*- C++ -*-===//
//
// Part of fp8c, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef FP8C_LIB_CODEGEN_FUNCTIONEMITTER_H
#define FP8C_LIB_CODEGEN_FUNCTIONEMITTER_H

#include "fp8c/Codegen/Casts.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"

namespace fp8c::codegen {

/// Emits operations on values of one shape: scalars, or vectors of equal size.
/// Reals are f32 unless a value of f64 is given.
class FunctionEmitter {
public:
  FunctionEmitter(mlir::OpBuilder &builder, mlir::Location loc,
                  mlir::Type shape)
      : builder(builder), loc(loc), shape(shape) {}

  using Value = mlir::Value;
  using Predicate = mlir::arith::CmpFPredicate;

  mlir::Type real() const { return of(builder.getF32Type()); }
  mlir::Type wide() const { return of(builder.getF64Type()); }
  mlir::Type integer() const { return of(builder.getI32Type()); }
  mlir::Type of(mlir::Type element) const {
    return withElement(shape, element);
  }

  Value constant(double value) { return constant(real(), value); }
  Value constant(mlir::Type type, double value) {
    mlir::Type element = mlir::getElementTypeOrSelf(type);
    if (mlir::isa<mlir::FloatType>(element))
      return splat(type, builder.getFloatAttr(element, value));
    return splat(type, builder.getIntegerAttr(element, int64_t(value)));
  }
  Value bits(int64_t value) {
    return splat(integer(), builder.getI32IntegerAttr(value));
  }

  Value add(Value a, Value b) { return make<mlir::arith::AddFOp>(a, b); }
  Value sub(Value a, Value b) { return make<mlir::arith::SubFOp>(a, b); }
  Value mul(Value a, Value b) { return make<mlir::arith::MulFOp>(a, b); }
  Value div(Value a, Value b) { return make<mlir::arith::DivFOp>(a, b); }
  Value neg(Value a) { return make<mlir::arith::NegFOp>(a); }
  Value abs(Value a) { return make<mlir::math::AbsFOp>(a); }
  Value sqrt(Value a) { return make<mlir::math::SqrtOp>(a); }
  Value nearest(Value a) { return make<mlir::math::RoundEvenOp>(a); }
  Value truncate(Value a) { return make<mlir::math::TruncOp>(a); }
  Value withSign(Value a, Value sign) {
    return make<mlir::math::CopySignOp>(a, sign);
  }
  /// a * b + c with one rounding.
  Value fma(Value a, Value b, Value c) {
    return make<mlir::math::FmaOp>(a, b, c);
  }
  Value addInt(Value a, Value b) { return make<mlir::arith::AddIOp>(a, b); }
  Value subInt(Value a, Value b) { return make<mlir::arith::SubIOp>(a, b); }
  Value andInt(Value a, Value b) { return make<mlir::arith::AndIOp>(a, b); }
  Value shiftLeft(Value a, Value b) { return make<mlir::arith::ShLIOp>(a, b); }
  Value shiftRight(Value a, Value b) {
    return make<mlir::arith::ShRSIOp>(a, b);
  }
  Value both(Value a, Value b) { return make<mlir::arith::AndIOp>(a, b); }
  Value compare(Predicate predicate, Value a, Value b) {
    return mlir::arith::CmpFOp::create(builder, loc, predicate, a, b);
  }
  Value isEqualInt(Value a, Value b) {
    return mlir::arith::CmpIOp::create(builder, loc,
                                       mlir::arith::CmpIPredicate::eq, a, b);
  }
  Value less(Value a, Value b) { return compare(Predicate::OLT, a, b); }
  Value greater(Value a, Value b) { return compare(Predicate::OGT, a, b); }
  Value equal(Value a, Value b) { return compare(Predicate::OEQ, a, b); }
  Value select(Value condition, Value yes, Value no) {
    return mlir::arith::SelectOp::create(builder, loc, condition, yes, no);
  }
  Value bitcast(mlir::Type type, Value a) {
    return mlir::arith::BitcastOp::create(builder, loc, type, a);
  }
  Value toInt(mlir::Type type, Value a) {
    return mlir::arith::FPToSIOp::create(builder, loc, type, a);
  }
  Value toReal(mlir::Type type, Value a) {
    return mlir::arith::SIToFPOp::create(builder, loc, type, a);
  }
  Value widen(Value a) {
    return mlir::arith::ExtFOp::create(builder, loc, wide(), a);
  }
  Value narrow(Value a) {
    return mlir::arith::TruncFOp::create(builder, loc, real(), a);
  }
  /// The polynomial with these coefficients, the highest power first.
  Value polynomial(Value x, llvm::ArrayRef<double> coefficients) {
    Value sum = constant(x.getType(), coefficients.front());
    for (double coefficient : coefficients.drop_front())
      sum = fma(sum, x, constant(x.getType(), coefficient));
    return sum;
  }
  /// 2^n of an integer in -126 .. 127.
  Value power(Value n) {
    return bitcast(real(), shiftLeft(addInt(n, bits(127)), bits(23)));
  }

private:
  template <typename OpTy, typename... Args> Value make(Args... args) {
    return OpTy::create(builder, loc, args...);
  }
  Value splat(mlir::Type type, mlir::TypedAttr attr) {
    if (auto shaped = mlir::dyn_cast<mlir::ShapedType>(type))
      attr = mlir::DenseElementsAttr::get(shaped, mlir::Attribute(attr));
    return mlir::arith::ConstantOp::create(builder, loc, attr);
  }

  mlir::OpBuilder &builder;
  mlir::Location loc;
  mlir::Type shape;
};

} // namespace fp8c::codegen

#endif // FP8C_LIB_CODEGEN_FUNCTIONEMITTER_H
