//===- MaskBias.h - A mask as the library takes it --------------*- C++ -*-===//
//
// Part of fp8c, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef FP8C_LIB_RUNTIME_CUDA_MASKBIAS_H
#define FP8C_LIB_RUNTIME_CUDA_MASKBIAS_H

#include "CudaQueue.h"

namespace fp8c::rt::cuda {

/// An attention's mask as a tensor of numbers that are added to scores, with
/// rows of whole 16 bytes, and the rows that it leaves without a key: those of
/// the result are set to 0 afterwards.
class MaskBias {
public:
  MaskBias(CudaQueue &queue, const AttentionArgs &args);

  DType dtype() const { return type; }
  /// Extents of batch, head, query and key, 1 where one serves all.
  const int64_t *dims() const { return extents; }
  /// Elements from row to row.
  int64_t pitch() const { return rowPitch; }
  /// Memory that write() takes.
  int64_t bytes() const { return biasBytes + rows; }

  /// Begins with the tensor, aligned as `memory`.
  void write(char *memory) const;
  void clearRows(const char *memory) const;

private:
  CudaQueue &queue;
  const AttentionArgs &args;
  DType type;
  int64_t extents[4];
  int64_t rows, rowPitch, biasBytes;
};

} // namespace fp8c::rt::cuda

#endif // FP8C_LIB_RUNTIME_CUDA_MASKBIAS_H
