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

using namespace fp8c::rt::cuda;

extern "C" {

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
  constexpr unsigned kBlocks = 280;
  return fake_launch(nullptr, kBlocks, 1, 1, 1, 1, 1, 0, stream, nullptr,
                     nullptr);
}

} // extern "C"
