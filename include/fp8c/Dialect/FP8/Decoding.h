//===- Decoding.h - Weights that products decode ----------------*- C++ -*-===//
//
// Part of fp8c, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef FP8C_DIALECT_FP8_DECODING_H
#define FP8C_DIALECT_FP8_DECODING_H

#include "fp8c/Dialect/FP8/FP8.h"

namespace fp8c::fp8 {

/// True if nothing but the right sides of `fp8.matmul` read the result, through
/// views: they decode it, so that it stays one byte an element in memory.
bool isDecodedByProduct(DequantizeOp op);

} // namespace fp8c::fp8

#endif // FP8C_DIALECT_FP8_DECODING_H
