//===- Stall.cpp - Waiting on a GPU ---------------------------------------===//
//
// Part of fp8c, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Intrinsics.h"

using namespace fp8c::rt::cuda;

FP8C_KERNEL void fp8rt_stall(uint64_t nanoseconds) {
  uint64_t start = globalTime();
  while (globalTime() - start < nanoseconds) {
  }
}
