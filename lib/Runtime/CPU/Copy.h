//===- Copy.h - Copies and fills on the CPU ---------------------*- C++ -*-===//
//
// Part of fp8c, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef FP8C_LIB_RUNTIME_CPU_COPY_H
#define FP8C_LIB_RUNTIME_CPU_COPY_H

#include "../Tensor.h"
#include "ThreadPool.h"

namespace fp8c::rt {

/// `target` takes `source`'s elements: equal dims and dtypes, any strides, no
/// overlap.
void copyTensor(const Tensor &source, const Tensor &target, ThreadPool &pool);

/// Every element of `target` gets the low bytes of `pattern`.
void fillTensor(const Tensor &target, uint64_t pattern, ThreadPool &pool);

} // namespace fp8c::rt

#endif // FP8C_LIB_RUNTIME_CPU_COPY_H
