//===- ProductData.h - Where the operands of a product lie ------*- C++ -*-===//
//
// Part of fp8c, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef FP8C_LIB_RUNTIME_CUDA_PRODUCTDATA_H
#define FP8C_LIB_RUNTIME_CUDA_PRODUCTDATA_H

#include "../Operations.h"

namespace fp8c::rt::cuda {

/// Addresses of operands; of absent ones null.
struct ProductData {
  void *a = nullptr, *b = nullptr, *d = nullptr, *bias = nullptr,
       *aScale = nullptr, *bScale = nullptr, *bDecode = nullptr,
       *resultScale = nullptr, *amax = nullptr;
  /// A library's.
  void *workspace = nullptr;

  static ProductData of(const MatmulArgs &args, void *workspace = nullptr) {
    auto data = [](const Tensor *t) { return t ? t->data : nullptr; };
    return {data(args.a),       data(args.b),           data(args.d),
            data(args.bias),    data(args.aScale),      data(args.bScale),
            data(args.bDecode), data(args.resultScale), data(args.amax),
            workspace};
  }
};

} // namespace fp8c::rt::cuda

#endif // FP8C_LIB_RUNTIME_CUDA_PRODUCTDATA_H
