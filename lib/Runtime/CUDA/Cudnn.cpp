//===- Cudnn.cpp - The part of cuDNN that is used -------------------------===//
//
// Part of fp8c, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Cudnn.h"

#include "Library.h"

using namespace fp8c::rt;
using namespace fp8c::rt::cuda;

std::unique_ptr<Cudnn> Cudnn::open() {
  static Library library{"libcudnn.so.9"};
  if (!library)
    return nullptr;
  std::unique_ptr<Cudnn> result(new Cudnn());
  bool complete = true;
#define FP8C_FIND(NAME, SYMBOL, RESULT, PARAMETERS)                            \
  library.get(result->NAME, SYMBOL);                                           \
  complete &= result->NAME != nullptr;
  FP8C_CUDNN_FUNCTIONS(FP8C_FIND)
#undef FP8C_FIND
  if (!complete || result->create(&result->handle) != 0)
    return nullptr;
  return result;
}

Cudnn::~Cudnn() {
  plans.clear();
  if (handle)
    destroy(handle);
}

void Cudnn::report(CudnnStatus status, const char *what) const {
  char text[512] = {};
  lastError(text, sizeof(text));
  fail(FP8RT_INTERNAL, what, ": ", errorString(status), text[0] ? ": " : "",
       text);
}
