//===- Tensor.h - A tensor in memory ----------------------------*- C++ -*-===//
//
// Part of fp8c, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef FP8C_COMPARE_TENSOR_H
#define FP8C_COMPARE_TENSOR_H

#include "fp8c/Package/plan_generated.h"

#include <cstdint>
#include <string>
#include <vector>

namespace fp8c::compare {

using DType = plan::wire::DType;

/// A tensor in somebody else's memory. Strides are in elements, any.
struct TensorView {
  DType dtype;
  std::vector<int64_t> dims;
  std::vector<int64_t> strides;
  const void *data;

  /// A dense, row-major tensor.
  static TensorView dense(DType dtype, std::vector<int64_t> dims,
                          const void *data);
  int64_t numElements() const;
  /// Where element `linear` (row-major position) is, in elements.
  int64_t offset(int64_t linear) const;
};

/// Bytes of an element.
unsigned elementBytes(DType dtype);
/// Whether values of the type are rounded numbers: not bool, not integers.
bool isFloat(DType dtype);
/// The bits of the element at `offset` elements after `data`.
uint64_t loadBits(DType dtype, const void *data, int64_t offset);
/// The value of an element, exactly (i64 beyond 2^53 rounds).
double loadValue(DType dtype, const void *data, int64_t offset);
/// Writes the elements of `source` in row-major order over those of `target`,
/// which is of the same type and number of elements.
void copyElements(const TensorView &source, const TensorView &target,
                  void *targetData);
/// "2x24x64".
std::string formatDims(const std::vector<int64_t> &dims);

/// Calls `visit(offset)` for each element in row-major order.
template <typename Visitor>
void forEachOffset(const TensorView &tensor, Visitor visit) {
  const size_t rank = tensor.dims.size();
  for (int64_t dim : tensor.dims)
    if (dim == 0)
      return;
  std::vector<int64_t> index(rank, 0);
  int64_t offset = 0;
  while (true) {
    visit(offset);
    size_t d = rank;
    while (d > 0) {
      --d;
      offset += tensor.strides[d];
      if (++index[d] < tensor.dims[d])
        break;
      offset -= tensor.strides[d] * tensor.dims[d];
      index[d] = 0;
      if (d == 0)
        return;
    }
    if (rank == 0)
      return;
  }
}

} // namespace fp8c::compare

#endif // FP8C_COMPARE_TENSOR_H
