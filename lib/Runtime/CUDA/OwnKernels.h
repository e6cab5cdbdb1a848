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

namespace fp8c::rt::cuda {

/// Functions of Device/*.cpp. Each file is one module, loaded when it is first
/// used: the driver compiles it then.
class OwnKernels {
public:
  explicit OwnKernels(const Driver &driver) : driver(driver) {}

  /// Waits as many nanoseconds as its parameter says.
  Function stall() { return get(stallFunction, stallModule, 7); }
  Function decode() { return get(decodeFunction, decodeModule, 8); }
  Function move() { return get(moveFunction, moveModule, 0); }
  Function product() { return get(productFunction, productModule, 1); }
  Function attention() { return get(attentionFunction, attentionModule, 2); }
  /// Attention on tensor cores for head dims of up to 64 or of up to 128.
  Function flashAttention(bool isBF16, bool isWide) {
    int which = 2 * isBF16 + isWide;
    return get(flashFunctions[which], flashModule, 3 + which);
  }

private:
  Function get(Function &function, std::unique_ptr<LoadedModule> &module,
               int which);

  const Driver &driver;
  std::mutex mutex;
  std::unique_ptr<LoadedModule> moveModule, productModule, attentionModule,
      flashModule, stallModule, decodeModule;
  Function stallFunction = nullptr, decodeFunction = nullptr,
           moveFunction = nullptr, productFunction = nullptr,
           attentionFunction = nullptr, flashFunctions[4] = {};
};

std::unique_ptr<Command> makeCopy(CudaQueue &queue, const PreparedStep &step);
std::unique_ptr<Command> makeFill(CudaQueue &queue, const PreparedStep &step);
/// `why` says why no library computes it.
std::unique_ptr<Command>
makeOwnProduct(CudaQueue &queue, const PreparedStep &step, std::string why);

} // namespace fp8c::rt::cuda

#endif // FP8C_LIB_RUNTIME_CUDA_OWNKERNELS_H
