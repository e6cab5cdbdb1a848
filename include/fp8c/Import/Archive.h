//===- Archive.h - A .pt2 file ----------------------------------*- C++ -*-===//
//
// Part of fp8c, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef FP8C_IMPORT_ARCHIVE_H
#define FP8C_IMPORT_ARCHIVE_H

#include "llvm/ADT/StringMap.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"
#include "llvm/Support/MemoryBuffer.h"

#include <memory>

namespace fp8c::import {

/// A mapped .pt2 archive: a zip whose entries are stored, so their bytes are
/// read in place.
class Archive {
public:
  /// Maps the file and reads its directory. The error says what is wrong with
  /// the file, without its name.
  static llvm::Expected<std::shared_ptr<Archive>> open(llvm::StringRef path);

  /// The same for an archive in memory.
  static llvm::Expected<std::shared_ptr<Archive>>
  read(std::unique_ptr<llvm::MemoryBuffer> file);

  /// The bytes of an entry, by its name below the archive's top folder
  /// ("models/model.json", which every archive has); a null pointer where there
  /// is none.
  llvm::StringRef find(llvm::StringRef name) const {
    return entries.lookup(name);
  }
  const llvm::StringMap<llvm::StringRef> &getEntries() const { return entries; }

private:
  llvm::Error readDirectory();

  std::unique_ptr<llvm::MemoryBuffer> file;
  llvm::StringMap<llvm::StringRef> entries;
};

} // namespace fp8c::import

#endif // FP8C_IMPORT_ARCHIVE_H
