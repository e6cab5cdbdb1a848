//===- Multiply.h - Multiplying tiles by wgmma ------------------*- C++ -*-===//
//
// Part of fp8c, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef FP8C_LIB_CODEGEN_NVVM_DEVICE_MULTIPLY_H
#define FP8C_LIB_CODEGEN_NVVM_DEVICE_MULTIPLY_H

#include "Form.h"

namespace fp8c::joined {

/// The sums of 64 rows of a tile that a thread has.
using Sums = float[kColumns / 2];

/// Where 64 or more rows of 128 swizzled bytes begin, in the terms of wgmma.
FP8C_INLINE uint64_t describe(uint32_t address) {
  return uint64_t((address & 0x3FFFF) >> 4) | uint64_t(1) << 16 |
         uint64_t(1024 / 16) << 32 | uint64_t(1) << 62;
}

// The operands of wgmma, eight at a time.
#define FP8C_8(F, I)                                                           \
  F(I), F(I + 1), F(I + 2), F(I + 3), F(I + 4), F(I + 5), F(I + 6), F(I + 7)
#define FP8C_32(F, I)                                                          \
  FP8C_8(F, I), FP8C_8(F, I + 8), FP8C_8(F, I + 16), FP8C_8(F, I + 24)
#define FP8C_SUM(I) "+f"(d[I])
#define FP8C_0_63                                                              \
  "%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15, "     \
  "%16, %17, %18, %19, %20, %21, %22, %23, %24, %25, %26, %27, %28, %29, "     \
  "%30, %31, %32, %33, %34, %35, %36, %37, %38, %39, %40, %41, %42, %43, "     \
  "%44, %45, %46, %47, %48, %49, %50, %51, %52, %53, %54, %55, %56, %57, "     \
  "%58, %59, %60, %61, %62, %63"
#define FP8C_64_127                                                            \
  "%64, %65, %66, %67, %68, %69, %70, %71, %72, %73, %74, %75, %76, %77, "     \
  "%78, %79, %80, %81, %82, %83, %84, %85, %86, %87, %88, %89, %90, %91, "     \
  "%92, %93, %94, %95, %96, %97, %98, %99, %100, %101, %102, %103, %104, "     \
  "%105, %106, %107, %108, %109, %110, %111, %112, %113, %114, %115, %116, "   \
  "%117, %118, %119, %120, %121, %122, %123, %124, %125, %126, %127"
#define FP8C_WGMMA(N, REGISTERS, A, B, ADDS)                                   \
  "{\n\t.reg .pred p;\n\t"                                                     \
  "setp.ne.b32 p, " ADDS ", 0;\n\t"                                            \
  "wgmma.mma_async.sync.aligned.m64n" N "k32.f32.e4m3.e4m3 "                   \
  "{" REGISTERS "}, " A ", " B ", p, 1, 1;\n\t}"

/// d = a * b, or d += a * b: 64 rows of 32 bytes of K by the tile's columns.
FP8C_INLINE void multiply(Sums &d, uint64_t a, uint64_t b, bool adds) {
  if constexpr (kColumns == 256)
    asm volatile(
        FP8C_WGMMA("256", FP8C_0_63 ", " FP8C_64_127, "%128", "%129", "%130")
        : FP8C_32(FP8C_SUM, 0), FP8C_32(FP8C_SUM, 32), FP8C_32(FP8C_SUM, 64),
          FP8C_32(FP8C_SUM, 96)
        : "l"(a), "l"(b), "r"(uint32_t(adds)));
  else
    asm volatile(FP8C_WGMMA("128", FP8C_0_63, "%64", "%65", "%66")
                 : FP8C_32(FP8C_SUM, 0), FP8C_32(FP8C_SUM, 32)
                 : "l"(a), "l"(b), "r"(uint32_t(adds)));
}

} // namespace fp8c::joined

#endif // FP8C_LIB_CODEGEN_NVVM_DEVICE_MULTIPLY_H
