//===- Tensor.cpp - A tensor in memory ------------------------------------===//
//
// Part of fp8c, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "fp8c/Compare/Tensor.h"

#include "fp8c/Support/FP8Rounding.h"

#include <cstring>

using namespace fp8c;
using namespace fp8c::compare;

TensorView TensorView::dense(DType dtype, std::vector<int64_t> dims,
                             const void *data) {
  TensorView view{dtype, std::move(dims), {}, data};
  view.strides.resize(view.dims.size());
  int64_t stride = 1;
  for (size_t d = view.dims.size(); d-- > 0;) {
    view.strides[d] = stride;
    stride *= view.dims[d];
  }
  return view;
}

int64_t TensorView::numElements() const {
  int64_t count = 1;
  for (int64_t dim : dims)
    count *= dim;
  return count;
}

int64_t TensorView::offset(int64_t linear) const {
  int64_t result = 0;
  for (size_t d = dims.size(); d-- > 0;) {
    result += linear % dims[d] * strides[d];
    linear /= dims[d];
  }
  return result;
}

unsigned compare::elementBytes(DType dtype) {
  switch (dtype) {
  case DType::Bool:
  case DType::U8:
  case DType::I8:
  case DType::E4M3FN:
  case DType::E5M2:
  case DType::E8M0FNU:
    return 1;
  case DType::I16:
  case DType::F16:
  case DType::BF16:
    return 2;
  case DType::I32:
  case DType::F32:
    return 4;
  case DType::I64:
  case DType::F64:
    return 8;
  }
  return 0;
}

bool compare::isFloat(DType dtype) {
  return dtype >= DType::F16 && dtype <= DType::E8M0FNU;
}

/// The element of type T at `offset`.
template <typename T> static T load(const void *data, int64_t offset) {
  T value;
  std::memcpy(&value, static_cast<const char *>(data) + offset * sizeof(T),
              sizeof(T));
  return value;
}

uint64_t compare::loadBits(DType dtype, const void *data, int64_t offset) {
  switch (elementBytes(dtype)) {
  case 1:
    return load<uint8_t>(data, offset);
  case 2:
    return load<uint16_t>(data, offset);
  case 4:
    return load<uint32_t>(data, offset);
  default:
    return load<uint64_t>(data, offset);
  }
}

double compare::loadValue(DType dtype, const void *data, int64_t offset) {
  switch (dtype) {
  case DType::Bool:
  case DType::U8:
    return load<uint8_t>(data, offset);
  case DType::I8:
    return load<int8_t>(data, offset);
  case DType::I16:
    return load<int16_t>(data, offset);
  case DType::I32:
    return load<int32_t>(data, offset);
  case DType::I64:
    return double(load<int64_t>(data, offset));
  case DType::F16:
    return decodeF16(load<uint16_t>(data, offset));
  case DType::BF16:
    return decodeBF16(load<uint16_t>(data, offset));
  case DType::F32:
    return load<float>(data, offset);
  case DType::F64:
    return load<double>(data, offset);
  case DType::E4M3FN:
    return decodeF8(load<uint8_t>(data, offset), F8Format::E4M3FN);
  case DType::E5M2:
    return decodeF8(load<uint8_t>(data, offset), F8Format::E5M2);
  case DType::E8M0FNU:
    return decodeF8(load<uint8_t>(data, offset), F8Format::E8M0FNU);
  }
  return 0;
}

void compare::copyElements(const TensorView &source, const TensorView &target,
                           void *targetData) {
  const unsigned bytes = elementBytes(target.dtype);
  const char *from = static_cast<const char *>(source.data);
  char *to = static_cast<char *>(targetData);
  int64_t linear = 0;
  forEachOffset(target, [&](int64_t offset) {
    std::memcpy(to + offset * bytes, from + source.offset(linear++) * bytes,
                bytes);
  });
}

std::string compare::formatDims(const std::vector<int64_t> &dims) {
  std::string text;
  for (int64_t dim : dims)
    text += (text.empty() ? "" : "x") + std::to_string(dim);
  return text.empty() ? "scalar" : text;
}
