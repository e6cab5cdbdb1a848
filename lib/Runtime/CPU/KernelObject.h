//===- KernelObject.h - The generated kernels of the CPU --------*- C++ -*-===//
//
// Part of fp8c, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef FP8C_LIB_RUNTIME_CPU_KERNELOBJECT_H
#define FP8C_LIB_RUNTIME_CPU_KERNELOBJECT_H

#include "../Error.h"

#include <string>
#include <vector>

namespace fp8c::rt {

/// A generated kernel: runs tasks [begin, end). `operands` are the tensors'
/// first elements, `sizes` is the launch's size block, `scratch` belongs to the
/// calling thread.
using KernelFn = void (*)(void *const *operands, const int64_t *sizes,
                          int64_t begin, int64_t end, void *scratch);

/// An ELF shared object that was opened from memory.
class KernelObject {
public:
  /// Opens `object` (nothing when `symbols` is empty) and looks up its
  /// functions.
  KernelObject(Bytes object, const std::vector<std::string> &symbols);
  ~KernelObject();
  KernelObject(const KernelObject &) = delete;
  KernelObject &operator=(const KernelObject &) = delete;

  /// The function of a kernel of the plan.
  KernelFn kernel(size_t index) const { return functions[index]; }

private:
  void release();

  void *handle = nullptr;
  /// Stays open: the loader knows the object by this number's path.
  int fd = -1;
  std::vector<KernelFn> functions;
};

} // namespace fp8c::rt

#endif // FP8C_LIB_RUNTIME_CPU_KERNELOBJECT_H
