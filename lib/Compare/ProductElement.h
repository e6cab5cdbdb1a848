//===- ProductElement.h - The terms of one element --------------*- C++ -*-===//
//
// Part of fp8c, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef FP8C_LIB_COMPARE_PRODUCTELEMENT_H
#define FP8C_LIB_COMPARE_PRODUCTELEMENT_H

#include "fp8c/Compare/References.h"

namespace fp8c::compare {

/// Value of a scale for the element of its operand at `index`: one scale holds
/// over `blockRow` x `blockColumn` of the last two dims.
double loadScale(const TensorView &scale, const std::vector<int64_t> &index,
                 int64_t blockRow, int64_t blockColumn);

/// The offset of `index`, dims of size 1 broadcast, aligned at the end.
int64_t broadcastOffset(const TensorView &tensor,
                        const std::vector<int64_t> &index);

/// To nearest, ties to even, with the bits of bf16 or f16 (without their ends).
double roundBits(DType dtype, double value);

/// One element of a product's result.
class ProductElement {
public:
  ProductElement(const Product &p, int64_t linear)
      : p(p), index(p.d.dims.size()) {
    for (size_t d = index.size(); d-- > 0;) {
      index[d] = linear % p.d.dims[d];
      linear /= p.d.dims[d];
    }
    aIndex = bIndex = index;
  }

  int64_t getDepth() const { return p.a.dims.back(); }
  /// Term `k` without its scales; of a decoded weight.
  double getTerm(int64_t k) {
    moveTo(k);
    double b = loadValue(p.b.dtype, p.b.data, broadcastOffset(p.b, bIndex));
    if (p.bDecode) {
      b *= loadScale(*p.bDecode, bIndex, p.bBlockK, p.bBlockN);
      if (elementBytes(p.a.dtype) == 2)
        b = roundBits(p.a.dtype, b);
    }
    return loadValue(p.a.dtype, p.a.data, broadcastOffset(p.a, aIndex)) * b;
  }
  /// What term `k` is multiplied with.
  double getScale(int64_t k) {
    moveTo(k);
    double scale = 1;
    if (p.aScale)
      scale *= loadScale(*p.aScale, aIndex, p.aBlockM, p.aBlockK);
    if (p.bScale)
      scale *= loadScale(*p.bScale, bIndex, p.bBlockK, p.bBlockN);
    return scale;
  }
  double getBias() const {
    return p.bias ? loadValue(p.bias->dtype, p.bias->data,
                              broadcastOffset(*p.bias, index))
                  : 0;
  }
  double getResultScale() const {
    return p.resultScale
               ? loadValue(p.resultScale->dtype, p.resultScale->data, 0)
               : 1;
  }

private:
  void moveTo(int64_t k) {
    aIndex[index.size() - 1] = k;
    bIndex[index.size() - 2] = k;
  }

  const Product &p;
  std::vector<int64_t> index, aIndex, bIndex;
};

} // namespace fp8c::compare

#endif // FP8C_LIB_COMPARE_PRODUCTELEMENT_H
