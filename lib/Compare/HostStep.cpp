//===- HostStep.cpp - A step's values in the host's memory ----------------===//
//
// Part of fp8c, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "fp8c/Compare/HostStep.h"

using namespace fp8c;
using namespace fp8c::compare;
using rt::ObservedStep;
using rt::ObservedValue;

TensorView compare::view(const ObservedValue &value) {
  return {value.dtype, value.dims, value.strides, value.data};
}

namespace {
/// The bytes that a value's elements lie in, what is between them included.
struct Range {
  /// From the first element, in bytes; not positive.
  int64_t begin = 0;
  int64_t size = 0;

  explicit Range(const ObservedValue &value) {
    const int64_t bytes = elementBytes(value.dtype);
    int64_t low = 0, high = 0;
    for (size_t d = 0; d < value.dims.size(); ++d) {
      if (value.dims[d] == 0)
        return;
      const int64_t reach = (value.dims[d] - 1) * value.strides[d];
      (reach < 0 ? low : high) += reach;
    }
    begin = low * bytes;
    size = (high - low + 1) * bytes;
  }
};
} // namespace

HostStep::HostStep(const ObservedStep &step) : copy(step) {
  if (rt::isHostMemory(step))
    return;
  for (auto *values : {&copy.reads, &copy.writes})
    for (ObservedValue &value : *values) {
      const Range range(value);
      std::vector<char> &bytes = memory.emplace_back(range.size);
      rt::readMemory(step, bytes.data(),
                     static_cast<char *>(value.data) + range.begin,
                     bytes.size());
      value.data = bytes.data() - range.begin;
    }
}

void compare::storeElements(const ObservedStep &step,
                            const ObservedValue &value,
                            const TensorView &source) {
  if (rt::isHostMemory(step))
    return copyElements(source, view(value), value.data);
  const Range range(value);
  std::vector<char> bytes(range.size);
  char *begin = static_cast<char *>(value.data) + range.begin;
  rt::readMemory(step, bytes.data(), begin, bytes.size());
  copyElements(source, view(value), bytes.data() - range.begin);
  rt::writeMemory(step, begin, bytes.data(), bytes.size());
}
