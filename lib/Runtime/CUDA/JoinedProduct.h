//===- JoinedProduct.h - A product and a launch as one ----------*- C++ -*-===//
//
// Part of fp8c, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef FP8C_LIB_RUNTIME_CUDA_JOINEDPRODUCT_H
#define FP8C_LIB_RUNTIME_CUDA_JOINEDPRODUCT_H

#include "CudaQueue.h"

#include "fp8c/Package/JoinedProduct.h"

namespace fp8c::rt::cuda {

/// Whether the frame can compute the product and the launch, which reads
/// `result`, at addresses that vectors fit.
bool canJoin(const PreparedStep &product, const PreparedStep &launch,
             const Tensor &result);

/// One command for a product and the launch that joins it, where that is
/// allowed and likely, or measured, to be faster than the two; else null.
std::unique_ptr<Command> makeJoinedProduct(CudaQueue &queue,
                                           const PreparedStep &product,
                                           const PreparedStep &launch);

/// The same in this form, which the device and the operands' sizes and strides
/// allow.
std::unique_ptr<Command> makeJoinedProduct(CudaQueue &queue,
                                           const PreparedStep &product,
                                           const PreparedStep &launch,
                                           const package::JoinedForm &form);

/// The form to take at these sizes, the fastest by measurement; null: two
/// commands are faster.
const package::JoinedForm *findFastestForm(CudaQueue &queue,
                                           const PreparedStep &product,
                                           const PreparedStep &launch);

} // namespace fp8c::rt::cuda

#endif // FP8C_LIB_RUNTIME_CUDA_JOINEDPRODUCT_H
