//===- Library.h - Shared libraries opened at run time ----------*- C++ -*-===//
//
// Part of fp8c, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef FP8C_LIB_RUNTIME_CUDA_LIBRARY_H
#define FP8C_LIB_RUNTIME_CUDA_LIBRARY_H

#include <string>

namespace fp8c::rt {

/// A shared library that need not be there. It stays open.
class Library {
public:
  /// Opens the first that there is.
  Library(std::initializer_list<const char *> names);

  explicit operator bool() const { return handle; }
  /// The loader's message about the first name.
  const std::string &error() const { return message; }
  /// The function of that name, or null.
  template <typename Fn> void get(Fn *&fn, const char *name) const {
    fn = reinterpret_cast<Fn *>(find(name));
  }

private:
  void *find(const char *name) const;

  void *handle = nullptr;
  std::string message;
};

} // namespace fp8c::rt

#endif // FP8C_LIB_RUNTIME_CUDA_LIBRARY_H
