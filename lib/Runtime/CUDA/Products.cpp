//===- Products.cpp - Which way a product goes ----------------------------===//
//
// Part of fp8c, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Products.h"

#include "LibraryProduct.h"
#include "OwnProduct.h"
#include "ProductForms.h"

using namespace fp8c::rt;
using namespace fp8c::rt::cuda;

std::unique_ptr<Command> fp8c::rt::cuda::makeProduct(CudaQueue &queue,
                                                     const PreparedStep &step) {
  if (step.matmul.bDecode && hasFewRows(step.matmul, step.product))
    return std::make_unique<OwnProduct>(
        queue, step, "it decodes the weights of few rows as it reads them");
  CublasLt *library = nullptr;
  std::string why = "its own kernels are asked for";
  if (queue.backends != FP8RT_BACKENDS_OWN) {
    library = queue.device.cublasLt();
    why = "there is no libcublasLt.so.13 or .12";
  }
  std::unique_ptr<Command> command;
  if (step.matmul.bDecode)
    command = makeDecodedProduct(queue, library, step, why);
  else if (library)
    command = makeLibraryProduct(queue, *library, step, why);
  if (!command && library)
    command = makePaddedProduct(queue, *library, step, why);
  if (!command)
    command = std::make_unique<OwnProduct>(queue, step, std::move(why));
  return command;
}
