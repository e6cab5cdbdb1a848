//===- Model.cpp - From a file to a session -------------------------------===//
//
// Part of fp8c, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Model.h"

#include "Runtime/Package.h"
#include "fp8c/Pipelines/CompileFlags.h"
#include "fp8c/Pipelines/Registration.h"
#include "fp8c/Pipelines/SourceFile.h"
#include "mlir/IR/Diagnostics.h"
#include "mlir/IR/MLIRContext.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/FileUtilities.h"

using namespace fp8c;
using namespace fp8c::run;

/// Where a diagnostic points to: the model's own line where there is one.
static std::string getPlace(mlir::Location location) {
  std::string text;
  llvm::raw_string_ostream os(text);
  location->walk([&](mlir::Location inner) {
    auto file = llvm::dyn_cast<mlir::FileLineColLoc>(inner);
    if (!file)
      return mlir::WalkResult::advance();
    os << file.getFilename().getValue() << ":" << file.getLine() << ": ";
    return mlir::WalkResult::interrupt();
  });
  return text;
}

/// Compiles a .pt2 or .mlir file to the package `output`.
static void compile(const std::string &model, const CompileOptions &options,
                    const std::string &output) {
  mlir::DialectRegistry registry;
  registerAllDialects(registry);
  mlir::MLIRContext context(registry);
  std::string errors;
  mlir::ScopedDiagnosticHandler handler(
      &context, [&](mlir::Diagnostic &diagnostic) {
        if (diagnostic.getSeverity() == mlir::DiagnosticSeverity::Error)
          errors += (errors.empty() ? "" : "\n") +
                    getPlace(diagnostic.getLocation()) + diagnostic.str();
        return mlir::success();
      });
  Compiler compiler(context, options);
  if (mlir::failed(compiler.load(model)) ||
      mlir::failed(compiler.writePackage(output)))
    fail(errors.empty() ? "cannot compile \"" + model + "\"" : errors);
}

/// Whether the file has to be compiled first: by what it holds, and by its name
/// where that says nothing.
static bool isModel(llvm::StringRef path) {
  if (auto source = openSource(path, /*isText=*/false)) {
    llvm::StringRef bytes = (*source)->getBuffer();
    if (isZip(bytes))
      return !isPackage(bytes);
  } else {
    llvm::consumeError(source.takeError());
  }
  return path.ends_with(".pt2") || path.ends_with(".mlir");
}

Model::Model(const std::string &path, CompileOptions options,
             llvm::ArrayRef<std::string> devices)
    : package(path) {
  if (!isModel(path))
    return;
  if (options.targets.empty()) {
    for (const std::string &device : devices) {
      auto target = findDeviceTarget(device);
      if (!target)
        fail(llvm::toString(target.takeError()));
      if (!llvm::is_contained(options.targets, *target))
        options.targets.push_back(*target);
    }
  }
  llvm::SmallString<128> file;
  if (std::error_code error =
          llvm::sys::fs::createTemporaryFile("fp8-run", "fp8", file))
    fail("cannot make a temporary file: ", error.message());
  llvm::FileRemover remover(file);
  compile(path, options, file.str().str());
  remover.releaseFile();
  package = file.str().str();
  isTemporary = true;
}

Model::~Model() {
  if (isTemporary)
    llvm::sys::fs::remove(package);
}

void run::writeReport(const std::string &package,
                      const ReportRequest &request) {
  std::unique_ptr<rt::Package> opened = rt::Package::openFile(package);
  const rt::Bytes bytes = opened->report();
  llvm::StringRef text(reinterpret_cast<const char *>(bytes.data), bytes.size);
  if (text.empty())
    fail("\"", package, "\" has no report");
  // JSON is parsed by recursion too.
  if (llvm::Error error = checkNesting({text, "report.json"}))
    fail("\"", package, "\": its report: ", llvm::toString(std::move(error)));
  llvm::Expected<llvm::json::Value> report = llvm::json::parse(text);
  if (!report)
    fail("\"", package,
         "\": the report is no JSON: ", llvm::toString(report.takeError()));
  if (!report->getAsObject())
    fail("\"", package, "\": the report is no JSON object");
  if (llvm::Error error = request.write(*report->getAsObject()))
    fail(llvm::toString(std::move(error)));
}
