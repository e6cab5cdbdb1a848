//===- TensorCores.h - What tensor cores lose while they add ----*- C++ -*-===//
//
// Part of fp8c, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef FP8C_COMPARE_TENSORCORES_H
#define FP8C_COMPARE_TENSORCORES_H

#include "fp8c/Compare/Distance.h"
#include "fp8c/Compare/References.h"

namespace fp8c::compare {

/// What a GPU's tensor cores make of an element of a product. They add 32 terms
/// and the sum so far at a time, each cut off to 13 fraction bits (operands of
/// 16 bits: 23) of the largest of them, and the sum again to as many of its
/// own.
struct TensorCoreSum {
  /// Without errors, and with these.
  double exact, expected;
  /// What they may lose: of the sum one such bit for each of the two times that
  /// it is cut off, of the terms what is cut off beside the largest of their
  /// 128, and six deviations of that, as kernels choose the order of those.
  double slack;
};

/// `fast` says that sums of f8 operands stay there to the end; otherwise they
/// become f32 every 128 terms. Before the result's rounding.
TensorCoreSum sumLikeTensorCores(const Product &product, int64_t linear,
                                 bool fast);

/// Why a result of such a product is not what tensor cores may give, or
/// nothing: a value that is more than a unit apart from `expected` is so by no
/// more than they may lose, and some values together are as near to the exact
/// ones as theirs. `exact` has the values without PyTorch's own errors, or is
/// null.
std::string checkTensorCores(const Product &product, const TensorView &got,
                             const TensorView &expected,
                             const TensorView *exact, bool fast,
                             const CodeDifference &codes);

} // namespace fp8c::compare

#endif // FP8C_COMPARE_TENSORCORES_H
