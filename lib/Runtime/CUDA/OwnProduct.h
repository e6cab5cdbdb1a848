//===- OwnProduct.h - A product by our kernels ------------------*- C++ -*-===//
//
// Part of fp8c, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef FP8C_LIB_RUNTIME_CUDA_OWNPRODUCT_H
#define FP8C_LIB_RUNTIME_CUDA_OWNPRODUCT_H

#include "OwnKernels.h"
#include "ProductData.h"

namespace fp8c::rt::cuda {

class OwnProduct : public Command {
public:
  /// `why` says why it is ours.
  OwnProduct(CudaQueue &queue, const PreparedStep &step, std::string why);

  std::string describe() const override;
  void run() override { launch(ProductData::of(step.matmul)); }
  /// The same of operands that lie elsewhere.
  void launch(const ProductData &data);

private:
  /// A way to compute it.
  struct Form {
    Function function = nullptr;
    uint32_t grid = 0, threads = 0, shared = 0;
    const char *name = "";
    /// Has parameters of its own, and waits by itself for the kernel before it.
    bool isDots = false;
  };

  void setBatches();
  /// Blocks that compute `height` x `width` results each.
  uint32_t countBlocks(int64_t height, int64_t width) const;
  Form makeFewRows();
  Form makeAny() const;
  /// The form for operands at these addresses.
  const Form &getForm(const ProductData &data);

  CudaQueue &queue;
  const PreparedStep &step;
  const std::string why;
  /// For few rows at aligned addresses, where it is that; for any, made when
  /// needed: its kernels take long to load.
  std::optional<Form> fewRows, any;
  /// Dims of the result that are batches, counted from the last.
  std::vector<uint32_t> batchDims;
  ProductParams parameters{};
  /// Of dot products.
  uint32_t sharing = 0;
};

/// Whether this GPU computes it as dot products, a candidate beside a
/// library's.
bool isDots(const CudaDevice &device, const PreparedStep &step);

} // namespace fp8c::rt::cuda

#endif // FP8C_LIB_RUNTIME_CUDA_OWNPRODUCT_H
