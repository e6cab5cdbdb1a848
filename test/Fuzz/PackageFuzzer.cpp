//===- PackageFuzzer.cpp - Any bytes as a package -------------------------===//
//
// Part of fp8c, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Exercise.h"

#include "../Unit/Runtime/PlanWriter.h"

using namespace fp8c::test;

extern "C" size_t LLVMFuzzerMutate(uint8_t *data, size_t size, size_t max);

/// An empty input becomes a sound package, so that no corpus is needed.
extern "C" size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size,
                                          size_t max, unsigned seed) {
  static const std::string package = [] {
    PlanWriter w;
    return writeSound(w).finish();
  }();
  if ((size < 64 || seed % 64 == 0) && package.size() <= max) {
    std::memcpy(data, package.data(), package.size());
    size = package.size();
  }
  return LLVMFuzzerMutate(data, size, max);
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  exercise(data, size);
  return 0;
}
