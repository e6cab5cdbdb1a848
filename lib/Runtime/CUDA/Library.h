//===- Library.h - Shared libraries opened at run time ----------*- C++ -*-===//
//
// Part of fp8c, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef FP8C_LIB_RUNTIME_CUDA_LIBRARY_H
#define FP8C_LIB_RUNTIME_CUDA_LIBRARY_H

#include <memory>
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
  /// The function of that name, or null and false.
  template <typename Fn> bool get(Fn *&fn, const char *name) const {
    fn = reinterpret_cast<Fn *>(find(name));
    return fn != nullptr;
  }

private:
  void *find(const char *name) const;

  void *handle = nullptr;
  std::string message;
};

/// Members of a class that holds a library's functions, of a list X(name here,
/// symbol, result, parameters): a pointer to each, and find(), which gives
/// whether all are there.
#define FP8C_LIBRARY_MEMBERS(FUNCTIONS)                                        \
  FUNCTIONS(FP8C_LIBRARY_POINTER)                                              \
  bool find(const Library &library) {                                          \
    return library FUNCTIONS(FP8C_LIBRARY_FIND);                               \
  }
#define FP8C_LIBRARY_POINTER(NAME, SYMBOL, RESULT, PARAMETERS)                 \
  RESULT(*NAME) PARAMETERS = nullptr;
#define FP8C_LIBRARY_FIND(NAME, SYMBOL, RESULT, PARAMETERS)                    \
  &&library.get(NAME, SYMBOL)

/// Such an object with its handle for the current device, or null where the
/// library, one of its functions or the handle cannot be had.
template <typename T>
std::unique_ptr<T> openWithHandle(const Library &library) {
  auto result = std::make_unique<T>();
  if (!result->find(library) || result->create(&result->handle) != 0)
    return nullptr;
  return result;
}

} // namespace fp8c::rt

#endif // FP8C_LIB_RUNTIME_CUDA_LIBRARY_H
