//===- FakeDefaults.cpp - A driver and a library that do nothing ----------===//
//
// Part of fp8c, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// All functions that the runtime asks for, weak: success and nothing else.
// FakeDriver.cpp has those that do something.
//
//===----------------------------------------------------------------------===//

#include "../../../lib/Runtime/CUDA/CublasLt.h"

using namespace fp8c::rt::cuda;

#define FP8C_FAKE(NAME, SYMBOL, RESULT, PARAMETERS)                            \
  extern "C" RESULT fake_##NAME PARAMETERS __asm__(SYMBOL);                    \
  extern "C" __attribute__((weak)) RESULT fake_##NAME PARAMETERS { return {}; }
#define FP8C_FAKE_DRIVER(NAME, SYMBOL, PARAMETERS)                             \
  FP8C_FAKE(driver_##NAME, SYMBOL, Result, PARAMETERS)
FP8C_CUDA_FUNCTIONS(FP8C_FAKE_DRIVER)
FP8C_CUBLASLT_FUNCTIONS(FP8C_FAKE)
