//===- fp8-opt.cpp - Runs passes and pipelines on a file -------------------===//
//
// Part of fp8c, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "fp8c/Pipelines/Registration.h"

#include "mlir/Tools/mlir-opt/MlirOptMain.h"

int main(int argc, char **argv) {
  mlir::DialectRegistry registry;
  fp8c::registerAllDialects(registry);
  fp8c::registerAllPasses();
  return mlir::asMainReturnCode(mlir::MlirOptMain(argc, argv, "fp8c pass driver\n", registry));
}
