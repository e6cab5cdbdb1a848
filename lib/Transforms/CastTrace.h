//===- CastTrace.h - What a cast rounds -------------------------*- C++ -*-===//
//
// Part of fp8c, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef FP8C_LIB_TRANSFORMS_CASTTRACE_H
#define FP8C_LIB_TRANSFORMS_CASTTRACE_H

#include "ScalarTrace.h"

namespace fp8c {

/// The value that a cast rounds, without what the cast's saturation does.
struct CastInput {
  /// The first scalar that is no clamp and no exact conversion.
  TracedScalar value;
  /// The last whole tensor on the way that has the values to cast.
  TracedScalar tensor;
  /// What `value` is rounded to before the cast; null if it is not.
  mlir::Type rounding;
  /// The sides that are clamped, and whether it is at the largest finite value.
  bool below = false, above = false, atLargest = true;
};

/// Traces back from a cast to a format with largest finite value `largest`.
CastInput traceCast(TracedScalar value, double largest);

} // namespace fp8c

#endif // FP8C_LIB_TRANSFORMS_CASTTRACE_H
