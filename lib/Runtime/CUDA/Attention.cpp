//===- Attention.cpp - Which way attention goes ---------------------------===//
//
// Part of fp8c, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Attention.h"

using namespace fp8c::rt;
using namespace fp8c::rt::cuda;

/// For tests of our own attention: it computes everything.
std::unique_ptr<Command>
fp8c::rt::cuda::makeAttention(CudaQueue &queue, const PreparedStep &step) {
  if (queue.backends == FP8RT_BACKENDS_OWN)
    return makeOwnAttention(queue, step, "its own kernels are asked for");
  Cudnn *library = queue.device.cudnn();
  if (!library)
    return makeOwnAttention(queue, step, "there is no libcudnn.so.9");
  std::string why;
  std::unique_ptr<Command> command =
      makeLibraryAttention(queue, *library, step, why);
  return command ? std::move(command)
                 : makeOwnAttention(queue, step, std::move(why));
}
