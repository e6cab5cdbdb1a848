//===- Hints.h - Sizes that a model was exported with -----------*- C++ -*-===//
//
// Part of fp8c, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef FP8C_DIALECT_FP8_HINTS_H
#define FP8C_DIALECT_FP8_HINTS_H

#include "llvm/ADT/StringRef.h"

namespace fp8c::fp8 {

/// The discardable attribute of an fp8.symbol with the size that the model was
/// exported with. An example for reports; no pass decides by it.
inline constexpr llvm::StringLiteral kHintAttr = "fp8.hint";

} // namespace fp8c::fp8

#endif // FP8C_DIALECT_FP8_HINTS_H
