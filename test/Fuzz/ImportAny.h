//===- ImportAny.h - Imports an archive that may be damaged -----*- C++ -*-===//
//
// Part of fp8c, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef FP8C_TEST_FUZZ_IMPORTANY_H
#define FP8C_TEST_FUZZ_IMPORTANY_H

#include "fp8c/Import/Importer.h"

namespace fp8c::test {

/// Imports an archive. False where that failed without an error, or gave an
/// error and a module.
inline bool importAny(mlir::MLIRContext &context, llvm::StringRef bytes) {
  unsigned errors = 0;
  mlir::ScopedDiagnosticHandler handler(
      &context, [&](mlir::Diagnostic &diagnostic) {
        errors += diagnostic.getSeverity() == mlir::DiagnosticSeverity::Error;
      });
  auto archive = import::Archive::read(llvm::MemoryBuffer::getMemBuffer(
      bytes, "", /*RequiresNullTerminator=*/false));
  if (!archive) {
    llvm::consumeError(archive.takeError());
    return true;
  }
  auto model = import::importArchive(std::move(*archive),
                                     mlir::UnknownLoc::get(&context));
  return mlir::failed(model) == (errors != 0);
}

} // namespace fp8c::test

#endif // FP8C_TEST_FUZZ_IMPORTANY_H
