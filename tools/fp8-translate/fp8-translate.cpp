//===- fp8-translate.cpp - Between files and MLIR -------------------------===//
//
// Part of fp8c, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "../common/Tool.h"

#include "fp8c/Codegen/NVVM.h"
#include "fp8c/Import/Importer.h"
#include "fp8c/Pipelines/Registration.h"
#include "fp8c/Pipelines/SourceFile.h"
#include "fp8c/Runtime/fp8rt.h"

#include "mlir/IR/Diagnostics.h"
#include "mlir/Support/FileUtilities.h"
#include "mlir/Support/ToolUtilities.h"
#include "mlir/Tools/mlir-translate/Translation.h"
#include "llvm/Support/CommandLine.h"
#include "llvm/Support/InitLLVM.h"
#include "llvm/Support/SourceMgr.h"
#include "llvm/Support/ToolOutputFile.h"

using namespace mlir;
using namespace fp8c;

static OwningOpRef<Operation *> importBuffer(llvm::SourceMgr &sources,
                                             MLIRContext *context) {
  llvm::MemoryBufferRef buffer =
      sources.getMemoryBuffer(sources.getMainFileID())->getMemBufferRef();
  auto loc = FileLineColLoc::get(context, buffer.getBufferIdentifier(), 0, 0);
  auto archive = import::Archive::read(llvm::MemoryBuffer::getMemBuffer(
      buffer, /*RequiresNullTerminator=*/false));
  if (!archive) {
    emitError(loc) << toString(archive.takeError());
    return {};
  }
  auto model = import::importArchive(std::move(*archive), loc);
  if (failed(model))
    return {};
  return OwningOpRef<Operation *>(model->module.release());
}

/// The plan of the package in `sources` as text.
static LogicalResult dumpPlan(llvm::SourceMgr &sources, StringRef target,
                              raw_ostream &os, MLIRContext *context) {
  llvm::MemoryBufferRef buffer =
      sources.getMemoryBuffer(sources.getMainFileID())->getMemBufferRef();
  fp8rt_program_t *program = nullptr;
  const char *text = nullptr;
  fp8rt_status_t status = fp8rt_program_load_memory(
      buffer.getBufferStart(), buffer.getBufferSize(), nullptr, &program);
  if (status == FP8RT_OK)
    status = fp8rt_program_plan_text(
        program, target.empty() ? nullptr : target.str().c_str(), &text);
  if (status == FP8RT_OK)
    os << text;
  else
    emitError(FileLineColLoc::get(context, buffer.getBufferIdentifier(), 0, 0))
        << fp8rt_error_message();
  fp8rt_program_destroy(program);
  return success(status == FP8RT_OK);
}

/// Archives and packages are mapped, text is read.
static llvm::Expected<std::unique_ptr<llvm::MemoryBuffer>>
openInput(StringRef path) {
  if (path != "-") {
    auto mapped = openSource(path, /*isText=*/false);
    if (!mapped || isZip((*mapped)->getBuffer()))
      return mapped;
  }
  auto text = openSource(path, /*isText=*/true);
  if (text && !isZip((*text)->getBuffer()))
    if (llvm::Error error = checkNesting(**text))
      return std::move(error);
  return text;
}

int main(int argc, char **argv) {
  llvm::InitLLVM init(argc, argv);
  tools::initialise();
  TranslateToMLIRRegistration importPt2(
      "import-pt2", "an archive of torch.export.save to graph level",
      [](const std::shared_ptr<llvm::SourceMgr> &sources,
         MLIRContext *context) -> OwningOpRef<Operation *> {
        return importBuffer(*sources, context);
      });
  TranslateFromMLIRRegistration printOperators(
      "print-supported-operators", "the operators that import reads",
      [](Operation *, raw_ostream &os) {
        import::OpTable::get().print(os);
        return success();
      },
      [](DialectRegistry &registry) { registerAllDialects(registry); });
  llvm::cl::opt<std::string> target(
      "target",
      llvm::cl::desc("the GPU of --plan-to-ptx (default: sm_90a); the plan of "
                     "--dump-plan (default: the package's first)"),
      llvm::cl::value_desc("sm_90a"));
  TranslateFromMLIRRegistration emitPTX(
      "plan-to-ptx", "the kernels of a plan for a GPU",
      [&](ModuleOp plan, raw_ostream &os) -> LogicalResult {
        StringRef name = target.empty() ? StringRef("sm_90a") : StringRef(target);
        const Target *gpu = findTarget(name);
        if (!gpu || gpu->isCPU())
          return plan.emitError() << "'" << name << "' is not a GPU";
        auto ptx = codegen::compileGpuKernels(plan, *gpu);
        if (!ptx)
          return plan.emitError() << toString(ptx.takeError());
        os << *ptx;
        return success();
      },
      [](DialectRegistry &registry) { registerAllDialects(registry); });
  TranslateRegistration dump(
      "dump-plan", "what the plan of a package says, as text",
      [&](const std::shared_ptr<llvm::SourceMgr> &sources, raw_ostream &os,
          MLIRContext *context) {
        return dumpPlan(*sources, target, os, context);
      });

  llvm::cl::opt<const Translation *, false, TranslationParser> translation(
      "", llvm::cl::desc("what to do:"));
  llvm::cl::opt<std::string> input(llvm::cl::Positional,
                                   llvm::cl::desc("FILE (- for stdin)"),
                                   llvm::cl::init("-"));
  llvm::cl::opt<std::string> output(
      "o", llvm::cl::desc("the file to write, - for stdout"),
      llvm::cl::value_desc("file"), llvm::cl::init("-"));
  llvm::cl::opt<bool> split(
      "split-input-file",
      llvm::cl::desc("translate the parts between lines of '// -----' alone"));
  llvm::cl::opt<bool> verify(
      "verify-diagnostics",
      llvm::cl::desc("compare diagnostics with the file's 'expected-error's"));
  registerTranslationCLOptions();
  llvm::cl::extrahelp examples(
      "\nEXAMPLES:\n"
      "  fp8-translate --import-pt2 model.pt2\n"
      "  fp8-translate --plan-to-ptx --target=sm_90a plan.mlir\n"
      "  fp8-translate --dump-plan model.fp8\n"
      "\nEXIT STATUS: 0 done, 1 an error, 2 wrong usage\n");
  if (!tools::parseCommandLine(argc, argv, "fp8c translation\n"))
    return tools::kWrongUsage;
  if (!translation.getNumOccurrences())
    return tools::fail("nothing to do: name a translation (see --help)",
                       tools::kWrongUsage);

  auto source = openInput(input);
  if (!source)
    return tools::fail("'" + input + "' " + toString(source.takeError()));
  std::string message;
  auto file = openOutputFile(output, &message);
  if (!file)
    return tools::fail(message);
  auto translate = [&](std::unique_ptr<llvm::MemoryBuffer> part,
                       raw_ostream &os) -> LogicalResult {
    MLIRContext context;
    context.printOpOnDiagnostic(!verify);
    auto sources = std::make_shared<llvm::SourceMgr>();
    sources->AddNewSourceBuffer(std::move(part), SMLoc());
    if (!verify) {
      SourceMgrDiagnosticHandler handler(*sources, &context);
      return (*translation)(sources, os, &context);
    }
    SourceMgrDiagnosticVerifierHandler handler(*sources, &context);
    (void)(*translation)(sources, os, &context);
    return handler.verify();
  };
  if (failed(splitAndProcessBuffer(std::move(*source), translate, file->os(),
                                   split ? kDefaultSplitMarker : "")))
    return 1;
  file->keep();
  return 0;
}
