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

/// The kernels' PTX (Device/CMakeLists.txt), each ended by a 0.
#define FP8C_EMBED(NAME)                                                       \
  asm(".section .rodata\n"                                                     \
      ".local fp8rt_ptx_" #NAME "\n"                                           \
      "fp8rt_ptx_" #NAME ":\n"                                                 \
      ".incbin \"" FP8C_PTX_DIR "/" #NAME ".ptx\"\n"                           \
      ".byte 0\n"                                                              \
      ".previous\n");                                                          \
  extern "C" const char fp8rt_ptx_##NAME[];
#define X(NAME) FP8C_EMBED(NAME)
#include "Images.inc"
#undef X
static const std::map<std::string, const char *> kImages = {
#define X(NAME) {#NAME, fp8rt_ptx_##NAME},
#include "Images.inc"
#undef X
};
#undef FP8C_EMBED

Function OwnKernels::find(const std::string &image, const std::string &name,
                          uint32_t shared) {
  std::lock_guard<std::mutex> lock(mutex);
  Function &function = functions[{image, name}];
  if (function)
    return function;
  std::unique_ptr<LoadedModule> &module = modules[image];
  if (!module)
    module = std::make_unique<LoadedModule>(driver, kImages.at(image),
                                            "the runtime's kernels");
  Function found = module->find(name.c_str());
  if (shared)
    driver.check(
        driver.functionSetAttribute(found, kMaxDynamicShared, int(shared)),
        "cuFuncSetAttribute");
  return function = found;
}

/// As images are named.
static std::string name(Type type) {
  switch (type) {
  case Type::F16:
    return "F16";
  case Type::BF16:
    return "BF16";
  case Type::E5M2:
    return "E5M2";
  default:
    return "E4M3FN";
  }
}

Function OwnKernels::flashAttention(Type type, uint32_t width, uint32_t tall,
                                    bool isGeneral) {
  return find("Flash_" + name(type) + "_" + std::to_string(width) +
                  (isGeneral ? "_true" : "_false"),
              "fp8rt_flash_" + std::to_string(16 * tall),
              getFlashBytes(width, tall));
}

Function OwnKernels::tileProduct(Type a, Type b, bool isLarge, bool isPromoted,
                                 uint32_t &outShared) {
  outShared = getTileShared(hasWarpgroups ? kWarpgroupStages : kWarpStages,
                            isLarge ? kLargeTile : kSmallTile);
  return find((hasWarpgroups ? "Warpgroups_" : "Warps_") + name(a) + "_" +
                  name(b),
              std::string(isLarge ? "fp8rt_tile_large" : "fp8rt_tile_small") +
                  (isPromoted ? "_promoted" : ""),
              outShared);
}

Function OwnKernels::dotProduct(Type a, Type b, uint32_t rows) {
  return find("Dots_" + name(a) + "_" + name(b), rows == 1   ? "fp8rt_dots_1"
                                                 : rows == 2 ? "fp8rt_dots_2"
                                                             : "fp8rt_dots_4");
}

Function OwnKernels::rowProduct(Type a, Type b, bool isUpTo16) {
  return find("Rows_" + name(a) + "_" + name(b),
              isUpTo16 ? "fp8rt_rows_16" : "fp8rt_rows_8");
}
