//===- FakeCublasLtMissing.cpp - What succeeds without doing anything -----===//
//
// Part of fp8c, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "../../../../lib/Runtime/CUDA/CublasLt.h"

/// What FakeCublasLt.cpp does not define.
#define FP8C_DEFINE_MISSING(NAME, SYMBOL, RESULT, PARAMETERS)                  \
  extern "C" RESULT fake_##NAME PARAMETERS asm(SYMBOL);                        \
  extern "C" __attribute__((weak)) RESULT fake_##NAME PARAMETERS { return {}; }
namespace fp8c::rt::cuda {
FP8C_CUBLASLT_FUNCTIONS(FP8C_DEFINE_MISSING)
} // namespace fp8c::rt::cuda
