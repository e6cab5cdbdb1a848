//===- fp8-compile.cpp - Compiles a model into a package ------------------===//
//
// Part of fp8c, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "../common/Tool.h"

#include "fp8c/Pipelines/CompileFlags.h"
#include "fp8c/Pipelines/Registration.h"
#include "fp8c/Pipelines/SourceFile.h"

#include "mlir/IR/Diagnostics.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/InitLLVM.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/SourceMgr.h"
#include "llvm/Support/ToolOutputFile.h"

using namespace llvm;
using namespace fp8c::tools;

namespace {
enum class Emit { Import, Graph, Kernels, Plan, Code, PTX, Package };

struct EmitLevel {
  Emit emit;
  fp8c::Level level;
  const char *name;
};
constexpr EmitLevel kTextLevels[] = {
    {Emit::Import, fp8c::Level::Import, "import"},
    {Emit::Graph, fp8c::Level::Graph, "graph"},
    {Emit::Kernels, fp8c::Level::Kernels, "kernels"},
    {Emit::Plan, fp8c::Level::Plan, "plan"},
    {Emit::Code, fp8c::Level::Code, "code"},
};
} // namespace

static std::string print(mlir::ModuleOp module, bool locations) {
  std::string text;
  raw_string_ostream os(text);
  mlir::OpPrintingFlags flags;
  flags.enableDebugInfo(locations, /*prettyForm=*/false);
  flags.elideLargeElementsAttrs(64);
  module.print(os, flags);
  os << "\n";
  return text;
}

int main(int argc, char **argv) {
  InitLLVM init(argc, argv);
  initialise();
  cl::OptionCategory category("output");
  cl::opt<std::string> inputFlag(cl::Positional, cl::desc("MODEL.{pt2,mlir}"),
                                 cl::Required, cl::cat(category));
  cl::opt<std::string> outputFlag("o",
                                  cl::desc("the file to write, - for stdout"),
                                  cl::value_desc("file"), cl::cat(category));
  cl::opt<Emit> emitFlag(
      "emit", cl::desc("what to write:"), cl::init(Emit::Package),
      cl::values(clEnumValN(Emit::Import, "import", "as imported"),
                 clEnumValN(Emit::Graph, "graph", "canonical graph"),
                 clEnumValN(Emit::Kernels, "kernels", "one op a launch"),
                 clEnumValN(Emit::Plan, "plan", "commands over buffers"),
                 clEnumValN(Emit::Code, "code", "the CPU's kernels"),
                 clEnumValN(Emit::PTX, "ptx",
                            "the kernels of the first GPU in --target"),
                 clEnumValN(Emit::Package, "package", "a .fp8 package")),
      cl::cat(category));
  cl::opt<std::string> dumpDirFlag("dump-dir",
                                   cl::desc("write every level there"),
                                   cl::value_desc("folder"), cl::cat(category));
  cl::opt<bool> locations("locations", cl::desc("print locations"),
                          cl::cat(category));
  cl::list<std::string> dims(
      "dim",
      cl::desc("narrow a dynamic dim: INPUT.AXIS=MIN..MAX[:multiple], or a "
               "symbol; repeatable"),
      cl::value_desc("range"), cl::cat(category));
  cl::opt<std::string> reportFlag(
      "report", cl::ValueOptional,
      cl::desc("what was fused, what was not and why, bytes moved, memory"),
      cl::value_desc("text|json|html[:FILE]"), cl::cat(category));
  fp8c::CompileFlags flags;
  cl::HideUnrelatedOptions({&category, &flags.getCategory()});
  cl::extrahelp examples("\nEXAMPLES:\n"
                         "  fp8-compile model.pt2 -o model.fp8\n"
                         "  fp8-compile model.pt2 --emit=kernels -o -\n"
                         "  fp8-compile model.pt2 --report=html:report.html\n"
                         "  fp8-compile model.pt2 --dim x.1=1..4096 -o m.fp8\n"
                         "\nEXIT STATUS: 0 done, 1 an error, 2 wrong usage\n");
  if (!parseCommandLine(argc, argv, "Compiles an exported model\n"))
    return kWrongUsage;
  // The linker that runs in process resets all flags when it is done.
  const std::string input = inputFlag, output = outputFlag;
  const std::string dumpDir = dumpDirFlag;
  const Emit emit = emitFlag;
  const bool wantsReport = reportFlag.getNumOccurrences() > 0;
  auto usage = [](const Twine &message) -> int {
    return fail(message + " (see --help)", kWrongUsage);
  };
  auto report = fp8c::ReportRequest::parse(reportFlag);
  if (!report)
    return usage(toString(report.takeError()));
  if (wantsReport && emit == Emit::PTX)
    return usage("--report is of a plan: it does not go with --emit=ptx");
  if (output.empty() && emitFlag.getNumOccurrences())
    return usage("--emit needs a file to write, or - for stdout: -o");
  if (output.empty() && dumpDir.empty() && !wantsReport)
    return usage("no output: name a file with -o, a folder with --dump-dir, or "
                 "ask for a --report");

  auto options = flags.get();
  if (!options)
    return usage(toString(options.takeError()));
  if (!flags.hasTargets()) {
    if (auto gpu = fp8c::findDeviceTarget("cuda"))
      options->targets.push_back(*gpu);
    else
      consumeError(gpu.takeError()); // no GPU here
  }
  for (const std::string &text : dims) {
    auto range = fp8c::CompileFlags::parseDim(text);
    if (!range)
      return usage(toString(range.takeError()));
    options->dims.push_back(*range);
  }

  mlir::DialectRegistry registry;
  fp8c::registerAllDialects(registry);
  mlir::MLIRContext context(registry);
  SourceMgr sources;
  mlir::SourceMgrDiagnosticHandler handler(sources, &context, errs());
  auto compile = [&](fp8c::Level level, fp8c::Compiler &compiler) {
    return mlir::succeeded(compiler.lowerTo(level));
  };

  fp8c::Compiler compiler(context, *options);
  if (mlir::failed(compiler.load(input)))
    return 1;
  if (!dumpDir.empty())
    if (std::error_code error = sys::fs::create_directories(dumpDir))
      return fail("'" + dumpDir + "' cannot be made: " + error.message());
  for (const EmitLevel &level : kTextLevels) {
    bool wanted = emit == level.emit && !output.empty();
    bool dumped = !dumpDir.empty() && level.emit != Emit::Code;
    if (!wanted && !dumped)
      continue;
    if (!compile(level.level, compiler))
      return 1;
    std::string text = print(compiler.getModule(), locations);
    if (dumped) {
      SmallString<128> path(dumpDir);
      sys::path::append(path, Twine(level.name) + ".mlir");
      if (Error error = fp8c::writeText(path, text))
        return fail(toString(std::move(error)));
    }
    if (wanted) {
      if (Error error = fp8c::writeText(output, text))
        return fail(toString(std::move(error)));
      if (dumpDir.empty() && !wantsReport)
        return 0;
    }
  }
  if (emit == Emit::PTX && !output.empty()) {
    auto ptx = compiler.emitPTX();
    if (mlir::failed(ptx))
      return 1;
    if (Error error = fp8c::writeText(output, *ptx))
      return fail(toString(std::move(error)));
  }
  if (emit == Emit::Package && !output.empty() &&
      mlir::failed(compiler.writePackage(output)))
    return 1;
  if (!wantsReport)
    return 0;
  if (!compile(fp8c::Level::Plan, compiler))
    return 1;
  if (Error error = report->write(compiler.getReport()))
    return fail(toString(std::move(error)));
  return 0;
}
