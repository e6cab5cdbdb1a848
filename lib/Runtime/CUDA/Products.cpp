//===- Products.cpp - Which way a product goes ----------------------------===//
//
// Part of fp8c, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Products.h"

#include "LibraryProduct.h"
#include "OwnKernels.h"

using namespace fp8c::rt;
using namespace fp8c::rt::cuda;

/// For tests of our own product: it computes everything.
std::unique_ptr<Command> fp8c::rt::cuda::makeProduct(CudaQueue &queue,
                                                     const PreparedStep &step) {
  if (queue.backends == FP8RT_BACKENDS_OWN)
    return makeOwnProduct(queue, step, "its own kernels are asked for");
  CublasLt *library = queue.device.cublasLt();
  if (!library)
    return makeOwnProduct(queue, step, "there is no libcublasLt.so.13 or .12");
  std::string why;
  std::unique_ptr<Command> command =
      step.matmul.bDecode ? makeDecodedProduct(queue, *library, step, why)
                          : makeLibraryProduct(queue, *library, step, why);
  return command ? std::move(command)
                 : makeOwnProduct(queue, step, std::move(why));
}
