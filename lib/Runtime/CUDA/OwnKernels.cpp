//===- OwnKernels.cpp - The runtime's own kernels -------------------------===//
//
// Part of fp8c, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "OwnKernels.h"

using namespace fp8c::rt;
using namespace fp8c::rt::cuda;

// The kernels' PTX (CMakeLists.txt), each ended by a 0.
#define FP8C_EMBED(NAME)                                                       \
  asm(".section .rodata\n"                                                     \
      ".local fp8rt_ptx_" #NAME "\n"                                           \
      "fp8rt_ptx_" #NAME ":\n"                                                 \
      ".incbin \"" FP8C_PTX_DIR "/" #NAME ".ptx\"\n"                           \
      ".byte 0\n"                                                              \
      ".previous\n");                                                          \
  extern "C" const char fp8rt_ptx_##NAME[];
FP8C_EMBED(Move)
FP8C_EMBED(Product)
FP8C_EMBED(Attention)
FP8C_EMBED(FlashAttention)
FP8C_EMBED(Stall)
FP8C_EMBED(Decode)
#undef FP8C_EMBED

Function OwnKernels::get(Function &function,
                         std::unique_ptr<LoadedModule> &module, int which) {
  static constexpr struct {
    const char *ptx;
    const char *name;
  } kKernels[] = {{fp8rt_ptx_Move, "fp8rt_move"},
                  {fp8rt_ptx_Product, "fp8rt_product"},
                  {fp8rt_ptx_Attention, "fp8rt_attention"},
                  {fp8rt_ptx_FlashAttention, "fp8rt_flash_f16_64"},
                  {fp8rt_ptx_FlashAttention, "fp8rt_flash_f16_128"},
                  {fp8rt_ptx_FlashAttention, "fp8rt_flash_bf16_64"},
                  {fp8rt_ptx_FlashAttention, "fp8rt_flash_bf16_128"},
                  {fp8rt_ptx_Stall, "fp8rt_stall"},
                  {fp8rt_ptx_Decode, "fp8rt_decode"}};
  std::lock_guard<std::mutex> lock(mutex);
  if (!module)
    module = std::make_unique<LoadedModule>(driver, kKernels[which].ptx,
                                            "the runtime's kernels");
  if (!function)
    function = module->find(kKernels[which].name);
  return function;
}
