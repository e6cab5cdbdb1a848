//===- OwnKernels.h - The runtime's own kernels -----------------*- C++ -*-===//
//
// Part of fp8c, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef FP8C_LIB_RUNTIME_CUDA_OWNKERNELS_H
#define FP8C_LIB_RUNTIME_CUDA_OWNKERNELS_H

#include "CudaQueue.h"
#include "Device/Kernels.h"

#include <map>

namespace fp8c::rt::cuda {

/// Functions of Device/*.cpp. Each file, for each pair of types, is one module,
/// loaded when it is first used: the driver compiles it then.
class OwnKernels {
public:
  OwnKernels(const Driver &driver, bool hasWarpgroups)
      : driver(driver), hasWarpgroups(hasWarpgroups) {}

  /// Waits as many nanoseconds as its parameter says.
  Function stall() { return find("Stall", "fp8rt_stall"); }
  Function decode() { return find("Decode", "fp8rt_decode"); }
  Function pad() { return find("Pad", "fp8rt_pad"); }
  Function move() { return find("Move", "fp8rt_move"); }
  /// The same, which waits for what is before it by itself; from sm_90 on.
  Function moveDependent() { return find("MoveDependent", "fp8rt_move"); }
  Function product() { return find("Product", "fp8rt_product"); }
  Function attention() { return find("Attention", "fp8rt_attention"); }
  Function maskBias() { return find("MaskBias", "fp8rt_mask_bias"); }
  Function clearRows() { return find("MaskBias", "fp8rt_clear_rows"); }
  /// Attention on tensor cores for head dims of up to `width`, 16 * `tall`
  /// queries a warp; `isGeneral` takes masks and any strides.
  Function flashAttention(Type type, uint32_t width, uint32_t tall,
                          bool isGeneral);
  /// Products on tensor cores in tiles of one size, and the bytes of shared
  /// memory that a block takes.
  Function tileProduct(Type a, Type b, bool isLarge, bool isPromoted,
                       uint32_t &outShared);
  /// Products of up to 8 or of up to 16 rows.
  Function rowProduct(Type a, Type b, bool isUpTo16);
  /// Products of so few rows that they are dot products; from sm_90 on.
  Function dotProduct(Type a, Type b, uint32_t rows);

private:
  Function find(const std::string &image, const std::string &name,
                uint32_t shared = 0);

  const Driver &driver;
  const bool hasWarpgroups;
  std::mutex mutex;
  std::map<std::string, std::unique_ptr<LoadedModule>> modules;
  std::map<std::pair<std::string, std::string>, Function> functions;
};

std::unique_ptr<Command> makeCopy(CudaQueue &queue, const PreparedStep &step);
std::unique_ptr<Command> makeFill(CudaQueue &queue, const PreparedStep &step);
/// Puts a fill of bytes into the queue's stream.
void fillMemory(CudaQueue &queue, char *to, int64_t bytes, uint8_t value);

} // namespace fp8c::rt::cuda

#endif // FP8C_LIB_RUNTIME_CUDA_OWNKERNELS_H
