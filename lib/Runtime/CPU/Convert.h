//===- Convert.h - Elements to and from f32 ---------------------*- C++ -*-===//
//
// Part of fp8c, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef FP8C_LIB_RUNTIME_CPU_CONVERT_H
#define FP8C_LIB_RUNTIME_CPU_CONVERT_H

#include "../DType.h"

namespace fp8c::rt {

/// `n` elements of a float type, `stride` elements apart, as f32: exact.
void decode(DType dtype, const void *from, int64_t stride, int64_t n,
            float *to);

/// One element.
float decodeOne(DType dtype, const void *from, int64_t index);

/// `n` f32 to a float type, one rounding to nearest, ties to even. For f8
/// values past the largest: that one when `saturate`, else NaN (E4M3FN) or Inf
/// (E5M2).
void encode(DType dtype, const float *from, int64_t n, void *to, int64_t stride,
            bool saturate);

/// Rounds `n` f32 in place to the values of BF16 or F16; nothing for F32.
void roundTo(DType dtype, float *data, int64_t n);

/// Multiplies `n` f32 by one factor.
void multiplyBy(float *data, int64_t n, float factor);

} // namespace fp8c::rt

#endif // FP8C_LIB_RUNTIME_CPU_CONVERT_H
