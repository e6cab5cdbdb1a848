//===- AttentionGraph.h - Attention as cuDNN's operations -------*- C++ -*-===//
//
// Part of fp8c, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef FP8C_LIB_RUNTIME_CUDA_ATTENTIONGRAPH_H
#define FP8C_LIB_RUNTIME_CUDA_ATTENTIONGRAPH_H

#include "Cudnn.h"
#include "MaskBias.h"

namespace fp8c::rt::cuda {

/// What addresses, and strides in bytes, are multiples of.
constexpr int64_t kAttentionAlignment = 16;

/// Names of a plan's tensors; those between its operations follow.
enum TensorId : int64_t {
  Query = 1,
  Key,
  Value,
  Out,
  Scale,
  Lowest,
  Bias,
  Between
};

/// Extents and strides of batch, head, row and column.
struct Layout {
  int64_t dims[4], strides[4];

  explicit Layout(const Tensor &t) {
    for (int i = 3; i >= 0; --i) {
      dims[i] = t.dims[i];
      // The stride of a dim of 1 says nothing, but the library looks at it.
      strides[i] = dims[i] != 1 ? t.strides[i]
                   : i == 3     ? 1
                                : dims[i + 1] * strides[i + 1];
    }
  }
  /// Dense.
  Layout(int64_t batch, int64_t head, int64_t row, int64_t column)
      : dims{batch, head, row, column},
        strides{head * row * column, row * column, column, 1} {}
  explicit Layout(const MaskBias &bias)
      : Layout(bias.dims()[0], bias.dims()[1], bias.dims()[2], bias.pitch()) {
    dims[3] = bias.dims()[3];
  }
  Layout transposed() const {
    Layout result = *this;
    std::swap(result.dims[2], result.dims[3]);
    std::swap(result.strides[2], result.strides[3]);
    return result;
  }
};

/// How the library computes attention; throws where it does not. `bias` is
/// added to the scores, null for none.
std::shared_ptr<CudnnPlan> makeAttentionPlan(Cudnn &library,
                                             const AttentionArgs &args,
                                             const MaskBias *bias);

} // namespace fp8c::rt::cuda

#endif // FP8C_LIB_RUNTIME_CUDA_ATTENTIONGRAPH_H
