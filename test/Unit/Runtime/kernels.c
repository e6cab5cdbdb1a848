/*===- kernels.c - Kernels as the compiler would make them --------*- C -*-===*\
|*                                                                            *|
|* Part of fp8c, under the Apache License v2.0 with LLVM Exceptions.          *|
|* See LICENSE for license information.                                       *|
|* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception                    *|
|*                                                                            *|
\*===----------------------------------------------------------------------===*/

#include <stdint.h>

/* out[i] = 2 * in[i], through the scratch memory; sizes: strides. */
void twice(void *const *operands, const int64_t *sizes, int64_t begin,
           int64_t end, void *scratch) {
  const float *in = operands[0];
  float *out = operands[1];
  float *place = scratch;
  for (int64_t i = begin; i < end; ++i) {
    *place = in[i * sizes[1]];
    out[i * sizes[2]] = *place * 2;
  }
}
