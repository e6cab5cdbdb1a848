//===- Tensor.h - Tensors as commands see them ------------------*- C++ -*-===//
//
// Part of fp8c, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef FP8C_LIB_RUNTIME_TENSOR_H
#define FP8C_LIB_RUNTIME_TENSOR_H

#include "DType.h"
#include "Error.h"

#include <string>
#include <vector>

namespace fp8c::rt {

/// A strided tensor. Dims and strides (in elements) belong to a shape instance.
struct Tensor {
  DType dtype = DType::F32;
  uint32_t rank = 0;
  const int64_t *dims = nullptr;
  const int64_t *strides = nullptr;
  int64_t elements = 0;
  char *data = nullptr;
};

/// "(2, 3)".
std::string dimsText(const std::vector<int64_t> &dims);

/// The first element of a DLPack tensor.
inline char *tensorData(const DLTensor &tensor) {
  return static_cast<char *>(tensor.data) + tensor.byte_offset;
}

/// Checks a caller's tensor: on the device, of the dtype, dense and row-major,
/// its data not null (when it has elements) and aligned to elements, on a GPU
/// to 16 bytes. `checkData` false leaves the data out. Does not allocate when
/// all is well.
void checkLayout(const DLTensor &tensor, DType dtype, size_t rank,
                 const char *role, const char *name, bool checkData,
                 DLDevice device);

/// Checks layout, data and dims of a caller's tensor on the CPU.
void checkTensor(const DLTensor &tensor, DType dtype,
                 const std::vector<int64_t> &dims, const char *role,
                 const char *name);

} // namespace fp8c::rt

#endif // FP8C_LIB_RUNTIME_TENSOR_H
