//===- Package.h - A .fp8 file in memory ------------------------*- C++ -*-===//
//
// Part of fp8c, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef FP8C_LIB_RUNTIME_PACKAGE_H
#define FP8C_LIB_RUNTIME_PACKAGE_H

#include "Error.h"
#include "Safetensors.h"

#include <memory>
#include <string>
#include <unordered_map>

namespace fp8c::rt {

/// A package whose entries are used in place. Format.h describes the file.
class Package {
public:
  /// Maps a file (read-only).
  static std::unique_ptr<Package> openFile(const std::string &path);
  /// Uses memory of the caller's, which must outlive the package.
  static std::unique_ptr<Package> openMemory(Bytes file);
  ~Package();
  Package(const Package &) = delete;
  Package &operator=(const Package &) = delete;

  /// The plan's bytes, hash checked.
  Bytes plan() const { return checkedEntry(planName); }
  /// The shared object for the best instruction set that this processor has,
  /// hash checked.
  Bytes cpuObject() const;
  /// The tensors of weights.safetensors by key.
  const std::unordered_map<std::string, StoredTensor> &weights() const {
    return tensors;
  }
  /// The path, or "the package" for memory.
  const std::string &name() const { return label; }

private:
  Package() = default;
  void readDirectory();
  void readManifest();
  Bytes entry(const std::string &name) const;
  Bytes checkedEntry(const std::string &name) const;

  /// A file as the manifest has it.
  struct File {
    uint64_t size;
    std::string sha256;
  };
  /// A shared object for the CPU.
  struct Object {
    std::string isa;
    std::string file;
  };
  Bytes file;
  void *mapping = nullptr;
  std::string label = "the package";
  std::string planName;
  std::unordered_map<std::string, Bytes> entries;
  std::unordered_map<std::string, File> files;
  std::vector<Object> objects;
  std::unordered_map<std::string, StoredTensor> tensors;
};

} // namespace fp8c::rt

#endif // FP8C_LIB_RUNTIME_PACKAGE_H
