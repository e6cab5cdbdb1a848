//===- LibraryProduct.h - A product by cuBLASLt -----------------*- C++ -*-===//
//
// Part of fp8c, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef FP8C_LIB_RUNTIME_CUDA_LIBRARYPRODUCT_H
#define FP8C_LIB_RUNTIME_CUDA_LIBRARYPRODUCT_H

#include "CublasLt.h"
#include "CudaQueue.h"

namespace fp8c::rt::cuda {

/// A product in the library's terms. The library's matrices are column-major,
/// so it computes the transposed product: its A is our B.
struct LibraryForm {
  /// An operand: columns of `rows` elements, `leading` apart.
  struct Matrix {
    int type = 0;
    bool transposed = false;
    int64_t rows = 0, columns = 0, leading = 0, batchStride = 0;
  };
  Matrix a, b, d;
  int64_t batches = 1;
  LtScaleMode aScale = LtScaleMode::Tensor, bScale = LtScaleMode::Tensor;
  int computeType = kLtCompute32F;
  bool isF8 = false;

  /// Fills in the form; gives why there is none, or "".
  std::string set(const MatmulArgs &args, const ProductSizes &sizes);

private:
  std::string setBatches(const MatmulArgs &args);
  std::string setScales(const MatmulArgs &args, const ProductSizes &sizes);
};

/// The command, or null and why: the library refuses it.
std::unique_ptr<Command> makeLibraryProduct(CudaQueue &queue, CublasLt &library,
                                            const PreparedStep &step,
                                            std::string &why);

/// A product of f8 that the library refuses as it lies, of copies that it
/// takes: rows along K, a multiple of 16 bytes long and apart, with zeros at
/// their ends. Null where that does not help or pay. `why`: why it refuses.
std::unique_ptr<Command> makePaddedProduct(CudaQueue &queue, CublasLt &library,
                                           const PreparedStep &step,
                                           const std::string &why);

/// The product of decoded weights, by the library if there is one and it takes
/// them, else ours; null where weights of that type are not decoded. `why`:
/// says why there is no library, then why it is ours.
std::unique_ptr<Command> makeDecodedProduct(CudaQueue &queue, CublasLt *library,
                                            const PreparedStep &step,
                                            std::string &why);

} // namespace fp8c::rt::cuda

#endif // FP8C_LIB_RUNTIME_CUDA_LIBRARYPRODUCT_H
