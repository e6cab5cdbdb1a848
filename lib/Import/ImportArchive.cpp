//===- ImportArchive.cpp - Archives to modules ----------------------------===//
//
// Part of fp8c, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "fp8c/Import/Importer.h"

#include "GraphImporter.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/Verifier.h"

using namespace mlir;
using namespace fp8c;
using namespace fp8c::import;

FailureOr<OwningOpRef<ModuleOp>>
fp8c::import::importProgram(const ExportedProgram &program,
                            const std::map<std::string, StorageEntry> &storage,
                            MLIRContext *context, const ImportOptions &options,
                            std::optional<Location> loc) {
  context->loadDialect<fp8::FP8Dialect, arith::ArithDialect, func::FuncDialect,
                       linalg::LinalgDialect, math::MathDialect,
                       tensor::TensorDialect>();
  OpBuilder builder(context);
  OwningOpRef<ModuleOp> module =
      ModuleOp::create(builder, loc.value_or(UnknownLoc::get(context)));
  GraphBuilder graph(builder);
  graph.setLoc(module->getLoc());
  GraphImporter importer(program, storage, *module, graph, options);
  if (failed(importer.run()) || failed(verify(*module)))
    return failure();
  return module;
}

/// An error of the context for one that has no place in the model.
static LogicalResult fail(Location loc, llvm::Error error) {
  return emitError(loc) << toString(std::move(error));
}

FailureOr<ImportedModel>
fp8c::import::importArchive(std::shared_ptr<Archive> archive, Location loc,
                            const ImportOptions &options) {
  auto program = parseProgram(archive->find("models/model.json"));
  if (!program)
    return fail(loc, program.takeError());
  auto storage = readStorage(*archive);
  if (!storage)
    return fail(loc, storage.takeError());
  auto module =
      importProgram(*program, *storage, loc.getContext(), options, loc);
  if (failed(module))
    return failure();
  return ImportedModel{std::move(*module), std::move(archive)};
}

FailureOr<ImportedModel> fp8c::import::importPt2(StringRef path,
                                                 MLIRContext *context,
                                                 const ImportOptions &options) {
  Location loc = FileLineColLoc::get(context, path, 0, 0);
  auto archive = Archive::open(path);
  if (!archive)
    return fail(loc, archive.takeError());
  return importArchive(std::move(*archive), loc, options);
}
