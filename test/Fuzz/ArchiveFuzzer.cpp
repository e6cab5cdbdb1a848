//===- ArchiveFuzzer.cpp - Any bytes as a .pt2 file -----------------------===//
//
// Part of fp8c, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ArchiveMutator.h"

#include "fp8c/Import/Importer.h"

using namespace fp8c;

extern "C" size_t LLVMFuzzerMutate(uint8_t *data, size_t size, size_t max);

/// Changes the zip's bytes, or the JSON in it.
extern "C" size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size,
                                          size_t max, unsigned seed) {
  if (size >= 64 && seed % 2 == 0)
    return LLVMFuzzerMutate(data, size, max);
  std::string made = test::mutateArchive(data, size, seed / 2);
  if (made.size() > max)
    return size;
  std::memcpy(data, made.data(), made.size());
  return made.size();
}

/// The container, the JSON and the schema: every byte that an entry or a
/// weight shows lies in the file.
extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  llvm::StringRef bytes(reinterpret_cast<const char *>(data), size);
  auto archive = import::Archive::read(llvm::MemoryBuffer::getMemBuffer(
      bytes, "", /*RequiresNullTerminator=*/false));
  if (!archive) {
    llvm::consumeError(archive.takeError());
    return 0;
  }
  unsigned sum = 0;
  for (const auto &entry : (*archive)->getEntries())
    if (!entry.second.empty())
      sum += static_cast<uint8_t>(entry.second.back());
  auto program = import::parseProgram((*archive)->find("models/model.json"));
  if (!program)
    llvm::consumeError(program.takeError());
  auto storage = import::readStorage(**archive);
  if (!storage)
    llvm::consumeError(storage.takeError());
  // What has been summed must not be optimised away.
  return sum == ~0u ? -1 : 0;
}
