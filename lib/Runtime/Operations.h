//===- Operations.h - Operands of the operations of a plan ------*- C++ -*-===//
//
// Part of fp8c, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef FP8C_LIB_RUNTIME_OPERATIONS_H
#define FP8C_LIB_RUNTIME_OPERATIONS_H

#include "Tensor.h"

#include <string>

namespace fp8c::rt {

/// The operands of plan.fbs' Matmul; absent ones are null.
struct MatmulArgs {
  const Tensor *a = nullptr;
  const Tensor *b = nullptr;
  const Tensor *d = nullptr;
  const Tensor *bias = nullptr;
  const Tensor *aScale = nullptr;
  const Tensor *bScale = nullptr;
  const Tensor *resultScale = nullptr;
  const Tensor *amax = nullptr;
  const Tensor *bDecode = nullptr;
  /// `a` with the zeros that follow each of its rows.
  const Tensor *aPadded = nullptr;
  DType bDecodeDType = DType::BF16;
  int64_t aBlockM = 0, aBlockK = 0, bBlockK = 0, bBlockN = 0;
  bool saturate = true;
  bool fastAccum = false;
};

/// The operands of plan.fbs' Attention; no mask: null.
struct AttentionArgs {
  const Tensor *query = nullptr;
  const Tensor *key = nullptr;
  const Tensor *value = nullptr;
  const Tensor *out = nullptr;
  const Tensor *mask = nullptr;
  float scale = 1;
  bool causal = false;
};

/// The sizes of a product, or of attention as one: queries, keys, head dim and
/// all heads.
struct ProductSizes {
  int64_t m = 0, n = 0, k = 0, batch = 0;
};

/// Throws unless the operands' dims fit each other; `where` names the step.
ProductSizes checkMatmul(const MatmulArgs &args, const std::string &where);
ProductSizes checkAttention(const AttentionArgs &args,
                            const std::string &where);
/// Throws unless both have the same dims.
void checkCopy(const Tensor &source, const Tensor &target,
               const std::string &where);

/// K extent over which no scale changes; 0 where none changes along K.
int64_t getScaleSegment(const MatmulArgs &args);

/// Stride of a dim counted from the last, 0 where its extent is 1.
inline int64_t strideFromLast(const Tensor &t, uint32_t fromLast) {
  uint32_t i = t.rank - 1 - fromLast;
  return t.dims[i] == 1 ? 0 : t.strides[i];
}

/// Elements from the first to that of batch `index` of a product with result
/// `d`; dims of size 1 broadcast.
int64_t getBatchOffset(const Tensor &t, const Tensor &d, int64_t index);

} // namespace fp8c::rt

#endif // FP8C_LIB_RUNTIME_OPERATIONS_H
