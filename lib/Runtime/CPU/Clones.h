//===- Clones.h - Functions compiled for several processors -----*- C++ -*-===//
//
// Part of fp8c, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef FP8C_LIB_RUNTIME_CPU_CLONES_H
#define FP8C_LIB_RUNTIME_CPU_CLONES_H

/// A function with loops that vectors make fast: compiled for x86-64-v4, -v3
/// and the base, the best one chosen when the library is loaded. (Sanitizers
/// run before that choice could.)
#if defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(memory_sanitizer)
#define FP8C_CLONES
#endif
#endif
#if !defined(FP8C_CLONES) && defined(__x86_64__)
#define FP8C_CLONES                                                            \
  __attribute__((target_clones("arch=x86-64-v4", "arch=x86-64-v3", "default")))
#elif !defined(FP8C_CLONES)
#define FP8C_CLONES
#endif

#endif // FP8C_LIB_RUNTIME_CPU_CLONES_H
