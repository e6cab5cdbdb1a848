//===- CudaDevice.h - A GPU -------------------------------------*- C++ -*-===//
//
// Part of fp8c, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef FP8C_LIB_RUNTIME_CUDA_CUDADEVICE_H
#define FP8C_LIB_RUNTIME_CUDA_CUDADEVICE_H

#include "../Device.h"
#include "CallMarks.h"
#include "PrivateStream.h"

#include <memory>
#include <mutex>
#include <new>
#include <optional>

namespace fp8c::rt::cuda {

class CublasLt;
class Cudnn;
class OwnKernels;

/// While it lives the thread may do what recordings forbid by default, its own
/// and those of other threads: allocate and free memory, load kernels.
class RelaxedMode {
public:
  explicit RelaxedMode(const Driver &driver) noexcept
      : driver(driver), isSet(driver.exchangeCaptureMode(&mode) == 0) {}
  ~RelaxedMode() {
    if (isSet)
      driver.exchangeCaptureMode(&mode);
  }
  RelaxedMode(const RelaxedMode &) = delete;

private:
  const Driver &driver;
  /// The thread's other one.
  int mode = kRelaxed;
  bool isSet;
};

/// One GPU by its primary context, which libraries and PyTorch share. It stays
/// until the process ends, as do its libraries' handles: to give one back waits
/// for the whole device.
class CudaDevice : public Device {
public:
  explicit CudaDevice(int ordinal);
  ~CudaDevice() override;

  std::string name() const override {
    return "cuda:" + std::to_string(ordinal);
  }
  DLDevice dlpack() const override { return {kDLCUDA, ordinal}; }
  int rankTarget(const std::string &target) const override;
  std::shared_ptr<LoadedProgram>
  load(std::shared_ptr<Program> program) override;
  char *allocate(int64_t bytes) override;
  void free(char *memory) noexcept override;
  void upload(void *to, const void *from, size_t bytes) override;
  void download(void *to, const void *from, size_t bytes) override;
  void wait(void *stream) override;
  std::unique_ptr<Stopwatch> makeStopwatch() override;
  std::unique_ptr<Recording>
  record(const std::function<void(void *stream)> &commands) override;
  DeviceLimits getLimits() override;

  int multiprocessors() const { return processors; }
  /// 10 * major + minor.
  int computeCapability() const { return capability; }
  /// Whether a kernel may be launched before the one before it has ended.
  bool hasDependentLaunch() const { return capability >= 90; }
  /// Bytes of shared memory that one block may have.
  int maxShared() const { return shared; }
  /// The runtime's own kernels, loaded when first used.
  OwnKernels &ownKernels();
  /// The library of products, or null where there is none.
  CublasLt *cublasLt();
  /// The library of attention, or null where there is none.
  Cudnn *cudnn();

  /// For what belongs to no call.
  Stream privateStream() const { return ownStream->get(); }

  const Driver &driver;
  CallMarks callMarks;
  /// While it lives the device's context is the thread's, and no recording
  /// forbids what the thread does. Whatever asks the driver for more than to
  /// put something into a stream is inside one.
  class Scope {
  public:
    explicit Scope(const CudaDevice &device) : Scope(device, std::nothrow) {
      driver.check(pushed, "cuCtxPushCurrent");
    }
    /// For destructors, which may run when the driver has ended: then it is
    /// false, and there is nothing left to give back.
    Scope(const CudaDevice &device, std::nothrow_t) noexcept
        : driver(device.driver), relaxed(driver),
          pushed(driver.pushContext(device.context)) {}
    ~Scope() {
      ContextHandle popped;
      if (*this)
        driver.popContext(&popped);
    }
    Scope(const Scope &) = delete;
    explicit operator bool() const { return pushed == 0; }

  private:
    const Driver &driver;
    RelaxedMode relaxed;
    const Result pushed;
  };

private:
  int ordinal;
  DeviceId id = 0;
  ContextHandle context = nullptr;
  int capability = 0;
  int processors = 0;
  int shared = 0;
  std::optional<PrivateStream> ownStream;
  std::mutex mutex;
  std::unique_ptr<OwnKernels> kernels;
  std::unique_ptr<CublasLt> products;
  std::unique_ptr<Cudnn> attention;
  bool triedProducts = false, triedAttention = false;
};

/// Machine code or PTX in a context that is current.
class LoadedModule {
public:
  LoadedModule(const Driver &driver, const std::string &image,
               const char *what);
  ~LoadedModule();
  LoadedModule(const LoadedModule &) = delete;
  Function find(const char *name) const;

private:
  const Driver &driver;
  Module handle = nullptr;
};

} // namespace fp8c::rt::cuda

#endif // FP8C_LIB_RUNTIME_CUDA_CUDADEVICE_H
