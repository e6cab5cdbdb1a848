//===- FakeDriver.cpp - A driver and cuBLASLt that only take time ---------===//
//
// Part of fp8c, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// One GPU of sm_90 with 132 multiprocessors, whose memory is the host's.
// Kernels and products compute nothing; events tell how long they would take.
//
//===----------------------------------------------------------------------===//

#include "../../../lib/Runtime/CUDA/CublasLt.h"

#include <cstdlib>
#include <cstring>

using namespace fp8c::rt::cuda;

/// What a block of a kernel takes, and a product of the library.
static constexpr double kBlockMicroseconds = 0.05;
static constexpr double kProductMicroseconds = 14;
/// The one error.
static constexpr Result kUnsupported = 900;

static double now = 0;

template <typename T> static T makeHandle() {
  return reinterpret_cast<T>(uintptr_t(1));
}

extern "C" {

Result cuGetErrorName(Result, const char **name) {
  *name = "CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED";
  return 0;
}
Result cuGetErrorString(Result, const char **text) {
  *text = "nothing is recorded";
  return 0;
}
Result cuDeviceGetCount(int *count) {
  *count = 1;
  return 0;
}
Result cuDeviceGetAttribute(int *value, int which, DeviceId) {
  switch (which) {
  case kMajor:
    *value = 9;
    return 0;
  case kMinor:
    *value = 0;
    return 0;
  case kMultiprocessors:
    *value = 132;
    return 0;
  default:
    *value = 232448;
    return 0;
  }
}
Result cuModuleLoadDataEx(Module *module, const void *, unsigned, int *,
                          void **) {
  *module = makeHandle<Module>();
  return 0;
}
Result cuModuleGetFunction(Function *function, Module, const char *) {
  *function = makeHandle<Function>();
  return 0;
}
Result cuMemAlloc_v2(Pointer *memory, size_t bytes) {
  constexpr size_t kAlignment = 256;
  *memory = reinterpret_cast<Pointer>(std::aligned_alloc(
      kAlignment, (bytes + kAlignment - 1) / kAlignment * kAlignment));
  return 0;
}
Result cuMemFree_v2(Pointer memory) {
  std::free(reinterpret_cast<void *>(memory));
  return 0;
}
Result cuMemcpyHtoD_v2(Pointer to, const void *from, size_t bytes) {
  std::memcpy(reinterpret_cast<void *>(to), from, bytes);
  return 0;
}
Result cuMemcpyDtoH_v2(void *to, Pointer from, size_t bytes) {
  std::memcpy(to, reinterpret_cast<const void *>(from), bytes);
  return 0;
}
Result cuStreamBeginCapture_v2(Stream, int) { return kUnsupported; }

Result cuEventCreate(Event *event, unsigned) {
  *event = reinterpret_cast<Event>(new double(0));
  return 0;
}
Result cuEventDestroy_v2(Event event) {
  delete reinterpret_cast<double *>(event);
  return 0;
}
Result cuEventRecord(Event event, Stream) {
  *reinterpret_cast<double *>(event) = now;
  return 0;
}
Result cuEventElapsedTime(float *milliseconds, Event from, Event to) {
  *milliseconds = float(1e-3 * (*reinterpret_cast<double *>(to) -
                                *reinterpret_cast<double *>(from)));
  return 0;
}
Result cuLaunchKernelEx(const LaunchConfig *config, Function, void **,
                        void **) {
  now += kBlockMicroseconds * config->gridX;
  return 0;
}

size_t cublasLtGetVersion() { return 130100; }
const char *cublasLtGetStatusName(LtStatus) { return "no error"; }
LtStatus cublasLtMatmulAlgoGetHeuristic(LtHandle, LtDesc, LtLayout, LtLayout,
                                        LtLayout, LtLayout, LtPreference, int,
                                        LtHeuristic *results, int *count) {
  results[0] = {};
  *count = 1;
  return 0;
}
LtStatus cublasLtMatmulAlgoConfigGetAttribute(const LtAlgorithm *, int,
                                              void *value, size_t,
                                              size_t *written) {
  *static_cast<uint32_t *>(value) = 0;
  *written = sizeof(uint32_t);
  return 0;
}
LtStatus cublasLtMatmulAlgoCheck(LtHandle, LtDesc, LtLayout, LtLayout, LtLayout,
                                 LtLayout, const LtAlgorithm *,
                                 LtHeuristic *result) {
  *result = {};
  return 0;
}
LtStatus cublasLtMatmul(LtHandle, LtDesc, const void *, const void *, LtLayout,
                        const void *, LtLayout, const void *, const void *,
                        LtLayout, void *, LtLayout, const LtAlgorithm *, void *,
                        size_t, Stream) {
  now += kProductMicroseconds;
  return 0;
}

} // extern "C"
