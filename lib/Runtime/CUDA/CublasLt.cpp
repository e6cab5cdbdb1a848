//===- CublasLt.cpp - The part of cuBLASLt that is used -------------------===//
//
// Part of fp8c, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "CublasLt.h"

using namespace fp8c::rt;
using namespace fp8c::rt::cuda;

std::unique_ptr<CublasLt> CublasLt::open() {
  static Library library{"libcublasLt.so.13", "libcublasLt.so.12"};
  return openWithHandle<CublasLt>(library);
}

int CublasLt::getType(DType dtype) {
  switch (dtype) {
  case DType::F16:
    return 2;
  case DType::BF16:
    return 14;
  case DType::F32:
    return 0;
  case DType::F64:
    return 1;
  case DType::E4M3FN:
    return 28;
  case DType::E5M2:
    return 29;
  default:
    return -1;
  }
}
