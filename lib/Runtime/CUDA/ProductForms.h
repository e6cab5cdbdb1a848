//===- ProductForms.h - Which of our kernels a product is for ---*- C++ -*-===//
//
// Part of fp8c, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef FP8C_LIB_RUNTIME_CUDA_PRODUCTFORMS_H
#define FP8C_LIB_RUNTIME_CUDA_PRODUCTFORMS_H

#include "../Operations.h"

namespace fp8c::rt::cuda {

/// Why tensor cores do not compute it, or "".
std::string whyNoTensorCores(const MatmulArgs &args);

/// Whether a kernel for few rows computes it: both operands are read in pieces
/// of 16 bytes along K.
bool hasFewRows(const MatmulArgs &args, const ProductSizes &sizes);

/// Whether these are so few that it is dot products, which need no tensor
/// cores.
bool hasDots(const MatmulArgs &args, const ProductSizes &sizes);

/// Of a product that is dot products: the logarithm of how many warps share
/// columns. So few columns that they would leave multiprocessors idle are
/// shared, as long as each warp has a turn along K.
uint32_t getDotSharing(const MatmulArgs &args, const ProductSizes &sizes,
                       int multiprocessors);

} // namespace fp8c::rt::cuda

#endif // FP8C_LIB_RUNTIME_CUDA_PRODUCTFORMS_H
