//===- fp8-opt.cpp - Runs passes and pipelines on a file ------------------===//
//
// Part of fp8c, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "../common/Tool.h"

#include "fp8c/Pipelines/Registration.h"
#include "fp8c/Pipelines/SourceFile.h"

#include "mlir/Support/FileUtilities.h"
#include "mlir/Tools/mlir-opt/MlirOptMain.h"
#include "llvm/Support/CommandLine.h"
#include "llvm/Support/InitLLVM.h"
#include "llvm/Support/ToolOutputFile.h"

using namespace fp8c;

int main(int argc, char **argv) {
  llvm::InitLLVM init(argc, argv);
  tools::initialise();
  mlir::DialectRegistry registry;
  registerAllDialects(registry);
  registerAllPasses();
  std::string overview =
      mlir::registerCLIOptions("fp8c pass driver\n", registry);
  llvm::cl::opt<std::string> input(llvm::cl::Positional,
                                   llvm::cl::desc("FILE (- for stdin)"),
                                   llvm::cl::init("-"));
  llvm::cl::opt<std::string> output(
      "o", llvm::cl::desc("the file to write, - for stdout"),
      llvm::cl::value_desc("file"), llvm::cl::init("-"));
  llvm::cl::extrahelp examples(
      "\nEXAMPLES:\n"
      "  fp8-opt model.mlir --fp8-canonicalize --fp8-graph-to-kernels\n"
      "  fp8-opt model.mlir --fp8-kernels-to-plan=target=sm_90a -o plan.mlir\n"
      "\nEXIT STATUS: 0 done, 1 an error, 2 wrong usage\n");
  if (!tools::parseCommandLine(argc, argv, overview))
    return tools::kWrongUsage;
  auto config = mlir::MlirOptMainConfig::createFromCLOptions();
  if (config.shouldShowDialects() || config.shouldListPasses())
    return mlir::asMainReturnCode(
        mlir::MlirOptMain(argc, argv, input, output, registry));
  auto source = openSource(input, /*isText=*/true);
  if (!source)
    return tools::fail("'" + input + "' " + toString(source.takeError()));
  if (llvm::Error error = checkNesting(**source))
    return tools::fail("'" + input + "' " + toString(std::move(error)));
  std::string message;
  auto file = mlir::openOutputFile(output, &message);
  if (!file)
    return tools::fail(message);
  if (failed(
          mlir::MlirOptMain(file->os(), std::move(*source), registry, config)))
    return 1;
  file->keep();
  return 0;
}
