//===- ExpandFunctions.cpp - Math functions as arithmetic -----------------===//
//
// Part of fp8c, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "fp8c/Codegen/Functions.h"
#include "fp8c/Codegen/Passes.h"

using namespace mlir;
using namespace fp8c;

namespace fp8c::codegen {
#define GEN_PASS_DEF_EXPANDFUNCTIONSPASS
#include "fp8c/Codegen/Passes.h.inc"
} // namespace fp8c::codegen

namespace {

struct ExpandFunctionsPass
    : codegen::impl::ExpandFunctionsPassBase<ExpandFunctionsPass> {
  void runOnOperation() override {
    if (failed(codegen::expandFunctions(getOperation())))
      signalPassFailure();
  }
};

} // namespace
