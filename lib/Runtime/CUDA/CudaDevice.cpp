//===- CudaDevice.cpp - A GPU ---------------------------------------------===//
//
// Part of fp8c, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "CudaDevice.h"

#include "CublasLt.h"
#include "CudaProgram.h"
#include "Cudnn.h"
#include "OwnKernels.h"

#include <map>

using namespace fp8c::rt;
using namespace fp8c::rt::cuda;

static DeviceId findDevice(const Driver &driver, int ordinal) {
  int count = 0;
  driver.check(driver.deviceGetCount(&count), "cuDeviceGetCount");
  require(ordinal < count, FP8RT_INCOMPATIBLE, "no device \"cuda:", ordinal,
          "\", this machine has ", count, " GPUs");
  DeviceId id = 0;
  driver.check(driver.deviceGet(&id, ordinal), "cuDeviceGet");
  return id;
}

static int readAttribute(const Driver &driver, Attribute which, DeviceId id) {
  int value = 0;
  driver.check(driver.deviceGetAttribute(&value, which, id),
               "cuDeviceGetAttribute");
  return value;
}

int fp8c::rt::readCudaCapability(int ordinal) {
  const Driver &driver = Driver::get();
  DeviceId id = findDevice(driver, ordinal);
  return 10 * readAttribute(driver, kMajor, id) +
         readAttribute(driver, kMinor, id);
}

CudaDevice::CudaDevice(int ordinal) : driver(Driver::get()), ordinal(ordinal) {
  id = findDevice(driver, ordinal);
  capability = readCudaCapability(ordinal);
  processors = readAttribute(driver, kMultiprocessors, id);
  shared = readAttribute(driver, kMaxSharedOptin, id);
  RelaxedMode relaxed(driver);
  driver.check(driver.primaryRetain(&context, id), "cuDevicePrimaryCtxRetain");
  Scope scope(*this);
  ownStream.emplace(driver);
}

CudaDevice::~CudaDevice() = default;

/// The compute capability of "sm_90a", and whether it runs there alone.
static std::pair<int, bool> parseTarget(const std::string &target) {
  int capability = 0;
  if (target.compare(0, 3, "sm_") != 0)
    return {0, false};
  size_t i = 3;
  for (; i < target.size() && target[i] >= '0' && target[i] <= '9' && i < 7;
       ++i)
    capability = 10 * capability + (target[i] - '0');
  return {capability, i < target.size()};
}

int CudaDevice::rankTarget(const std::string &target) const {
  auto [wanted, exactly] = parseTarget(target);
  if (exactly)
    return wanted == capability ? wanted + 1 : 0;
  return wanted <= capability ? wanted : 0;
}

std::shared_ptr<LoadedProgram>
CudaDevice::load(std::shared_ptr<Program> program) {
  return std::make_shared<CudaProgram>(
      std::static_pointer_cast<CudaDevice>(shared_from_this()),
      std::move(program));
}

char *CudaDevice::allocate(int64_t bytes) {
  Scope scope(*this);
  Pointer pointer = 0;
  driver.check(driver.memoryAllocate(&pointer, size_t(bytes)), "cuMemAlloc");
  return reinterpret_cast<char *>(pointer);
}

void CudaDevice::free(char *memory) noexcept {
  // The driver itself waits for kernels that run, which may use the memory.
  Scope scope(*this, std::nothrow);
  if (scope)
    driver.memoryFree(reinterpret_cast<Pointer>(memory));
}

void CudaDevice::upload(void *to, const void *from, size_t bytes) {
  if (!bytes)
    return;
  Scope scope(*this);
  callMarks.wait(driver);
  driver.check(driver.copyToDeviceAsync(reinterpret_cast<Pointer>(to), from,
                                        bytes, ownStream->get()),
               "cuMemcpyHtoDAsync");
  ownStream->synchronize();
}

void CudaDevice::download(void *to, const void *from, size_t bytes) {
  if (!bytes)
    return;
  Scope scope(*this);
  callMarks.wait(driver);
  driver.check(driver.copyToHostAsync(to, reinterpret_cast<Pointer>(from),
                                      bytes, ownStream->get()),
               "cuMemcpyDtoHAsync");
  ownStream->synchronize();
}

void CudaDevice::wait(void *stream) {
  Scope scope(*this);
  driver.check(driver.streamSynchronize(static_cast<Stream>(stream)),
               "cuStreamSynchronize");
}

OwnKernels &CudaDevice::ownKernels() {
  std::lock_guard<std::mutex> lock(mutex);
  if (!kernels)
    kernels = std::make_unique<OwnKernels>(driver, capability == 90);
  return *kernels;
}

CublasLt *CudaDevice::cublasLt() {
  std::lock_guard<std::mutex> lock(mutex);
  if (!triedProducts)
    products = CublasLt::open();
  triedProducts = true;
  return products.get();
}

Cudnn *CudaDevice::cudnn() {
  std::lock_guard<std::mutex> lock(mutex);
  if (!triedAttention)
    attention = Cudnn::open();
  triedAttention = true;
  return attention.get();
}

LoadedModule::LoadedModule(const Driver &driver, const std::string &image,
                           const char *what)
    : driver(driver) {
  char log[4096] = {};
  int options[] = {kErrorLog, kErrorLogBytes};
  void *values[] = {log, reinterpret_cast<void *>(sizeof(log) - 1)};
  Result result =
      driver.moduleLoadData(&handle, image.c_str(), 2, options, values);
  if (result != 0 && log[0])
    fail(FP8RT_INCOMPATIBLE, what, " cannot be loaded: ", log);
  driver.check(result, what);
}

LoadedModule::~LoadedModule() { driver.moduleUnload(handle); }

Function LoadedModule::find(const char *name) const {
  Function function = nullptr;
  require(driver.moduleGetFunction(&function, handle, name) == 0,
          FP8RT_INVALID_PACKAGE, "the GPU's kernels have no \"", name, "\"");
  return function;
}

std::shared_ptr<Device> fp8c::rt::openCuda(int ordinal) {
  // Not ended with the other static objects, when the driver has ended.
  static std::mutex mutex;
  static auto &devices = *new std::map<int, std::shared_ptr<Device>>;
  std::lock_guard<std::mutex> lock(mutex);
  std::shared_ptr<Device> &device = devices[ordinal];
  if (!device)
    device = std::make_shared<CudaDevice>(ordinal);
  return device;
}
