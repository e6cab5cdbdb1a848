//===- ZipWriter.h - Writes zips of stored entries --------------*- C++ -*-===//
//
// Part of fp8c, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef FP8C_LIB_PACKAGE_ZIPWRITER_H
#define FP8C_LIB_PACKAGE_ZIPWRITER_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"

namespace fp8c::package {

/// Writes a zip entry by entry, without compression, each entry's data at a
/// multiple of 64 bytes of the file.
class ZipWriter {
public:
  static llvm::Expected<ZipWriter> create(llvm::StringRef path);
  ZipWriter(ZipWriter &&other);
  ~ZipWriter();

  /// Adds an entry that is `parts` one after the other.
  llvm::Error add(llvm::StringRef name, llvm::ArrayRef<llvm::StringRef> parts);
  /// Writes the directory. Nothing may be added after it.
  llvm::Error finish();

private:
  ZipWriter(void *zip, llvm::StringRef path) : zip(zip), path(path) {}

  llvm::Error fail(llvm::StringRef what);

  void *zip;
  std::string path;
  /// Where the next local header goes.
  uint64_t position = 0;
};

} // namespace fp8c::package

#endif // FP8C_LIB_PACKAGE_ZIPWRITER_H
