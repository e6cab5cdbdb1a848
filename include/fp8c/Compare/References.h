//===- References.h - Products and attention in f64 -------------*- C++ -*-===//
//
// Part of fp8c, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef FP8C_COMPARE_REFERENCES_H
#define FP8C_COMPARE_REFERENCES_H

#include "fp8c/Compare/Tensor.h"

#include <optional>

namespace fp8c::compare {

/// The operands of a product, as plan.fbs' Matmul has them.
struct Product {
  TensorView a, b, d;
  std::optional<TensorView> bias, aScale, bScale, resultScale, bDecode;
  /// The extents over which a scale holds in the last two dims of its operand,
  /// 0 for the whole dim.
  int64_t aBlockM = 0, aBlockK = 0, bBlockK = 0, bBlockN = 0;
};

/// The sum of the absolute values of the terms of result element `linear`
/// (row-major position in d), scales and bias included: what rounding errors
/// of its additions are measured against.
double sumOfAbsoluteTerms(const Product &product, int64_t linear);

/// The operands of attention, as plan.fbs' Attention has them.
struct Attention {
  TensorView query, key, value, out;
  std::optional<TensorView> mask;
  double scale;
  bool causal;
};

/// The result in f64, row-major. `rounded`: with the roundings that an
/// attention may have and no other errors, of the exponentials to V's type
/// before the second product and of the result.
std::vector<double> computeAttention(const Attention &attention,
                                     bool rounded = false);

/// ||got - reference|| / ||reference||, Frobenius.
double relativeError(const std::vector<double> &got,
                     const std::vector<double> &reference);
double relativeError(const TensorView &got,
                     const std::vector<double> &reference);

} // namespace fp8c::compare

#endif // FP8C_COMPARE_REFERENCES_H
