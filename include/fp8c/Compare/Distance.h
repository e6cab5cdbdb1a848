//===- Distance.h - How far apart two tensors are ---------------*- C++ -*-===//
//
// Part of fp8c, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef FP8C_COMPARE_DISTANCE_H
#define FP8C_COMPARE_DISTANCE_H

#include "fp8c/Compare/Tensor.h"

#include <limits>

namespace fp8c::compare {

/// Distances of two tensors of one shape, over elements that are numbers on
/// both sides (NaN-ness that differs makes `relative` infinite).
struct Distance {
  /// ||got - expected|| / ||expected||, Frobenius; 0 where both are 0.
  double relative = 0;
  double largest = 0;
  double cosine = 1;
  /// Share of elements with equal bytes; NaN equals NaN.
  double equal = 1;
  int64_t gotNaN = 0;
  int64_t expectedNaN = 0;
  /// True if no expected element differs from 0 (and there are elements).
  bool expectedAllZero = false;
};

/// Measures `got` against `expected`, of as many elements and any two types.
Distance measure(const TensorView &got, const TensorView &expected);

/// How the elements of two tensors of one float type differ as codes.
struct CodeDifference {
  int64_t count = 0;
  /// Equal bytes, or NaN on both sides.
  int64_t equal = 0;
  /// The neighbouring value of the type (0 and -0 are one value).
  int64_t adjacent = 0;
  /// Row-major positions of elements that are farther apart, NaN against a
  /// number too; at most kMaxFar of them are kept.
  std::vector<int64_t> far;
  int64_t farCount = 0;
  /// The largest difference of an element in units in the last place.
  int64_t worst = 0;
};

/// More far elements than this are counted, not listed.
inline constexpr size_t kMaxFar = 1 << 20;

/// The distance of a number and a NaN, and of values that have no order.
inline constexpr int64_t kApart = std::numeric_limits<int64_t>::max();

/// How many units in the last place two elements of one type are apart, each at
/// an offset of its tensor. NaN equals NaN, 0 equals -0.
int64_t countUnits(const TensorView &got, int64_t gotOffset,
                   const TensorView &expected, int64_t offset);

/// Compares codes, or whole bytes for types that are not floats.
CodeDifference compareCodes(const TensorView &got, const TensorView &expected);

/// The largest value of the row (the last dim) that element `position` is in,
/// of those that are finite. Where a sum of a kernel cancels its terms are as
/// large.
double getRowTop(const TensorView &tensor, int64_t position);

/// A unit in the last place of a value of a short float type.
double getUnit(DType dtype, double value);

} // namespace fp8c::compare

#endif // FP8C_COMPARE_DISTANCE_H
