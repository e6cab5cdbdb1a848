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

#include <cstdlib>

using namespace fp8c::rt;
using namespace fp8c::rt::cuda;

/// For tests of our own product: it computes everything.
static bool avoidsLibrary() {
  const char *text = std::getenv("FP8C_OWN_PRODUCTS");
  return text && *text && *text != '0';
}

std::unique_ptr<Command> fp8c::rt::cuda::makeProduct(CudaQueue &queue,
                                                     const PreparedStep &step) {
  if (avoidsLibrary())
    return makeOwnProduct(queue, step, "FP8C_OWN_PRODUCTS is set");
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
