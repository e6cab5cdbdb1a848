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
#include "fp8c/Pipelines/Report.h"
#include "fp8c/Target/Target.h"

#include "llvm/ADT/StringSet.h"

#include <list>
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
  /// Where the package runs, one plan each. Levels from the plan on that are
  /// printed are the first one's.
  std::vector<const Target *> targets = {findTarget("cpu")};
  std::vector<DimRange> dims;
  /// Choices for the kernels of a GPU (codegen::kLaunchAttr), to measure them.
  std::string launch;
};

/// Compiles one model. Errors are diagnostics of the context.
class Compiler {
public:
  Compiler(mlir::MLIRContext &context, const CompileOptions &options)
      : context(context), options(options), decisions(context) {}

  /// Reads a .pt2 archive or a .mlir file at graph level.
  mlir::LogicalResult load(llvm::StringRef path);
  /// Runs the pipelines up to a level; levels behind it cost nothing.
  mlir::LogicalResult lowerTo(Level level);
  /// The module at the level reached.
  mlir::ModuleOp getModule() { return *module; }
  /// Lowers to the plan of the first GPU among the targets, whose kernels it
  /// gives as PTX. The module is that plan afterwards.
  mlir::FailureOr<std::string> emitPTX();
  /// What became of the model; empty below the level of the plan.
  const llvm::json::Object &getReport() const { return report; }
  /// Lowers to the plan, generates code and writes the package.
  mlir::LogicalResult writePackage(llvm::StringRef path);

private:
  mlir::LogicalResult narrowDims();
  mlir::LogicalResult runPipeline(mlir::ModuleOp module,
                                  llvm::StringRef pipeline);
  mlir::LogicalResult lowerToPlan(mlir::ModuleOp module, const Target &target);
  mlir::LogicalResult addStoredWeights(package::PackageContents &contents);
  mlir::LogicalResult addCpuPlan(package::PackageContents &contents,
                                 std::list<std::string> &prepared,
                                 llvm::StringSet<> &used);
  mlir::LogicalResult addGpuPlan(const Target &target,
                                 package::PackageContents &contents,
                                 llvm::StringSet<> &used);

  mlir::MLIRContext &context;
  const CompileOptions &options;
  mlir::OwningOpRef<mlir::ModuleOp> module;
  /// The kernels level, which each target's plan is made from, once `module`
  /// has gone further.
  mlir::OwningOpRef<mlir::ModuleOp> kernels;
  std::shared_ptr<import::Archive> archive;
  Level reached = Level::Import;
  DecisionLog decisions;
  /// What the graph moves; moved into the report when there is a plan.
  llvm::json::Object graphTraffic;
  llvm::json::Object report;
};

} // namespace fp8c

#endif // FP8C_PIPELINES_COMPILER_H
