//===- FakeCublasLt.cpp - Products without a GPU --------------------------===//
//
// Part of fp8c, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A libcublasLt.so.13 that tests are linked with. It has one algorithm, a
// kernel of 280 blocks.
//
//===----------------------------------------------------------------------===//

#include "FakeState.h"

#include "../../../../lib/Runtime/CUDA/CublasLt.h"

#include <cstring>
#include <map>

using namespace fp8c::rt::cuda;

/// The addresses that products were described with last.
static std::map<int, uintptr_t> addresses;

static bool isAddress(int attribute) {
  switch (LtDescAttribute(attribute)) {
  case LtDescAttribute::BiasPointer:
  case LtDescAttribute::AScale:
  case LtDescAttribute::BScale:
  case LtDescAttribute::DScale:
  case LtDescAttribute::AmaxD:
    return true;
  default:
    return false;
  }
}

extern "C" {

LtStatus cublasLtMatmulDescSetAttribute(LtDesc, int attribute,
                                        const void *value, size_t size) {
  if (isAddress(attribute))
    std::memcpy(&addresses[attribute], value, size);
  return 0;
}

size_t cublasLtGetVersion() { return 130100; }
const char *cublasLtGetStatusName(LtStatus) { return "no error"; }
LtStatus cublasLtMatmulAlgoGetHeuristic(LtHandle, LtDesc, LtLayout, LtLayout,
                                        LtLayout, LtLayout, LtPreference, int,
                                        LtHeuristic *results, int *count) {
  results[0] = {};
  *count = 1;
  return 0;
}
LtStatus cublasLtMatmul(LtHandle, LtDesc, const void *, const void *, LtLayout,
                        const void *, LtLayout, const void *, const void *,
                        LtLayout, void *, LtLayout, const LtAlgorithm *, void *,
                        size_t, Stream stream) {
  // Nothing lies so low: what stood for an address while it was asked.
  constexpr uintptr_t kLowest = 4096;
  constexpr LtStatus kExecutionFailed = 13;
  for (auto [attribute, address] : addresses)
    if (address < kLowest)
      return kExecutionFailed;
  constexpr unsigned kBlocks = 280;
  return fake_launch(nullptr, kBlocks, 1, 1, 1, 1, 1, 0, stream, nullptr,
                     nullptr);
}

} // extern "C"
