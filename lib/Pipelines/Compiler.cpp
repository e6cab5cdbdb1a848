//===- Compiler.cpp - From a model to a package
//----------------------------===//
//
// Part of fp8c, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "fp8c/Pipelines/Compiler.h"

#include "Prepare.h"

#include "fp8c/Codegen/CPU.h"
#include "fp8c/Dialect/Plan/Plan.h"
#include "fp8c/Package/Format.h"
#include "fp8c/Package/PlanWriter.h"
#include "fp8c/Pipelines/Registration.h"
#include "mlir/IR/Verifier.h"
#include "mlir/Parser/Parser.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Pass/PassRegistry.h"
#include "llvm/ADT/StringSet.h"

#include <array>
#include <mutex>

using namespace mlir;
using namespace fp8c;

LogicalResult Compiler::load(StringRef path) {
  if (path.ends_with(".mlir")) {
    module = parseSourceFile<ModuleOp>(path, &context);
    if (!module)
      return failure();
    return narrowDims();
  }
  auto model = import::importPt2(path, &context, options.import);
  if (failed(model))
    return failure();
  module = std::move(model->module);
  archive = std::move(model->archive);
  return narrowDims();
}

/// The symbol that a name means: a symbol's own, or that of an input's dim.
static fp8::SymbolOp findSymbol(ModuleOp module, StringRef name) {
  fp8::SymbolOp found;
  auto lookup = [&](StringRef symbolName) {
    module.walk([&](fp8::SymbolOp symbol) {
      if (symbol.getName() == symbolName)
        found = symbol;
    });
  };
  lookup(name);
  auto function = module.lookupSymbol<func::FuncOp>("forward");
  auto [input, axis] = name.rsplit('.');
  unsigned dim;
  if (found || !function || axis.getAsInteger(10, dim))
    return found;
  for (unsigned i = 0; i < function.getNumArguments(); ++i) {
    auto given = function.getArgAttrOfType<StringAttr>(i, fp8::kInputNameAttr);
    auto dims = function.getArgAttrOfType<ArrayAttr>(i, fp8::kDimsAttr);
    if (given && dims && given == input && dim < dims.size())
      if (auto symbol = dyn_cast<StringAttr>(dims[dim]))
        lookup(symbol);
  }
  return found;
}

LogicalResult Compiler::narrowDims() {
  Builder builder(&context);
  for (const DimRange &range : options.dims) {
    fp8::SymbolOp symbol = findSymbol(*module, range.name);
    if (!symbol)
      return emitError(module->getLoc())
             << "'" << range.name << "' is no dynamic dim and no symbol";
    int64_t min = symbol.getMin();
    std::optional<uint64_t> max = symbol.getMax();
    if (range.min < min || (max && range.max > int64_t(*max)))
      return emitError(module->getLoc())
             << "the range " << range.min << ".." << range.max << " of '"
             << range.name << "' is not within the model's " << min << ".."
             << (max ? std::to_string(*max) : "unbounded");
    symbol.setMin(range.min);
    symbol.setMaxAttr(builder.getI64IntegerAttr(range.max));
    symbol.setMultiple(range.multiple);
  }
  return success();
}

LogicalResult Compiler::runPipeline(StringRef pipeline) {
  static std::once_flag registered;
  std::call_once(registered, registerAllPasses);
  PassManager manager(&context);
  if (failed(parsePassPipeline(pipeline, manager)))
    return failure();
  // Once a level, not once a pass: fp8-opt and the tests do that.
  manager.enableVerifier(false);
  return failure(failed(manager.run(*module)) || failed(verify(*module)));
}

LogicalResult Compiler::lowerTo(Level level) {
  if (reached < Level::Graph && level >= Level::Graph) {
    if (failed(runPipeline("fp8-canonicalize")))
      return failure();
    reached = Level::Graph;
  }
  if (reached < Level::Kernels && level >= Level::Kernels) {
    if (failed(runPipeline("fp8-graph-to-kernels")))
      return failure();
    reached = Level::Kernels;
  }
  if (reached < Level::Plan && level >= Level::Plan) {
    if (failed(runPipeline("fp8-kernels-to-plan")))
      return failure();
    reached = Level::Plan;
  }
  if (reached < Level::Code && level >= Level::Code) {
    auto code = codegen::generateCpuKernels(*module);
    if (!code)
      return emitError(module->getLoc()) << toString(code.takeError());
    module = std::move(*code);
    reached = Level::Code;
  }
  return success();
}

LogicalResult Compiler::writePackage(StringRef path) {
  if (failed(lowerTo(Level::Plan)))
    return failure();
  package::PackageContents contents;
  auto fail = [&](llvm::Error error) {
    return emitError(module->getLoc()) << toString(std::move(error));
  };
  if (!module->getOps<plan::KernelOp>().empty()) {
    auto objects = codegen::compileCpuKernels(
        *module, {codegen::CpuLevel::V3, codegen::CpuLevel::V4});
    if (!objects)
      return fail(objects.takeError());
    for (auto [isa, object] :
         llvm::zip(std::array{package::kIsaV3, package::kIsaV4}, *objects))
      contents.objects.push_back({isa, std::move(object)});
  }
  // What has no source is written by @prepare.
  for (auto global : module->getOps<fp8::GlobalOp>()) {
    if (!global.getSource())
      continue;
    auto type = cast<RankedTensorType>(global.getType());
    StringRef source = *global.getSource();
    StringRef entry = archive ? archive->find(source) : StringRef();
    uint64_t size = package::getByteSize(type);
    uint64_t offset = global.getOffset();
    if (offset > entry.size() || entry.size() - offset < size)
      return emitError(global.getLoc())
             << "'" << global.getSymName() << "' needs " << size << " bytes at "
             << offset << " of '" << source << "', which has " << entry.size();
    contents.weights.push_back(
        {global.getSymName().str(), type, entry.substr(offset, size)});
  }
  std::list<std::string> prepared;
  if (llvm::Error error = runPrepare(*module, contents, prepared))
    return fail(std::move(error));
  dropUnused(contents);
  auto plan = package::writePlan(*module, "cpu");
  if (failed(plan))
    return failure();
  contents.plan = std::move(*plan);
  if (llvm::Error error = package::writePackage(path, contents))
    return fail(std::move(error));
  return success();
}

/// Takes out the kernels and weights that no entry uses any more: those that
/// only @prepare needed.
void Compiler::dropUnused(package::PackageContents &contents) {
  llvm::StringSet<> used;
  for (auto entry : module->getOps<plan::EntryOp>())
    entry.walk([&](Operation *op) {
      if (auto global = dyn_cast<plan::GlobalOp>(op))
        used.insert(global.getGlobal());
      else if (auto launch = dyn_cast<plan::LaunchOp>(op))
        used.insert(launch.getKernel());
    });
  for (Operation &op : llvm::make_early_inc_range(*module->getBody()))
    if (isa<fp8::GlobalOp, plan::KernelOp>(op) &&
        !used.contains(SymbolTable::getSymbolName(&op)))
      op.erase();
  llvm::erase_if(contents.weights, [&](const package::WeightData &weight) {
    return !used.contains(weight.name);
  });
}
