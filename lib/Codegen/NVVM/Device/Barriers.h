//===- Barriers.h - How threads of a joined product meet --------*- C++ -*-===//
//
// Part of fp8c, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef FP8C_LIB_CODEGEN_NVVM_DEVICE_BARRIERS_H
#define FP8C_LIB_CODEGEN_NVVM_DEVICE_BARRIERS_H

#include "Form.h"

namespace fp8c::joined {

FP8C_INLINE uint32_t threadIndex() { return __nvvm_read_ptx_sreg_tid_x(); }
FP8C_INLINE bool isElected() {
  uint32_t is;
  asm volatile("{\n\t.reg .pred p;\n\t"
               "elect.sync _|p, 0xffffffff;\n\t"
               "selp.u32 %0, 1, 0, p;\n\t}"
               : "=r"(is));
  return is;
}

FP8C_INLINE void initBarrier(uint32_t barrier, uint32_t arrivals) {
  asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(barrier),
               "r"(arrivals)
               : "memory");
}
FP8C_INLINE void expectBytes(uint32_t barrier, uint32_t bytes) {
  asm volatile(
      "mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(barrier),
      "r"(bytes)
      : "memory");
}
FP8C_INLINE void awaitPhase(uint32_t barrier, uint32_t parity) {
  asm volatile("{\n\t.reg .pred p;\n\t"
               "WAIT%=:\n\t"
               "mbarrier.try_wait.parity.shared::cta.b64 p, [%0], %1;\n\t"
               "@!p bra WAIT%=;\n\t}" ::"r"(barrier),
               "r"(parity)
               : "memory");
}
/// A stage is free, for both blocks of a pair, who write to each other's. (The
/// form with a release at cluster scope would be a barrier of the whole GPU.)
FP8C_INLINE void giveBack(uint32_t barrier) {
  const uint32_t lane = threadIndex() % 32;
  if constexpr (kIsPair) {
    if (lane < 2)
      asm volatile(
          "{\n\t.reg .u32 there;\n\t"
          "mapa.shared::cluster.u32 there, %0, %1;\n\t"
          "mbarrier.arrive.shared::cluster.b64 _, [there];\n\t}" ::"r"(barrier),
          "r"(lane)
          : "memory");
  } else if (lane == 0) {
    asm volatile("mbarrier.arrive.shared::cta.b64 _, [%0];" ::"r"(barrier)
                 : "memory");
  }
}
FP8C_INLINE void meetPair() {
  if constexpr (kIsPair) {
    asm volatile("barrier.cluster.arrive.relaxed.aligned;" ::: "memory");
    asm volatile("barrier.cluster.wait.aligned;" ::: "memory");
  }
}
/// Turns of the two warpgroups that multiply.
FP8C_INLINE void awaitTurn(uint32_t group) {
  asm volatile("bar.sync %0, 256;" ::"r"(4 + group) : "memory");
}
FP8C_INLINE void giveTurn(uint32_t group) {
  asm volatile("bar.arrive %0, 256;" ::"r"(4 + group) : "memory");
}

} // namespace fp8c::joined

#endif // FP8C_LIB_CODEGEN_NVVM_DEVICE_BARRIERS_H
