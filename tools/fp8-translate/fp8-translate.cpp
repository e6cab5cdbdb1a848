//===- fp8-translate.cpp - Between files and MLIR -------------------------===//
//
// Part of fp8c, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "fp8c/Codegen/NVVM.h"
#include "fp8c/Import/Importer.h"
#include "fp8c/Pipelines/Registration.h"

#include "mlir/IR/Diagnostics.h"
#include "mlir/Tools/mlir-translate/MlirTranslateMain.h"
#include "mlir/Tools/mlir-translate/Translation.h"
#include "llvm/Support/CommandLine.h"
#include "llvm/Support/SourceMgr.h"

using namespace mlir;

/// The importer maps the file itself, so the buffer only names it.
static OwningOpRef<Operation *> importBuffer(llvm::SourceMgr &sources,
                                             MLIRContext *context) {
  StringRef path =
      sources.getMemoryBuffer(sources.getMainFileID())->getBufferIdentifier();
  auto model = fp8c::import::importPt2(path, context);
  if (failed(model))
    return {};
  return OwningOpRef<Operation *>(model->module.release());
}

int main(int argc, char **argv) {
  TranslateToMLIRRegistration importPt2(
      "import-pt2", "an archive of torch.export.save to graph level",
      [](const std::shared_ptr<llvm::SourceMgr> &sources,
         MLIRContext *context) -> OwningOpRef<Operation *> {
        return importBuffer(*sources, context);
      });
  TranslateFromMLIRRegistration printOperators(
      "print-supported-operators", "the operators that import reads",
      [](Operation *, raw_ostream &os) {
        fp8c::import::OpTable::get().print(os);
        return success();
      },
      [](DialectRegistry &registry) { fp8c::registerAllDialects(registry); });
  llvm::cl::opt<std::string> target(
      "target", llvm::cl::desc("the GPU of --plan-to-ptx"),
      llvm::cl::value_desc("sm_90a"), llvm::cl::init("sm_90a"));
  TranslateFromMLIRRegistration emitPTX(
      "plan-to-ptx", "the kernels of a plan for a GPU",
      [&](ModuleOp plan, raw_ostream &os) -> LogicalResult {
        const fp8c::Target *gpu = fp8c::findTarget(target);
        if (!gpu || gpu->isCPU())
          return plan.emitError() << "'" << target << "' is not a GPU";
        auto ptx = fp8c::codegen::compileGpuKernels(plan, *gpu);
        if (!ptx)
          return plan.emitError() << toString(ptx.takeError());
        os << *ptx;
        return success();
      },
      [](DialectRegistry &registry) { fp8c::registerAllDialects(registry); });
  return failed(mlirTranslateMain(argc, argv, "fp8c translation\n"));
}
