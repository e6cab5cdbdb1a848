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

/// Whether our kernels take about as long as the library's, which needs 60 ms
/// and more for the first call of each new size.
static bool isSmall(const AttentionArgs &args) {
  constexpr int64_t kMostTerms = int64_t(1) << 27;
  const Tensor &query = *args.query;
  double terms = double(args.key->dims[2]);
  for (int i = 0; i < 4; ++i)
    terms *= double(query.dims[i]);
  return terms <= double(kMostTerms);
}

std::unique_ptr<Command>
fp8c::rt::cuda::makeAttention(CudaQueue &queue, const PreparedStep &step) {
  if (queue.backends == FP8RT_BACKENDS_OWN)
    return makeOwnAttention(queue, step, "its own kernels are asked for");
  if (queue.backends == FP8RT_BACKENDS_AUTO && isSmall(step.attention))
    return makeOwnAttention(queue, step, "it is small");
  Cudnn *library = queue.device.cudnn();
  if (!library)
    return makeOwnAttention(queue, step, "there is no libcudnn.so.9");
  std::string why;
  std::unique_ptr<Command> command =
      makeLibraryAttention(queue, *library, step, why);
  return command ? std::move(command)
                 : makeOwnAttention(queue, step, std::move(why));
}
