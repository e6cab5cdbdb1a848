//===- CudaProgram.h - A program on a GPU -----------------------*- C++ -*-===//
//
// Part of fp8c, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef FP8C_LIB_RUNTIME_CUDA_CUDAPROGRAM_H
#define FP8C_LIB_RUNTIME_CUDA_CUDAPROGRAM_H

#include "../Program.h"
#include "CudaDevice.h"

#include "fp8c/Package/JoinedProduct.h"

#include <functional>
#include <map>
#include <optional>

namespace fp8c::rt::cuda {

/// The module of generated kernels, and the weights that were asked for.
class CudaProgram : public LoadedProgram {
public:
  CudaProgram(std::shared_ptr<CudaDevice> device,
              std::shared_ptr<Program> program);
  ~CudaProgram() override;

  const void *weightData(size_t weight) override;
  std::unique_ptr<Queue> makeQueue(const QueueOptions &options) override;
  Function kernel(size_t index) const { return functions[index]; }
  const wire::Kernel &wireKernel(size_t index) const {
    return *program->plan().kernels()->Get(uint32_t(index));
  }
  /// Whether a value of the plan lies in a weight, which never changes.
  bool isWeight(uint32_t value) const {
    const wire::Plan &plan = program->plan();
    return plan.values()->Get(rootOf(plan, value))->kind() ==
           wire::ValueKind::Weight;
  }
  /// Memory that `make` fills once, kept under `key`. Throws where it cannot be
  /// had.
  char *derive(const std::string &key, int64_t bytes,
               const std::function<void(char *)> &make);
  /// The joined form of a kernel.
  Function joinedKernel(size_t index, const package::JoinedForm &form);
  /// The form in which products of a kind and a kernel run as one, or null
  /// where they do not: what `measure` said once for this key.
  const package::JoinedForm *
  chooseJoined(const std::string &key,
               const std::function<const package::JoinedForm *()> &measure);
  /// What was measured for this key, if anything was.
  std::optional<const package::JoinedForm *>
  knownJoined(const std::string &key);
  /// Lets the kernel have so many bytes of dynamic shared memory.
  void allowShared(size_t index, int64_t bytes);

  const std::shared_ptr<CudaDevice> device;

private:
  std::shared_ptr<Program> program;
  std::unique_ptr<LoadedModule> module;
  std::vector<Function> functions;
  std::vector<int64_t> sharedLimits;
  std::mutex mutex;
  std::vector<DeviceMemory> weights;
  std::map<std::string, DeviceMemory> derived;
  std::map<std::string, Function> joined;
  std::map<std::string, const package::JoinedForm *> joinedForms;
};

} // namespace fp8c::rt::cuda

#endif // FP8C_LIB_RUNTIME_CUDA_CUDAPROGRAM_H
