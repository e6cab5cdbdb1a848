//===- Compiler.h - From a model to a package -------------------*- C++ -*-===//
//
// Part of fp8c, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef FP8C_PIPELINES_COMPILER_H
#define FP8C_PIPELINES_COMPILER_H

#include "fp8c/Import/Importer.h"
#include "fp8c/Package/PackageWriter.h"

#include <vector>

namespace fp8c {

/// The levels that a model goes through; each is printable.
enum class Level {
  /// As imported.
  Import,
  /// Canonical, scaled casts recognised.
  Graph,
  /// One `fp8.kernel`, product or attention a launch.
  Kernels,
  /// Commands over buffers.
  Plan,
  /// What the CPU's kernels become.
  Code
};

/// A dynamic size made narrower: "x.1" or a symbol, and its range.
struct DimRange {
  std::string name;
  int64_t min = 0;
  int64_t max = 0;
  int64_t multiple = 1;
};

struct CompileOptions {
  import::ImportOptions import;
  std::vector<DimRange> dims;
};

/// Compiles one model. Errors are diagnostics of the context.
class Compiler {
public:
  Compiler(mlir::MLIRContext &context, const CompileOptions &options)
      : context(context), options(options) {}

  /// Reads a .pt2 archive or a .mlir file at graph level.
  mlir::LogicalResult load(llvm::StringRef path);
  /// Runs the pipelines up to a level; levels behind it cost nothing.
  mlir::LogicalResult lowerTo(Level level);
  /// The module at the level reached.
  mlir::ModuleOp getModule() { return *module; }
  /// Lowers to the plan, generates code and writes the package.
  mlir::LogicalResult writePackage(llvm::StringRef path);

private:
  mlir::LogicalResult narrowDims();
  void dropUnused(package::PackageContents &contents);
  mlir::LogicalResult runPipeline(llvm::StringRef pipeline);

  mlir::MLIRContext &context;
  const CompileOptions &options;
  mlir::OwningOpRef<mlir::ModuleOp> module;
  std::shared_ptr<import::Archive> archive;
  Level reached = Level::Import;
};

} // namespace fp8c

#endif // FP8C_PIPELINES_COMPILER_H
