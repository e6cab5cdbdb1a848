//===- Products.h - Which way a product goes --------------------*- C++ -*-===//
//
// Part of fp8c, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef FP8C_LIB_RUNTIME_CUDA_PRODUCTS_H
#define FP8C_LIB_RUNTIME_CUDA_PRODUCTS_H

#include "CudaQueue.h"

namespace fp8c::rt::cuda {

/// The library's product where its rules allow, else ours.
std::unique_ptr<Command> makeProduct(CudaQueue &queue,
                                     const PreparedStep &step);

} // namespace fp8c::rt::cuda

#endif // FP8C_LIB_RUNTIME_CUDA_PRODUCTS_H
