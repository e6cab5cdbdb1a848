//===- Copy.cpp - Copies and fills on the CPU -----------------------------===//
//
// Part of fp8c, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Copy.h"

#include <cstring>

using namespace fp8c::rt;

/// Elements a task should have at least.
static constexpr int64_t kGrain = 16384;

/// The element offset of row `row` of all dims but the last.
static int64_t rowOffset(const Tensor &t, int64_t row) {
  int64_t offset = 0;
  for (uint32_t i = t.rank - 1; i-- > 0;) {
    offset += row % t.dims[i] * t.strides[i];
    row /= t.dims[i];
  }
  return offset;
}

template <typename T>
static void copyRow(const char *from, int64_t fromStride, char *to,
                    int64_t toStride, int64_t n) {
  auto *in = reinterpret_cast<const T *>(from);
  auto *out = reinterpret_cast<T *>(to);
  for (int64_t i = 0; i < n; ++i)
    out[i * toStride] = in[i * fromStride];
}

template <typename T>
static void fillRow(char *to, int64_t stride, int64_t n, uint64_t pattern) {
  auto *out = reinterpret_cast<T *>(to);
  for (int64_t i = 0; i < n; ++i)
    out[i * stride] = static_cast<T>(pattern);
}

/// Calls `row(offset...)` for every row of the last dim, on all threads.
template <typename Fn>
static void forEachRow(const Tensor &t, ThreadPool &pool, Fn row) {
  int64_t n = t.rank ? t.dims[t.rank - 1] : 1;
  if (t.elements == 0)
    return;
  int64_t rows = t.elements / n;
  int64_t grain = n >= kGrain ? 1 : kGrain / n;
  pool.run(rows, grain, [&](int64_t begin, int64_t end, int) {
    for (int64_t r = begin; r < end; ++r)
      row(r, n);
  });
}

void fp8c::rt::copyTensor(const Tensor &source, const Tensor &target,
                          ThreadPool &pool) {
  int64_t size = elementSize(source.dtype);
  int64_t from = source.rank ? source.strides[source.rank - 1] : 1;
  int64_t to = target.rank ? target.strides[target.rank - 1] : 1;
  forEachRow(target, pool, [&](int64_t r, int64_t n) {
    int64_t in = source.rank ? rowOffset(source, r) : 0;
    int64_t out = target.rank ? rowOffset(target, r) : 0;
    const char *src = source.data + in * size;
    char *dst = target.data + out * size;
    if (from == 1 && to == 1)
      std::memcpy(dst, src, size_t(n * size));
    else if (size == 1)
      copyRow<uint8_t>(src, from, dst, to, n);
    else if (size == 2)
      copyRow<uint16_t>(src, from, dst, to, n);
    else if (size == 4)
      copyRow<uint32_t>(src, from, dst, to, n);
    else
      copyRow<uint64_t>(src, from, dst, to, n);
  });
}

void fp8c::rt::fillTensor(const Tensor &target, uint64_t pattern,
                          ThreadPool &pool) {
  int64_t size = elementSize(target.dtype);
  int64_t stride = target.rank ? target.strides[target.rank - 1] : 1;
  forEachRow(target, pool, [&](int64_t r, int64_t n) {
    char *dst = target.data + (target.rank ? rowOffset(target, r) : 0) * size;
    if (size == 1)
      fillRow<uint8_t>(dst, stride, n, pattern);
    else if (size == 2)
      fillRow<uint16_t>(dst, stride, n, pattern);
    else if (size == 4)
      fillRow<uint32_t>(dst, stride, n, pattern);
    else
      fillRow<uint64_t>(dst, stride, n, pattern);
  });
}
