//===- ImporterFuzzer.cpp - Any graph as a model --------------------------===//
//
// Part of fp8c, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ArchiveMutator.h"
#include "ImportAny.h"

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
  if (!test::importAny(*context, {reinterpret_cast<const char *>(data), size}))
    llvm::report_fatal_error("an import must fail with an error");
  return 0;
}
