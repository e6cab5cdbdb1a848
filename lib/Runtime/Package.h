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

  /// A plan's target and entry.
  struct Plan {
    std::string target;
    std::string file;
  };
  /// The plans, one a target, at least one.
  const std::vector<Plan> &plans() const { return planList; }
  /// A plan's bytes, hash checked.
  Bytes plan(const Plan &plan) const { return checkedEntry(plan.file); }
  /// The compiler's report, hash checked; an error where there is none.
  Bytes report() const;
  /// The shared object for the best instruction set that this processor has,
  /// hash checked.
  Bytes cpuObject() const;
  /// The kernels of a GPU's target as machine code and as PTX, hash checked;
  /// null where the package has none.
  Bytes gpuObject(const std::string &target, const char *extension) const;
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
  /// The kernels for an instruction set or a GPU.
  struct Object {
    std::string device;
    std::string isa;
    std::string file;
  };
  Bytes file;
  void *mapping = nullptr;
  std::string label = "the package";
  std::vector<Plan> planList;
  std::unordered_map<std::string, Bytes> entries;
  std::unordered_map<std::string, File> files;
  std::vector<Object> objects;
  std::unordered_map<std::string, StoredTensor> tensors;
};

} // namespace fp8c::rt

#endif // FP8C_LIB_RUNTIME_PACKAGE_H
