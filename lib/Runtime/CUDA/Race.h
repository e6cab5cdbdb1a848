//===- Race.h - Which of several commands is the fastest --------*- C++ -*-===//
//
// Part of fp8c, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef FP8C_LIB_RUNTIME_CUDA_RACE_H
#define FP8C_LIB_RUNTIME_CUDA_RACE_H

#include "CudaQueue.h"

#include <functional>

namespace fp8c::rt::cuda {

/// Rows, to the next power of two: products of about as many rows share a
/// choice.
int64_t roundRows(int64_t rows);

/// The fastest of `count` ways to compute something. `run` puts one into
/// `stream`, with operands of its turn; false: it cannot. The first counts as
/// the fastest unless another clearly is.
size_t
findFastest(CudaQueue &queue, Stream stream, size_t count,
            const std::function<bool(size_t candidate, size_t turn)> &run);

} // namespace fp8c::rt::cuda

#endif // FP8C_LIB_RUNTIME_CUDA_RACE_H
