//===- Attention.cpp - Which way attention goes ---------------------------===//
//
// Part of fp8c, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Attention.h"

#include <cstdlib>

using namespace fp8c::rt;
using namespace fp8c::rt::cuda;

/// For tests of our own attention: it computes everything.
static bool avoidsLibrary() {
  const char *text = std::getenv("FP8C_OWN_ATTENTION");
  return text && *text && *text != '0';
}

std::unique_ptr<Command>
fp8c::rt::cuda::makeAttention(CudaQueue &queue, const PreparedStep &step) {
  if (avoidsLibrary())
    return makeOwnAttention(queue, step, "FP8C_OWN_ATTENTION is set");
  Cudnn *library = queue.device.cudnn();
  if (!library)
    return makeOwnAttention(queue, step, "there is no libcudnn.so.9");
  std::string why;
  std::unique_ptr<Command> command =
      makeLibraryAttention(queue, *library, step, why);
  return command ? std::move(command)
                 : makeOwnAttention(queue, step, std::move(why));
}
