//===- Shapes.h - What verifiers ask of shapes ------------------*- C++ -*-===//
//
// Part of fp8c, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef FP8C_LIB_DIALECT_FP8_SHAPES_H
#define FP8C_LIB_DIALECT_FP8_SHAPES_H

#include "fp8c/Dialect/FP8/FP8.h"

namespace fp8c::fp8 {

/// True where two extents may be equal: they are, or one is dynamic.
inline bool mayBeEqual(int64_t left, int64_t right) {
  return mlir::ShapedType::isDynamic(left) ||
         mlir::ShapedType::isDynamic(right) || left == right;
}

/// True where two shapes have one rank and may be equal.
inline bool mayBeEqual(llvm::ArrayRef<int64_t> left,
                       llvm::ArrayRef<int64_t> right) {
  return left.size() == right.size() &&
         llvm::all_of(llvm::zip(left, right), [](auto pair) {
           return mayBeEqual(std::get<0>(pair), std::get<1>(pair));
         });
}

/// True for a static shape of one element, of any rank.
inline bool hasOneElement(mlir::RankedTensorType type) {
  return llvm::all_of(type.getShape(), [](int64_t size) { return size == 1; });
}

/// A shape as `4x?x8`, for messages.
std::string printShape(llvm::ArrayRef<int64_t> shape);

/// True where `scale` may be the shape of the scales of `data`: the same rank,
/// and each dim 1 or ceil(dim / block). Needs the ranks of data and scaling to
/// be equal.
bool isScaleShape(llvm::ArrayRef<int64_t> scale, llvm::ArrayRef<int64_t> data,
                  ScalingAttr scaling);

/// The shape of the scales of `data`.
llvm::SmallVector<int64_t> getScaleShape(llvm::ArrayRef<int64_t> data,
                                         ScalingAttr scaling);

} // namespace fp8c::fp8

#endif // FP8C_LIB_DIALECT_FP8_SHAPES_H
