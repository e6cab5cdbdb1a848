//===- Importer.h - Exported programs to graph level ------------*- C++ -*-===//
//
// Part of fp8c, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef FP8C_IMPORT_IMPORTER_H
#define FP8C_IMPORT_IMPORTER_H

#include "fp8c/Import/Archive.h"
#include "fp8c/Import/ImportContext.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"

namespace fp8c::import {

/// A module at graph level and the archive that holds its weights: an
/// `fp8.global`'s `source` is an entry of the archive, `offset` in bytes.
struct ImportedModel {
  mlir::OwningOpRef<mlir::ModuleOp> module;
  std::shared_ptr<Archive> archive;
};

/// Reads a .pt2 archive. Errors are diagnostics of the context; all operators
/// that are not supported are named in one. Source: an archive that
/// `torch.export.save` wrote.
mlir::FailureOr<ImportedModel> importPt2(llvm::StringRef path,
                                         mlir::MLIRContext *context,
                                         const ImportOptions &options = {});

/// The same for an archive that is open; `loc` is where errors are that have no
/// place in the model.
mlir::FailureOr<ImportedModel> importArchive(std::shared_ptr<Archive> archive,
                                             mlir::Location loc,
                                             const ImportOptions &options = {});

/// Where each weight, buffer and constant lies, by its name in the model; paths
/// are entries of the archive. An error where one has sizes that are not
/// numbers or does not lie inside its entry.
llvm::Expected<std::map<std::string, StorageEntry>>
readStorage(const Archive &archive);

/// Imports a parsed program; weights are looked up in `storage`. `loc` is where
/// errors are that have no place in the model.
mlir::FailureOr<mlir::OwningOpRef<mlir::ModuleOp>>
importProgram(const ExportedProgram &program,
              const std::map<std::string, StorageEntry> &storage,
              mlir::MLIRContext *context, const ImportOptions &options,
              std::optional<mlir::Location> loc = std::nullopt);

} // namespace fp8c::import

#endif // FP8C_IMPORT_IMPORTER_H
