//===- Distance.cpp - How far apart two tensors are -----------------------===//
//
// Part of fp8c, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "fp8c/Compare/Distance.h"

#include <algorithm>
#include <cmath>
#include <limits>

using namespace fp8c;
using namespace fp8c::compare;

Distance compare::measure(const TensorView &got, const TensorView &expected) {
  Distance result;
  const int64_t count = expected.numElements();
  const bool sameType = got.dtype == expected.dtype;
  double difference = 0, gotNorm = 0, expectedNorm = 0, product = 0;
  int64_t equal = 0, linear = 0;
  bool nanDiffers = false, anyNonZero = false;
  forEachOffset(expected, [&](int64_t offset) {
    const int64_t gotOffset = got.offset(linear++);
    const double a = loadValue(got.dtype, got.data, gotOffset);
    const double b = loadValue(expected.dtype, expected.data, offset);
    const bool aNaN = std::isnan(a), bNaN = std::isnan(b);
    result.gotNaN += aNaN;
    result.expectedNaN += bNaN;
    anyNonZero |= b != 0;
    nanDiffers |= aNaN != bNaN;
    if (aNaN || bNaN) {
      equal += aNaN && bNaN;
      return;
    }
    equal += sameType ? loadBits(got.dtype, got.data, gotOffset) ==
                            loadBits(expected.dtype, expected.data, offset)
                      : a == b;
    // Infinities that agree are no difference; inf - inf would be NaN.
    if (a == b && std::isinf(a))
      return;
    const double d = a - b;
    difference += d * d;
    gotNorm += a * a;
    expectedNorm += b * b;
    product += a * b;
    result.largest = std::max(result.largest, std::abs(d));
  });
  result.expectedAllZero = count > 0 && !anyNonZero;
  if (count > 0)
    result.equal = double(equal) / double(count);
  const double infinity = std::numeric_limits<double>::infinity();
  if (difference > 0)
    result.relative =
        expectedNorm > 0 ? std::sqrt(difference / expectedNorm) : infinity;
  if (nanDiffers || std::isnan(result.relative))
    result.relative = infinity;
  if (gotNorm > 0 && expectedNorm > 0)
    result.cosine = product / std::sqrt(gotNorm) / std::sqrt(expectedNorm);
  else if (gotNorm > 0 || expectedNorm > 0)
    result.cosine = 0;
  return result;
}

/// The position of a value among the values of its type, from the bits: order
/// of sign and magnitude, so that neighbours differ by 1 and both zeros are 0.
static int64_t getOrdinal(DType dtype, uint64_t bits) {
  if (dtype == DType::E8M0FNU)
    return int64_t(bits);
  const unsigned width = 8 * elementBytes(dtype);
  const uint64_t sign = uint64_t(1) << (width - 1);
  const int64_t magnitude = int64_t(bits & (sign - 1));
  return bits & sign ? -magnitude : magnitude;
}

/// Whether two elements have one code, or are NaN both.
static bool areEqual(const TensorView &got, int64_t gotOffset,
                     const TensorView &expected, int64_t offset) {
  return loadBits(got.dtype, got.data, gotOffset) ==
             loadBits(expected.dtype, expected.data, offset) ||
         (isFloat(got.dtype) &&
          std::isnan(loadValue(got.dtype, got.data, gotOffset)) &&
          std::isnan(loadValue(expected.dtype, expected.data, offset)));
}

int64_t compare::countUnits(const TensorView &got, int64_t gotOffset,
                            const TensorView &expected, int64_t offset) {
  if (areEqual(got, gotOffset, expected, offset))
    return 0;
  if (!isFloat(got.dtype) ||
      std::isnan(loadValue(got.dtype, got.data, gotOffset)) ||
      std::isnan(loadValue(expected.dtype, expected.data, offset)))
    return kApart;
  return std::abs(
      getOrdinal(got.dtype, loadBits(got.dtype, got.data, gotOffset)) -
      getOrdinal(got.dtype, loadBits(expected.dtype, expected.data, offset)));
}

CodeDifference compare::compareCodes(const TensorView &got,
                                     const TensorView &expected) {
  CodeDifference result;
  int64_t linear = 0;
  forEachOffset(expected, [&](int64_t offset) {
    const int64_t position = linear++;
    const int64_t gotOffset = got.offset(position);
    if (areEqual(got, gotOffset, expected, offset)) {
      ++result.equal;
      return;
    }
    const int64_t distance = countUnits(got, gotOffset, expected, offset);
    result.worst = std::max(result.worst, distance);
    if (distance <= 1) {
      ++result.adjacent;
      return;
    }
    ++result.farCount;
    if (result.far.size() < kMaxFar)
      result.far.push_back(position);
  });
  result.count = linear;
  return result;
}

double compare::getUnit(DType dtype, double value) {
  if (value == 0 || !std::isfinite(value))
    return 0;
  const int bits = dtype == DType::BF16     ? 7
                   : dtype == DType::F16    ? 10
                   : dtype == DType::E4M3FN ? 3
                                            : 2;
  return std::ldexp(1.0, std::ilogb(value) - bits);
}

double compare::getRowTop(const TensorView &tensor, int64_t position) {
  const int64_t size = tensor.dims.empty() ? 1 : tensor.dims.back();
  const int64_t first = position - position % size;
  double top = 0;
  for (int64_t i = first; i < first + size; ++i) {
    const double value =
        std::abs(loadValue(tensor.dtype, tensor.data, tensor.offset(i)));
    if (std::isfinite(value))
      top = std::max(top, value);
  }
  return top;
}
