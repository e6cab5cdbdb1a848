//===- DecodedProduct.cpp - A product with decoded weights ----------------===//
//
// Part of fp8c, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "../MemoryPlanner.h"
#include "Device/Kernels.h"
#include "LibraryProduct.h"
#include "MatrixParams.h"
#include "OwnProduct.h"

#include <algorithm>

using namespace fp8c::rt;
using namespace fp8c::rt::cuda;

namespace {

/// Decodes the weights to scratch memory, for a product of bf16 or f16: nothing
/// multiplies bf16 with f8.
class DecodedProduct : public Command {
public:
  DecodedProduct(CudaQueue &queue, const PreparedStep &step);

  void prepare(CublasLt *library, std::string why);
  int64_t scratchBytes() const override {
    return decodedAt() + decoded.elements * elementSize(decoded.dtype);
  }
  std::string describe() const override {
    return "weights decoded, " + product->describe();
  }
  void run() override;

private:
  /// Behind the product's own scratch.
  int64_t decodedAt() const {
    return alignUp(product->scratchBytes(), kScratchAlignment);
  }

  CudaQueue &queue;
  const MatmulArgs &args;
  Function function;
  DecodeParams parameters{};
  int64_t dims[2], strides[2];
  Tensor decoded;
  /// The same product of the decoded weights.
  PreparedStep inner;
  std::unique_ptr<Command> product;
};

} // namespace

DecodedProduct::DecodedProduct(CudaQueue &queue, const PreparedStep &step)
    : queue(queue), args(step.matmul),
      function(queue.device.ownKernels().decode()) {
  const Tensor &b = *args.b;
  parameters.b = makeMatrix(&b, {});
  parameters.scale = makeScale(args.bDecode, args.bBlockK, args.bBlockN, {});
  parameters.type = getType(args.bDecodeDType);
  parameters.k = dims[0] = step.product.k;
  parameters.n = dims[1] = step.product.n;
  strides[0] = 1;
  strides[1] = parameters.k;
  decoded = {args.bDecodeDType,           2,      dims, strides,
             parameters.k * parameters.n, nullptr};
  inner.wire = step.wire;
  inner.matmul = args;
  inner.product = step.product;
  inner.matmul.b = &decoded;
  inner.matmul.bDecode = nullptr;
}

void DecodedProduct::prepare(CublasLt *library, std::string why) {
  if (library)
    product = makeLibraryProduct(queue, *library, inner, why);
  if (!product)
    product = std::make_unique<OwnProduct>(queue, inner, std::move(why));
}

void DecodedProduct::run() {
  decoded.data = queue.scratch() + decodedAt();
  parameters.b.data = args.b->data;
  parameters.scale.scale.data = args.bDecode->data;
  parameters.target = decoded.data;
  constexpr int64_t kMaxBlocks = 4096;
  const int64_t units =
      (parameters.k + kDecodeUnit - 1) / kDecodeUnit * parameters.n;
  void *arguments[] = {&parameters};
  queue.launch(function,
               uint32_t(std::min((units + kDecodeThreads - 1) / kDecodeThreads,
                                 kMaxBlocks)),
               1, kDecodeThreads, 0, arguments);
  product->run();
}

std::unique_ptr<Command>
fp8c::rt::cuda::makeDecodedProduct(CudaQueue &queue, CublasLt *library,
                                   const PreparedStep &step, std::string &why) {
  const MatmulArgs &args = step.matmul;
  if ((args.bDecodeDType != DType::BF16 && args.bDecodeDType != DType::F16) ||
      (args.b->dtype != DType::E4M3FN && args.b->dtype != DType::E5M2) ||
      args.b->elements != step.product.k * step.product.n || !args.b->elements)
    return nullptr;
  auto product = std::make_unique<DecodedProduct>(queue, step);
  product->prepare(library, std::move(why));
  return product;
}
