//===- PlanFuzzer.cpp - Any bytes as the plan of a sound package ----------===//
//
// Part of fp8c, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Exercise.h"

#include "../Unit/Runtime/PlanWriter.h"

using namespace fp8c::test;

/// The package's weights that plans can refer to.
static PlanWriter &sound() {
  static PlanWriter *writer = new PlanWriter();
  return *writer;
}

extern "C" size_t LLVMFuzzerMutate(uint8_t *data, size_t size, size_t max);

/// An empty input becomes a sound plan, so that no corpus is needed.
extern "C" size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size,
                                          size_t max, unsigned seed) {
  static const std::string plan = writeSound(sound()).finishPlan();
  if ((size < 64 || seed % 64 == 0) && plan.size() <= max) {
    std::memcpy(data, plan.data(), plan.size());
    size = plan.size();
  }
  return LLVMFuzzerMutate(data, size, max);
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  std::string package =
      sound().package(std::string(reinterpret_cast<const char *>(data), size));
  exercise(package.data(), package.size());
  return 0;
}
