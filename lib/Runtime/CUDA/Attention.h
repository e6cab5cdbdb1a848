//===- Attention.h - Which way attention goes -------------------*- C++ -*-===//
//
// Part of fp8c, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef FP8C_LIB_RUNTIME_CUDA_ATTENTION_H
#define FP8C_LIB_RUNTIME_CUDA_ATTENTION_H

#include "CudaQueue.h"
#include "Device/Kernels.h"

namespace fp8c::rt::cuda {

class Cudnn;

/// The library's attention where its rules allow, else ours.
std::unique_ptr<Command> makeAttention(CudaQueue &queue,
                                       const PreparedStep &step);

/// Type and strides of an operand for our kernels, without its address.
AttentionOperand getOperand(const Tensor *tensor);

/// The command, or null and why: the library refuses it.
std::unique_ptr<Command> makeLibraryAttention(CudaQueue &queue, Cudnn &library,
                                              const PreparedStep &step,
                                              std::string &why);

/// `why` says why no library computes it.
std::unique_ptr<Command>
makeOwnAttention(CudaQueue &queue, const PreparedStep &step, std::string why);

} // namespace fp8c::rt::cuda

#endif // FP8C_LIB_RUNTIME_CUDA_ATTENTION_H
