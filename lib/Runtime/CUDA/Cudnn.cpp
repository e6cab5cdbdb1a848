//===- Cudnn.cpp - The part of cuDNN that is used -------------------------===//
//
// Part of fp8c, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Cudnn.h"

using namespace fp8c::rt;
using namespace fp8c::rt::cuda;

std::unique_ptr<Cudnn> Cudnn::open() {
  static Library library{"libcudnn.so.9"};
  return openWithHandle<Cudnn>(library);
}

void Cudnn::report(CudnnStatus status, const char *what) const {
  char text[512] = {};
  lastError(text, sizeof(text));
  fail(FP8RT_INTERNAL, what, ": ", errorString(status), text[0] ? ": " : "",
       text);
}
