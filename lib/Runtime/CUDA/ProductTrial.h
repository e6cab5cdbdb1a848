//===- ProductTrial.h - Measuring a product's candidates --------*- C++ -*-===//
//
// Part of fp8c, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef FP8C_LIB_RUNTIME_CUDA_PRODUCTTRIAL_H
#define FP8C_LIB_RUNTIME_CUDA_PRODUCTTRIAL_H

#include "CudaQueue.h"
#include "ProductData.h"

#include <functional>

namespace fp8c::rt::cuda {

/// The fastest of `count` ways to compute a product, on random numbers in
/// memory of its own that caches do not hold. `run` puts one into a stream,
/// which is the trial's and waits for what the caller's and the default stream
/// have; false: it cannot. The first counts as the fastest unless another
/// clearly is.
size_t findFastest(
    CudaQueue &queue, const MatmulArgs &args, size_t workspaceBytes,
    size_t count,
    const std::function<bool(size_t, const ProductData &, Stream)> &run);

} // namespace fp8c::rt::cuda

#endif // FP8C_LIB_RUNTIME_CUDA_PRODUCTTRIAL_H
