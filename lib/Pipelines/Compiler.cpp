//===- Compiler.cpp - From a model to a package ---------------------------===//
//
// Part of fp8c, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "fp8c/Pipelines/Compiler.h"

#include "Prepare.h"

#include "fp8c/Codegen/CPU.h"
#include "fp8c/Codegen/NVVM.h"
#include "fp8c/Dialect/Plan/Plan.h"
#include "fp8c/Package/Format.h"
#include "fp8c/Package/PlanWriter.h"
#include "fp8c/Pipelines/Registration.h"
#include "fp8c/Pipelines/SourceFile.h"
#include "mlir/IR/Verifier.h"
#include "mlir/Parser/Parser.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Pass/PassRegistry.h"
#include "llvm/Support/SourceMgr.h"

#include <array>
#include <mutex>

using namespace mlir;
using namespace fp8c;

LogicalResult Compiler::load(StringRef path) {
  auto loc = FileLineColLoc::get(&context, path, 0, 0);
  auto fail = [&](llvm::Error error) {
    return emitError(loc) << toString(std::move(error));
  };
  bool isText = path == "-" || path.ends_with(".mlir");
  auto source = openSource(path, isText);
  if (!source)
    return fail(source.takeError());
  if (isPackage((*source)->getBuffer()))
    return emitError(loc) << "is a package, which is compiled already; fp8-run "
                             "runs it";
  if (isZip((*source)->getBuffer())) {
    auto opened = import::Archive::read(std::move(*source));
    if (!opened)
      return fail(opened.takeError());
    auto model = import::importArchive(std::move(*opened), loc, options.import);
    if (failed(model))
      return failure();
    module = std::move(model->module);
    archive = std::move(model->archive);
    return narrowDims();
  }
  if (!isText)
    return emitError(loc) << "is neither an archive of torch.export.save (a "
                             "zip) nor textual IR (a name that ends in .mlir)";
  if (llvm::Error error = checkNesting(**source))
    return fail(std::move(error));
  llvm::SourceMgr sources;
  sources.AddNewSourceBuffer(std::move(*source), llvm::SMLoc());
  module = parseSourceFile<ModuleOp>(sources, &context);
  return failure(!module || failed(narrowDims()));
}

/// What a model has to have, whatever gave it.
static LogicalResult checkModel(ModuleOp module) {
  if (!module.lookupSymbol<func::FuncOp>("forward"))
    return emitError(module.getLoc())
           << "the model has no function 'forward', which a call runs";
  return fp8::verifySymbols(module);
}

/// The declarations of the symbol that a name means: a symbol's own, or that of
/// an input's dim.
static std::vector<fp8::SymbolOp> findSymbol(ModuleOp module, StringRef name) {
  std::vector<fp8::SymbolOp> found;
  auto lookup = [&](StringRef symbolName) {
    module.walk([&](fp8::SymbolOp symbol) {
      if (symbol.getName() == symbolName)
        found.push_back(symbol);
    });
  };
  lookup(name);
  auto function = module.lookupSymbol<func::FuncOp>("forward");
  auto [input, axis] = name.rsplit('.');
  unsigned dim;
  if (!found.empty() || axis.getAsInteger(10, dim))
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
  if (failed(checkModel(*module)))
    return failure();
  for (const DimRange &range : options.dims) {
    std::vector<fp8::SymbolOp> symbols = findSymbol(*module, range.name);
    if (symbols.empty())
      return emitError(module->getLoc())
             << "'" << range.name << "' is no dynamic dim and no symbol";
    int64_t min = symbols.front().getMin();
    std::optional<uint64_t> max = symbols.front().getMax();
    if (range.min < min || (max && range.max > int64_t(*max)))
      return emitError(module->getLoc())
             << "the range " << range.min << ".." << range.max << " of '"
             << range.name << "' is not within the model's " << min << ".."
             << (max ? std::to_string(*max) : "unbounded");
    for (fp8::SymbolOp symbol : symbols) {
      symbol.setMin(range.min);
      symbol.setMaxAttr(builder.getI64IntegerAttr(range.max));
      symbol.setMultiple(range.multiple);
    }
  }
  return success();
}

LogicalResult Compiler::runPipeline(ModuleOp module, StringRef pipeline) {
  static std::once_flag registered;
  std::call_once(registered, registerAllPasses);
  PassManager manager(&context);
  if (failed(parsePassPipeline(pipeline, manager)))
    return failure();
  // Once a level, not once a pass: fp8-opt and the tests do that.
  manager.enableVerifier(false);
  return failure(failed(manager.run(module)) || failed(verify(module)));
}

LogicalResult Compiler::lowerToPlan(ModuleOp module, const Target &target) {
  std::string pipeline = ("fp8-kernels-to-plan{target=" + target.name).str();
  if (!options.launch.empty() && !target.isCPU())
    pipeline += " launch=\"" + options.launch + "\"";
  if (failed(runPipeline(module, pipeline + "}")))
    return failure();
  if (report.empty() && &target == options.targets.front())
    report = makeReport(module, decisions.get(), std::move(graphTraffic));
  return success();
}

LogicalResult Compiler::lowerTo(Level level) {
  if (reached < Level::Graph && level >= Level::Graph) {
    graphTraffic = describeGraph(*module);
    if (failed(runPipeline(*module, "fp8-canonicalize")))
      return failure();
    reached = Level::Graph;
  }
  if (reached < Level::Kernels && level >= Level::Kernels) {
    if (failed(runPipeline(*module, "fp8-graph-to-kernels")))
      return failure();
    reached = Level::Kernels;
  }
  if (reached < Level::Plan && level >= Level::Plan) {
    kernels = module->clone();
    if (failed(lowerToPlan(*module, *options.targets.front())))
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

//===----------------------------------------------------------------------===//
// Packages
//===----------------------------------------------------------------------===//

/// Erases kernels and globals that no entry uses; adds the names of the others
/// to `used`.
static void dropUnused(ModuleOp plan, llvm::StringSet<> &used) {
  llvm::StringSet<> mine;
  for (auto entry : plan.getOps<plan::EntryOp>())
    entry.walk([&](Operation *op) {
      if (auto global = dyn_cast<plan::GlobalOp>(op))
        mine.insert(global.getGlobal());
      else if (auto launch = dyn_cast<plan::LaunchOp>(op))
        mine.insert(launch.getKernel());
    });
  for (Operation &op : llvm::make_early_inc_range(*plan.getBody()))
    if (isa<fp8::GlobalOp, plan::KernelOp>(op) &&
        !mine.contains(SymbolTable::getSymbolName(&op)))
      op.erase();
  for (const auto &name : mine)
    used.insert(name.getKey());
}

LogicalResult Compiler::addStoredWeights(package::PackageContents &contents) {
  const bool prepares = kernels->lookupSymbol<func::FuncOp>("prepare");
  for (auto global : kernels->getOps<fp8::GlobalOp>()) {
    // A weight that has no source is written by @prepare.
    if (!global.getSource()) {
      if (global.getKind() == fp8::GlobalKind::Weight && prepares)
        continue;
      return emitError(global.getLoc())
             << "'" << global.getSymName()
             << "' has no source, which its first value comes from";
    }
    auto type = cast<RankedTensorType>(global.getType());
    StringRef source = *global.getSource();
    if (!archive)
      return emitError(global.getLoc())
             << "'" << global.getSymName() << "' is '" << source
             << "' of an archive, and textual IR has none: compile the .pt2 "
                "that it comes from";
    StringRef entry = archive->find(source);
    uint64_t size = package::getByteSize(type);
    uint64_t offset = global.getOffset();
    if (offset > entry.size() || entry.size() - offset < size)
      return emitError(global.getLoc())
             << "'" << global.getSymName() << "' needs " << size << " bytes at "
             << offset << " of '" << source << "', which has " << entry.size();
    contents.weights.push_back({global.getSymName().str(), type,
                                entry.substr(offset, size),
                                global->hasAttr(fp8::kUnsignedAttr)});
  }
  return success();
}

LogicalResult Compiler::addCpuPlan(package::PackageContents &contents,
                                   std::list<std::string> &prepared,
                                   llvm::StringSet<> &used) {
  bool wanted = llvm::any_of(
      options.targets, [](const Target *target) { return target->isCPU(); });
  OwningOpRef<ModuleOp> plan = kernels->clone();
  auto fail = [&](llvm::Error error) {
    return emitError(module->getLoc()) << toString(std::move(error));
  };
  if (!wanted) {
    // @prepare runs here whoever runs the rest.
    for (auto func : llvm::make_early_inc_range(plan->getOps<func::FuncOp>()))
      if (func.getSymName() != "prepare")
        func.erase();
    if (plan->getOps<func::FuncOp>().empty())
      return success();
  }
  if (failed(lowerToPlan(*plan, *findTarget(package::kCpu))))
    return failure();
  package::PackageContents all = contents;
  if (!plan->getOps<plan::KernelOp>().empty()) {
    auto objects = codegen::compileCpuKernels(
        *plan, {codegen::CpuLevel::V3, codegen::CpuLevel::V4});
    if (!objects)
      return fail(objects.takeError());
    for (auto [isa, object] :
         llvm::zip(std::array{package::kIsaV3, package::kIsaV4}, *objects))
      all.objects.push_back({package::kCpu, isa, "so", std::move(object)});
  }
  if (llvm::Error error = runPrepare(*plan, all, prepared))
    return fail(std::move(error));
  contents.weights = std::move(all.weights);
  if (!wanted)
    return success();
  dropUnused(*plan, used);
  auto bytes = package::writePlan(*plan, package::kCpu);
  if (failed(bytes))
    return failure();
  contents.plans.push_back({package::kCpu, std::move(*bytes)});
  contents.objects = std::move(all.objects);
  return success();
}

LogicalResult Compiler::addGpuPlan(const Target &target,
                                   package::PackageContents &contents,
                                   llvm::StringSet<> &used) {
  OwningOpRef<ModuleOp> plan = kernels->clone();
  // The CPU has run it.
  if (auto prepare = plan->lookupSymbol<func::FuncOp>("prepare"))
    prepare.erase();
  if (failed(lowerToPlan(*plan, target)))
    return failure();
  dropUnused(*plan, used);
  if (!plan->getOps<plan::KernelOp>().empty()) {
    auto fail = [&](llvm::Error error) {
      return emitError(module->getLoc()) << toString(std::move(error));
    };
    auto ptx = codegen::compileGpuKernels(*plan, target);
    if (!ptx)
      return fail(ptx.takeError());
    // Without an assembler the driver compiles the PTX when it is loaded.
    if (std::optional<std::string> assembler = codegen::findAssembler()) {
      auto cubin = codegen::assemblePTX(*ptx, target, *assembler);
      if (!cubin)
        return fail(cubin.takeError());
      contents.objects.push_back(
          {package::kCuda, target.name.str(), "cubin", std::move(*cubin)});
    }
    contents.objects.push_back(
        {package::kCuda, target.name.str(), "ptx", std::move(*ptx)});
  }
  auto bytes = package::writePlan(*plan, target.name);
  if (failed(bytes))
    return failure();
  contents.plans.push_back({target.name.str(), std::move(*bytes)});
  return success();
}

FailureOr<std::string> Compiler::emitPTX() {
  auto target = llvm::find_if_not(
      options.targets, [](const Target *target) { return target->isCPU(); });
  if (target == options.targets.end())
    return emitError(module->getLoc()) << "no GPU among the targets";
  if (failed(lowerTo(Level::Kernels)))
    return failure();
  if (auto prepare = module->lookupSymbol<func::FuncOp>("prepare"))
    prepare.erase();
  if (failed(lowerToPlan(*module, **target)))
    return failure();
  auto ptx = codegen::compileGpuKernels(*module, **target);
  if (!ptx)
    return emitError(module->getLoc()) << toString(ptx.takeError());
  return std::move(*ptx);
}

LogicalResult Compiler::writePackage(StringRef path) {
  if (failed(lowerTo(Level::Kernels)))
    return failure();
  if (!kernels)
    kernels = module->clone();
  package::PackageContents contents;
  std::list<std::string> prepared;
  llvm::StringSet<> used;
  if (failed(addStoredWeights(contents)) ||
      failed(addCpuPlan(contents, prepared, used)))
    return failure();
  for (const Target *target : options.targets)
    if (!target->isCPU() && failed(addGpuPlan(*target, contents, used)))
      return failure();
  llvm::erase_if(contents.weights, [&](const package::WeightData &weight) {
    return !used.contains(weight.name);
  });
  contents.report = renderReport(report, ReportFormat::Json);
  if (llvm::Error error = package::writePackage(path, contents))
    return emitError(module->getLoc()) << toString(std::move(error));
  if (!hasF8Product(*kernels))
    emitWarning(module->getLoc())
        << "no product in the package has an f8 operand: the model has none, "
           "and recipes that quantise a model are not built yet (--recipe=none "
           "is the only one)";
  return success();
}
