//===- TensorCores.cpp - What tensor cores lose while they add ------------===//
//
// Part of fp8c, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ProductElement.h"

#include "fp8c/Compare/TensorCores.h"

#include <algorithm>
#include <cmath>
#include <limits>

using namespace fp8c;
using namespace fp8c::compare;

/// Terms that are added again to judge values that are far apart, in all.
static constexpr int64_t kMostTerms = int64_t(1) << 30;
/// Values whose distance is judged, and how many times the expected one it may
/// be.
static constexpr int64_t kSample = 1024;
static constexpr double kDistanceRatio = 1.25, kDistanceFloor = 1e-6;

TensorCoreSum compare::sumLikeTensorCores(const Product &product,
                                          int64_t linear, bool fast) {
  // A step of additions, and after how many terms sums become f32: of so many
  // kernels choose the order, and how often what is cut off deviates as far.
  constexpr int64_t kStep = 32, kPromoted = 128;
  constexpr double kDeviations = 6;
  const bool isHalf = elementBytes(product.a.dtype) == 2;
  const int fractionBits = isHalf ? 23 : 13;
  ProductElement element(product, linear);
  int64_t promoted =
      fast || isHalf ? std::numeric_limits<int64_t>::max() : kPromoted;
  // A scale that changes is multiplied with what it holds for.
  for (int64_t block : {product.aBlockK, product.bBlockK})
    if (block > 0)
      promoted = std::min({promoted, block, kPromoted});
  const int64_t depth = element.getDepth();
  auto getQuantum = [&](double value) {
    return std::ldexp(1,
                      (value == 0 ? -900 : std::ilogb(value)) - fractionBits);
  };
  auto cut = [](double value, double quantum) {
    return std::trunc(value / quantum) * quantum;
  };
  double exact = 0, total = 0, partial = 0, quanta = 0, slack = 0;
  double lost = 0, squares = 0, terms[kPromoted], largestNear = 0;
  for (int64_t k = 0; k < depth; k += kStep) {
    const int64_t end = std::min(k + kStep, depth);
    double *here = terms + k % kPromoted;
    if (here == terms) {
      largestNear = 0;
      for (int64_t i = k; i < std::min(k + kPromoted, depth); ++i)
        largestNear =
            std::max(largestNear, std::abs(terms[i - k] = element.getTerm(i)));
    }
    double largest = std::abs(partial);
    for (int64_t i = k; i < end; ++i)
      largest = std::max(largest, std::abs(here[i - k]));
    const double quantum = getQuantum(largest);
    // Beside the largest term of its 128 each may lose more.
    const double wide = std::max(quantum, getQuantum(largestNear));
    double sum = cut(partial, quantum), sumHere = 0;
    for (int64_t i = k; i < end; ++i) {
      const double term = here[i - k], part = term - cut(term, wide);
      sum += cut(term, quantum);
      sumHere += term;
      lost += part;
      squares += part * part;
    }
    partial = cut(sum, std::max(quantum, getQuantum(sum)));
    quanta += std::max(wide, getQuantum(sum));
    const double scale = element.getScale(k);
    exact += sumHere * scale;
    if (end == depth || end % promoted == 0) {
      total += partial * scale;
      slack +=
          (2 * quanta + std::abs(lost) + kDeviations * std::sqrt(squares)) *
          std::abs(scale);
      partial = quanta = lost = squares = 0;
    }
  }
  const double scale = element.getResultScale();
  return {(exact + element.getBias()) * scale,
          (total + element.getBias()) * scale, slack * std::abs(scale)};
}

/// The number of elements among those that are far apart which are farther than
/// tensor cores explain. Of very many it looks at some, evenly spread.
static int64_t countUnexplained(const Product &product, const TensorView &got,
                                const TensorView &expected,
                                const TensorView *exact, bool fast,
                                const CodeDifference &codes) {
  const int64_t depth = std::max<int64_t>(product.a.dims.back(), 1);
  const int64_t count = codes.far.size();
  const int64_t most = std::max<int64_t>(kMostTerms / depth, 1);
  const int64_t step = std::max<int64_t>((count + most - 1) / most, 1);
  int64_t unexplained = codes.farCount - count;
  for (int64_t i = 0; i < count; i += step) {
    const int64_t position = codes.far[i];
    const int64_t offset = got.offset(position);
    if (exact && countUnits(got, offset, *exact, exact->offset(position)) <= 1)
      continue;
    const double a = loadValue(got.dtype, got.data, offset);
    const double b =
        loadValue(expected.dtype, expected.data, expected.offset(position));
    // Errors of the sums come before the rounding, which may add a unit.
    const double unit =
        elementBytes(got.dtype) >= 4
            ? 0
            : getUnit(got.dtype, std::max(std::abs(a), std::abs(b)));
    if (!(std::abs(a - b) <=
          sumLikeTensorCores(product, position, fast).slack + unit))
      ++unexplained;
  }
  return unexplained;
}

std::string compare::checkTensorCores(const Product &product,
                                      const TensorView &got,
                                      const TensorView &expected,
                                      const TensorView *exact, bool fast,
                                      const CodeDifference &codes) {
  const int64_t unexplained =
      countUnexplained(product, got, expected, exact, fast, codes);
  if (unexplained)
    return std::to_string(unexplained) +
           " values are farther apart than tensor cores' sums explain";
  // The distance of values of 8 bits is that of their rounding.
  const int64_t count = got.numElements();
  if (elementBytes(got.dtype) == 1 || count == 0)
    return "";
  double ours = 0, theirs = 0, norm = 0;
  // An odd step walks through rows and columns.
  const int64_t step = std::max<int64_t>(count / kSample, 1) | 1;
  for (int64_t i = 0; i < count; i += step) {
    const TensorCoreSum sum = sumLikeTensorCores(product, i, fast);
    const double value = loadValue(got.dtype, got.data, got.offset(i));
    if (!std::isfinite(value) || !std::isfinite(sum.exact))
      continue;
    const double expects = roundBits(got.dtype, sum.expected);
    ours += (value - sum.exact) * (value - sum.exact);
    theirs += (expects - sum.exact) * (expects - sum.exact);
    norm += sum.exact * sum.exact;
  }
  if (std::sqrt(ours) <=
      kDistanceRatio * std::sqrt(theirs) + kDistanceFloor * std::sqrt(norm))
    return "";
  return "error against f64 is " + std::to_string(std::sqrt(ours / theirs)) +
         " times that of tensor cores' sums";
}
