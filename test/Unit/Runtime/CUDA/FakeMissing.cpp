//===- FakeMissing.cpp - What no test calls -------------------------------===//
//
// Part of fp8c, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "FakeState.h"

using namespace fp8c::test::fake;

/// What the other files do not define.
#define FP8C_DEFINE_MISSING(NAME, SYMBOL, PARAMETERS)                          \
  extern "C" __attribute__((weak)) Result fake_##NAME PARAMETERS {             \
    return kNotSupported;                                                      \
  }
namespace fp8c::rt::cuda {
FP8C_CUDA_FUNCTIONS(FP8C_DEFINE_MISSING)
} // namespace fp8c::rt::cuda
