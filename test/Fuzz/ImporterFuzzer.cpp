//===- ImporterFuzzer.cpp - Any graph as a model --------------------------===//
//
// Part of fp8c, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ArchiveMutator.h"

#include "fp8c/Import/Importer.h"

using namespace fp8c;

extern "C" size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size,
                                          size_t max, unsigned seed) {
  std::string made = test::mutateArchive(data, size, seed);
  if (made.size() > max)
    return size;
  std::memcpy(data, made.data(), made.size());
  return made.size();
}

/// Imports the archive: a module, or an error that says why not.
extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  // A context keeps every type and attribute that was ever made.
  static std::unique_ptr<mlir::MLIRContext> context;
  static unsigned uses = 0;
  if (uses++ % 256 == 0)
    context = std::make_unique<mlir::MLIRContext>(
        mlir::MLIRContext::Threading::DISABLED);
  unsigned errors = 0;
  mlir::ScopedDiagnosticHandler handler(
      context.get(), [&](mlir::Diagnostic &diagnostic) {
        errors += diagnostic.getSeverity() == mlir::DiagnosticSeverity::Error;
      });
  auto archive = import::Archive::read(llvm::MemoryBuffer::getMemBuffer(
      llvm::StringRef(reinterpret_cast<const char *>(data), size), "",
      /*RequiresNullTerminator=*/false));
  if (!archive) {
    llvm::consumeError(archive.takeError());
    return 0;
  }
  auto model = import::importArchive(std::move(*archive),
                                     mlir::UnknownLoc::get(context.get()));
  if (mlir::failed(model) != (errors != 0))
    llvm::report_fatal_error("an import must fail with an error");
  return 0;
}
