//===- ScaledOpExpander.h - Builds replacements of scaled ops ---*- C++ -*-===//
//
// Part of fp8c, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef FP8C_LIB_DIALECT_FP8_TRANSFORMS_SCALEDOPEXPANDER_H
#define FP8C_LIB_DIALECT_FP8_TRANSFORMS_SCALEDOPEXPANDER_H

#include "fp8c/Dialect/FP8/FP8.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Utils/StructuredOpsUtils.h"
#include "mlir/IR/PatternMatch.h"

namespace fp8c::fp8 {

/// Builds the replacement of one op.
class ScaledOpExpander {
public:
  ScaledOpExpander(mlir::RewriterBase &rewriter, mlir::Operation *op)
      : rewriter(rewriter), loc(op->getLoc()), op(op) {}

  void expand(QuantizeOp quantize);
  void expand(DequantizeOp dequantize);
  void expand(AmaxOp amax);
  void expand(ComputeScaleOp scale);
  void expand(UpdateHistoryOp history);

private:
  //===--------------------------------------------------------------------===//
  // Scalars
  //===--------------------------------------------------------------------===//

  mlir::Value constant(float value) {
    return mlir::arith::ConstantOp::create(rewriter, loc,
                                           rewriter.getF32FloatAttr(value));
  }
  /// A number of a type that f32 holds, as f32.
  mlir::Value constant(mlir::APFloat value) {
    bool losesInfo;
    value.convert(mlir::APFloat::IEEEsingle(),
                  mlir::APFloat::rmNearestTiesToEven, &losesInfo);
    return constant(value.convertToFloat());
  }
  mlir::Value constant(uint32_t value) {
    return mlir::arith::ConstantOp::create(rewriter, loc,
                                           rewriter.getI32IntegerAttr(value));
  }
  mlir::Value bits(mlir::Value f32) {
    return mlir::arith::BitcastOp::create(rewriter, loc, rewriter.getI32Type(),
                                          f32);
  }
  mlir::Value fromBits(mlir::Value i32) {
    return mlir::arith::BitcastOp::create(rewriter, loc, rewriter.getF32Type(),
                                          i32);
  }
  mlir::Value compare(mlir::arith::CmpIPredicate predicate, mlir::Value left,
                      uint32_t right) {
    return mlir::arith::CmpIOp::create(rewriter, loc, predicate, left,
                                       constant(right));
  }
  mlir::Value select(mlir::Value condition, mlir::Value yes, mlir::Value no) {
    return mlir::arith::SelectOp::create(rewriter, loc, condition, yes, no);
  }

  /// The value as f32, exactly.
  mlir::Value widen(mlir::Value value);
  /// A wide value rounded to `type`, f32 or a 16-bit type.
  mlir::Value narrow(mlir::Value f32, mlir::Type type);

  //===--------------------------------------------------------------------===//
  // Tensors
  //===--------------------------------------------------------------------===//

  /// The sizes of a tensor, its dynamic ones from the tensor.empty that it was
  /// written into where there is one.
  mlir::SmallVector<mlir::OpFoldResult> getSizes(mlir::Value tensor);
  /// A tensor.empty.
  mlir::Value empty(mlir::ArrayRef<mlir::OpFoldResult> sizes,
                    mlir::Type element) {
    return mlir::tensor::EmptyOp::create(rewriter, loc, sizes, element);
  }
  mlir::AffineMap identity(int64_t rank) {
    return rewriter.getMultiDimIdentityMap(rank);
  }
  mlir::AffineMap map(unsigned dims, mlir::ArrayRef<mlir::AffineExpr> results) {
    return mlir::AffineMap::get(dims, 0, results, rewriter.getContext());
  }
  /// Where the scale of an element of data is.
  mlir::AffineMap scaleMap(mlir::Value scale, ScalingAttr scaling);
  /// A linalg.generic that keeps the name of the node of result `result` of the
  /// op (-1: of none, -2: of all).
  mlir::linalg::GenericOp
  generic(mlir::ValueRange inputs, mlir::ValueRange inits,
          mlir::ArrayRef<mlir::AffineMap> maps,
          mlir::ArrayRef<mlir::utils::IteratorType> iterators, int64_t result,
          mlir::function_ref<mlir::SmallVector<mlir::Value>(mlir::ValueRange)>
              body);

  /// The amax in f32 where each block is a dim of its own (or one element).
  mlir::Value amaxOfDims(AmaxOp amax, mlir::ArrayRef<bool> reduced,
                         mlir::Value init, int64_t result);
  /// The amax in f32 where blocks cut dims.
  mlir::Value amaxOfBlocks(AmaxOp amax, mlir::ArrayRef<bool> reduced,
                           mlir::Value init, int64_t result);

  mlir::RewriterBase &rewriter;
  mlir::Location loc;
  mlir::Operation *op;
};

} // namespace fp8c::fp8

#endif // FP8C_LIB_DIALECT_FP8_TRANSFORMS_SCALEDOPEXPANDER_H
