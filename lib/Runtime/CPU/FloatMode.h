//===- FloatMode.h - The processor's floating-point mode --------*- C++ -*-===//
//
// Part of fp8c, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef FP8C_LIB_RUNTIME_CPU_FLOATMODE_H
#define FP8C_LIB_RUNTIME_CPU_FLOATMODE_H

#if defined(__x86_64__)
#include <xmmintrin.h>
#endif

namespace fp8c::rt {

/// While it lives this thread rounds to nearest and keeps denormals; the
/// caller's mode (which may flush them) comes back afterwards.
class FloatMode {
public:
#if defined(__x86_64__)
  FloatMode() : saved(_mm_getcsr()) { _mm_setcsr(0x1F80); }
  ~FloatMode() { _mm_setcsr(saved); }

private:
  unsigned saved;
#endif
};

} // namespace fp8c::rt

#endif // FP8C_LIB_RUNTIME_CPU_FLOATMODE_H
