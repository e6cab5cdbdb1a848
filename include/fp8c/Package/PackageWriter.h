//===- PackageWriter.h - Writes .fp8 packages -------------------*- C++ -*-===//
//
// Part of fp8c, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef FP8C_PACKAGE_PACKAGEWRITER_H
#define FP8C_PACKAGE_PACKAGEWRITER_H

#include "mlir/IR/BuiltinTypes.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"

#include <string>
#include <vector>

namespace fp8c::package {

/// A weight, or the first value of a state: dense, row-major, little-endian.
/// The bytes belong to somebody else and stay alive while it is written.
struct WeightData {
  std::string name;
  mlir::RankedTensorType type;
  llvm::StringRef bytes;
  /// Integers without a sign are unsigned ones.
  bool isUnsigned = false;
};

/// A plan in binary form.
struct TargetPlan {
  /// As on the command line: `cpu`, `sm_90a`.
  std::string target;
  std::string bytes;
};

/// The kernels for one instruction set or target.
struct KernelObject {
  /// `cpu` or `cuda`.
  std::string device;
  std::string isa;
  /// What its file's name ends in: `so`, `ptx`, `cubin`.
  std::string extension;
  std::string bytes;

  std::string getFile() const { return "kernels/" + isa + "." + extension; }
};

/// What a package holds; Format.h says how.
struct PackageContents {
  std::vector<TargetPlan> plans;
  std::vector<KernelObject> objects;
  std::vector<WeightData> weights;
  /// JSON, or empty.
  std::string report;
};

/// The bytes that a tensor of a static type takes in files and memory.
uint64_t getByteSize(mlir::RankedTensorType type);

/// Writes the package beside `path` and renames it, so that it appears whole
/// or not at all. Equal contents give equal bytes.
llvm::Error writePackage(llvm::StringRef path, const PackageContents &contents);

} // namespace fp8c::package

#endif // FP8C_PACKAGE_PACKAGEWRITER_H
