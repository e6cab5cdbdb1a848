//===- Driver.cpp - The part of the CUDA driver that is used --------------===//
//
// Part of fp8c, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Driver.h"

#include "Library.h"

using namespace fp8c::rt;
using namespace fp8c::rt::cuda;

/// CUDA_ERROR_OUT_OF_MEMORY.
static constexpr Result kOutOfMemory = 2;

Driver::Driver() {
  static Library library{"libcuda.so.1"};
  require(bool(library), FP8RT_INCOMPATIBLE,
          "no CUDA driver: libcuda.so.1 cannot be opened: ", library.error());
#define FP8C_FIND(NAME, SYMBOL, PARAMETERS)                                    \
  library.get(NAME, SYMBOL);                                                   \
  require(NAME, FP8RT_INCOMPATIBLE,                                            \
          "the CUDA driver is too old: libcuda.so.1 has no " SYMBOL);
  FP8C_CUDA_FUNCTIONS(FP8C_FIND)
#undef FP8C_FIND
  check(init(0), "cuInit");
}

const Driver &Driver::get() {
  static Driver driver;
  return driver;
}

void Driver::report(Result result, const char *what) const {
  const char *name = nullptr, *text = nullptr;
  getErrorName(result, &name);
  getErrorString(result, &text);
  fail(result == kOutOfMemory ? FP8RT_OUT_OF_MEMORY : FP8RT_INTERNAL, what,
       ": ", name ? name : "unknown error", ": ", text ? text : "");
}
