//===- TrialMemory.cpp - Operands to measure commands with ----------------===//
//
// Part of fp8c, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "TrialMemory.h"

#include <algorithm>
#include <random>

using namespace fp8c::rt;
using namespace fp8c::rt::cuda;

int64_t fp8c::rt::cuda::spanBytes(const Tensor &t) {
  if (t.elements == 0)
    return 0;
  int64_t last = 0;
  for (uint32_t i = 0; i < t.rank; ++i)
    last += (t.dims[i] - 1) * t.strides[i];
  return (last + 1) * elementSize(t.dtype);
}

size_t fp8c::rt::cuda::countTurns(int64_t bytes, int64_t most) {
  constexpr int64_t kTogether = 120 << 20;
  return size_t(
      std::clamp<int64_t>(kTogether / std::max<int64_t>(bytes, 1), 1, most));
}

void *TrialMemory::makeNumbers(const Tensor *t) {
  if (!t)
    return nullptr;
  constexpr int64_t kPattern = 1 << 20;
  const int64_t size = elementSize(t->dtype);
  const int64_t bytes = spanBytes(*t);
  std::vector<uint8_t> pattern(
      size_t(std::min(kPattern, (bytes + size - 1) / size * size)));
  std::minstd_rand generator(1);
  for (size_t i = 0; i < pattern.size(); ++i) {
    pattern[i] = uint8_t(generator() >> 8);
    // The byte of sign and exponent: no NaN, nothing large.
    if (int64_t(i) % size == size - 1)
      pattern[i] = size == 1 ? pattern[i] & 0xBF : (pattern[i] & 0x87) | 0x38;
  }
  char *data = static_cast<char *>(allocate(bytes));
  int64_t done = std::min(bytes, int64_t(pattern.size()));
  const Driver &driver = queue.driver;
  queue.device.upload(data, pattern.data(), size_t(done));
  for (int64_t next; done < bytes; done += next) {
    next = std::min(done, bytes - done);
    driver.check(driver.copyAsync(reinterpret_cast<Pointer>(data + done),
                                  reinterpret_cast<Pointer>(data), size_t(next),
                                  stream()),
                 "cuMemcpyDtoDAsync");
  }
  return data;
}

void *TrialMemory::makeOnes(const Tensor *t) {
  if (!t)
    return nullptr;
  constexpr unsigned kOne = 0x3F800000;
  const int64_t bytes = spanBytes(*t);
  void *data = allocate(bytes);
  queue.driver.check(queue.driver.set32Async(reinterpret_cast<Pointer>(data),
                                             kOne, size_t((bytes + 3) / 4),
                                             stream()),
                     "cuMemsetD32Async");
  return data;
}
