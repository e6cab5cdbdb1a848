//===- CudaProgram.cpp - A program on a GPU -------------------------------===//
//
// Part of fp8c, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "CudaProgram.h"

#include "CudaQueue.h"

using namespace fp8c::rt;
using namespace fp8c::rt::cuda;

/// Dynamic shared memory that every kernel may have.
static constexpr int64_t kDefaultShared = 48 * 1024;
/// Threads that a block has at most.
static constexpr uint32_t kMaxThreads = 1024;

CudaProgram::CudaProgram(std::shared_ptr<CudaDevice> where,
                         std::shared_ptr<Program> owner)
    : device(std::move(where)), program(std::move(owner)),
      weights(program->weights.size()) {
  const auto &kernels = *program->plan().kernels();
  if (!kernels.size())
    return;
  // Machine code loads at once; the driver compiles PTX.
  const std::string target = program->target();
  Bytes image = program->package().gpuObject(target, "cubin");
  if (!image.data)
    image = program->package().gpuObject(target, "ptx");
  require(image.data, FP8RT_INVALID_PACKAGE, program->package().name(),
          ": has no kernels for ", target);
  std::string text(reinterpret_cast<const char *>(image.data), image.size);
  CudaDevice::Scope scope(*device);
  module = std::make_unique<LoadedModule>(device->driver, text,
                                          "the package's kernels");
  for (const wire::Kernel *kernel : kernels) {
    functions.push_back(module->find(kernel->symbol()->c_str()));
    int limit = 0;
    device->driver.check(device->driver.functionGetAttribute(
                             &limit, kMaxThreadsPerBlock, functions.back()),
                         "cuFuncGetAttribute");
    require(kernel->threads() >= 1 && kernel->threads() <= uint32_t(limit) &&
                kernel->threads() <= kMaxThreads,
            FP8RT_INVALID_PACKAGE, "plan: kernel \"", kernel->name()->str(),
            "\": blocks of ", kernel->threads(), " threads, the kernel allows ",
            limit);
  }
  sharedLimits.assign(functions.size(), kDefaultShared);
}

CudaProgram::~CudaProgram() {
  if (!module)
    return;
  CudaDevice::Scope scope(*device, std::nothrow);
  module.reset();
}

const void *CudaProgram::weightData(size_t weight) {
  std::lock_guard<std::mutex> lock(mutex);
  const void *host = program->weightData(weight);
  if (host && !weights[weight].data()) {
    const SignatureItem &item = program->weights[weight];
    int64_t bytes = byteSize(item.dtype, item.dims.data(), item.dims.size());
    DeviceMemory memory(device, bytes);
    device->upload(memory.data(), host, size_t(bytes));
    weights[weight] = std::move(memory);
  }
  return weights[weight].data();
}

char *CudaProgram::derive(const std::string &key, int64_t bytes,
                          const std::function<void(char *)> &make) {
  std::lock_guard<std::mutex> lock(mutex);
  auto known = derived.find(key);
  if (known == derived.end()) {
    DeviceMemory memory(device, bytes);
    make(memory.data());
    known = derived.emplace(key, std::move(memory)).first;
  }
  return known->second.data();
}

Function CudaProgram::joinedKernel(size_t index,
                                   const package::JoinedForm &form) {
  const std::string name = wireKernel(index).symbol()->str() + form.suffix;
  std::lock_guard<std::mutex> lock(mutex);
  Function &function = joined[name];
  if (!function) {
    function = module->find(name.c_str());
    device->driver.check(
        device->driver.functionSetAttribute(function, kMaxDynamicShared,
                                            int(form.getSharedBytes())),
        "cuFuncSetAttribute");
  }
  return function;
}

const fp8c::package::JoinedForm *CudaProgram::chooseJoined(
    const std::string &key,
    const std::function<const package::JoinedForm *()> &measure) {
  static std::mutex measuring;
  std::lock_guard<std::mutex> one(measuring);
  if (auto known = knownJoined(key))
    return *known;
  const package::JoinedForm *form = measure();
  std::lock_guard<std::mutex> lock(mutex);
  return joinedForms[key] = form;
}

std::optional<const fp8c::package::JoinedForm *>
CudaProgram::knownJoined(const std::string &key) {
  std::lock_guard<std::mutex> lock(mutex);
  auto known = joinedForms.find(key);
  if (known == joinedForms.end())
    return std::nullopt;
  return known->second;
}

void CudaProgram::allowShared(size_t index, int64_t bytes) {
  std::lock_guard<std::mutex> lock(mutex);
  if (bytes <= sharedLimits[index])
    return;
  require(bytes <= device->maxShared(), FP8RT_INCOMPATIBLE, "kernel \"",
          wireKernel(index).name()->str(), "\" needs ", bytes,
          " bytes of shared memory, a block of ", device->name(), " has ",
          device->maxShared());
  device->driver.check(device->driver.functionSetAttribute(
                           functions[index], kMaxDynamicShared, int(bytes)),
                       "cuFuncSetAttribute");
  sharedLimits[index] = bytes;
}

std::unique_ptr<Queue> CudaProgram::makeQueue(const QueueOptions &options) {
  return std::make_unique<CudaQueue>(*this, options);
}
