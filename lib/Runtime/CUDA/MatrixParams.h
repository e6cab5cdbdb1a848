//===- MatrixParams.h - Tensors as parameters of our kernels ----*- C++ -*-===//
//
// Part of fp8c, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef FP8C_LIB_RUNTIME_CUDA_MATRIXPARAMS_H
#define FP8C_LIB_RUNTIME_CUDA_MATRIXPARAMS_H

#include "../Operations.h"
#include "Device/Kernels.h"

#include <algorithm>
#include <vector>

namespace fp8c::rt::cuda {

inline Type getType(DType dtype) {
  static_assert(int(DType::F16) == int(Type::F16) &&
                int(DType::E8M0FNU) == int(Type::E8M0FNU));
  return static_cast<Type>(dtype);
}

/// All but the address; `batchDims` are the batches' dims, counted from the
/// last. An absent tensor gives zeros.
inline MatrixParams makeMatrix(const Tensor *tensor,
                               const std::vector<uint32_t> &batchDims) {
  MatrixParams result{};
  if (!tensor)
    return result;
  result.type = getType(tensor->dtype);
  if (tensor->rank > 1)
    result.rowStride = strideFromLast(*tensor, 1);
  if (tensor->rank > 0)
    result.columnStride = strideFromLast(*tensor, 0);
  for (size_t i = 0; i < batchDims.size(); ++i)
    if (batchDims[i] < tensor->rank)
      result.batchStrides[i] = strideFromLast(*tensor, batchDims[i]);
  return result;
}

inline ScaleParams makeScale(const Tensor *tensor, int64_t block0,
                             int64_t block1,
                             const std::vector<uint32_t> &batchDims) {
  ScaleParams result{makeMatrix(tensor, batchDims),
                     std::max<int64_t>(block0, 1),
                     std::max<int64_t>(block1, 1)};
  if (tensor && tensor->elements == 1)
    result.scale.rowStride = result.scale.columnStride = 0;
  return result;
}

} // namespace fp8c::rt::cuda

#endif // FP8C_LIB_RUNTIME_CUDA_MATRIXPARAMS_H
