//===- fp8-lsp-server.cpp - MLIR's language server with our dialects ------===//
//
// Part of fp8c, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "../common/Tool.h"

#include "fp8c/Pipelines/Registration.h"

#include "mlir/IR/DialectRegistry.h"
#include "mlir/Tools/mlir-lsp-server/MlirLspServerMain.h"

int main(int argc, char **argv) {
  fp8c::tools::initialise();
  mlir::DialectRegistry registry;
  fp8c::registerAllDialects(registry);
  return failed(mlir::MlirLspServerMain(argc, argv, registry));
}
