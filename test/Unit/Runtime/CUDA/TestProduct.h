//===- TestProduct.h - A product as a plan has it ---------------*- C++ -*-===//
//
// Part of fp8c, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef FP8C_TEST_UNIT_RUNTIME_CUDA_TESTPRODUCT_H
#define FP8C_TEST_UNIT_RUNTIME_CUDA_TESTPRODUCT_H

#include "../../../../lib/Runtime/CUDA/ProductForms.h"

#include <array>

namespace fp8c::test {

/// m x k times weights of n rows along K, seen as k x n.
struct TestProduct {
  TestProduct(int64_t m, int64_t n, int64_t k, rt::DType a = rt::DType::BF16,
              rt::DType b = rt::DType::BF16)
      : sizes{m, n, k, 1} {
    args.a = set(0, a, m, k, k, 1);
    args.b = set(1, b, k, n, 1, k);
    args.d = set(2, rt::elementSize(a) == 2 ? a : rt::DType::BF16, m, n, n, 1);
  }
  TestProduct(const TestProduct &) = delete;

  const rt::Tensor *set(size_t i, rt::DType dtype, int64_t rows,
                        int64_t columns, int64_t rowStride,
                        int64_t columnStride) {
    dims[i] = {rows, columns};
    strides[i] = {rowStride, columnStride};
    tensors[i] = {dtype,          2,      dims[i].data(), strides[i].data(),
                  rows * columns, nullptr};
    return &tensors[i];
  }
  bool isDots() const { return rt::cuda::hasDots(args, sizes); }
  bool isFewRows() const { return rt::cuda::hasFewRows(args, sizes); }

  rt::MatmulArgs args;
  rt::ProductSizes sizes;
  std::array<std::array<int64_t, 2>, 5> dims, strides;
  std::array<rt::Tensor, 5> tensors;
};

} // namespace fp8c::test

#endif // FP8C_TEST_UNIT_RUNTIME_CUDA_TESTPRODUCT_H
