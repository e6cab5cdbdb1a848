//===- DotParams.h - Parameters of dot products -----------------*- C++ -*-===//
//
// Part of fp8c, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef FP8C_LIB_RUNTIME_CUDA_DOTPARAMS_H
#define FP8C_LIB_RUNTIME_CUDA_DOTPARAMS_H

#include "Device/Kernels.h"

namespace fp8c::rt::cuda {

inline int64_t getSize(Type type) {
  switch (type) {
  case Type::F64:
    return 8;
  case Type::F32:
    return 4;
  case Type::F16:
  case Type::BF16:
    return 2;
  default:
    return 1;
  }
}

/// `sharing`: getDotSharing.
inline DotParams makeDots(const ProductParams &p, uint32_t sharing) {
  auto matrix = [](const MatrixParams &m) {
    const int64_t size = getSize(m.type);
    return DotMatrix{m.data, m.rowStride * size, m.columnStride * size, m.type};
  };
  DotParams dots{};
  dots.a = p.a.data;
  dots.b = p.b.data;
  dots.aStride = matrix(p.a).rowStride;
  dots.bStride = matrix(p.b).columnStride;
  dots.n = p.n;
  dots.chunks = uint32_t(p.k * getSize(p.b.type) / 16);
  dots.m = uint8_t(p.m);
  dots.sharing = uint8_t(sharing);
  dots.batchRank = uint8_t(p.batchRank);
  dots.saturate = p.saturate != 0;
  const MatrixParams &aScale = p.aScale.scale, &bScale = p.bScale.scale;
  dots.aScale = {aScale.data, matrix(aScale).rowStride,
                 uint32_t(p.aScale.rowBlock), aScale.type};
  dots.bScale = {bScale.data, matrix(bScale).columnStride,
                 uint32_t(p.bScale.columnBlock), bScale.type};
  dots.bias = matrix(p.bias);
  dots.d = matrix(p.d);
  dots.resultScale = p.resultScale;
  dots.amax = p.amax;
  for (uint32_t i = 0; i < p.batchRank; ++i) {
    auto stride = [i](const MatrixParams &m) {
      return m.batchStrides[i] * getSize(m.type);
    };
    dots.batches[i] = {
        stride(p.a),    stride(p.b), stride(aScale),          stride(bScale),
        stride(p.bias), stride(p.d), uint32_t(p.batchDims[i])};
  }
  return dots;
}

} // namespace fp8c::rt::cuda

#endif // FP8C_LIB_RUNTIME_CUDA_DOTPARAMS_H
