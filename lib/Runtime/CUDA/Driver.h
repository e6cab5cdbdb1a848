//===- Driver.h - The part of the CUDA driver that is used ------*- C++ -*-===//
//
// Part of fp8c, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The declarations that the runtime needs, so that it is built without a
// toolkit; libcuda.so.1 is opened when a GPU is asked for.
//
//===----------------------------------------------------------------------===//

#ifndef FP8C_LIB_RUNTIME_CUDA_DRIVER_H
#define FP8C_LIB_RUNTIME_CUDA_DRIVER_H

#include "../Error.h"

#include <cstdint>

namespace fp8c::rt::cuda {

using Result = int;
using DeviceId = int;
using Pointer = uint64_t;
using ContextHandle = struct CUctx_st *;
using Module = struct CUmod_st *;
using Function = struct CUfunc_st *;
using Stream = struct CUstream_st *;
using Event = struct CUevent_st *;
using Graph = struct CUgraph_st *;
using GraphNode = struct CUgraphNode_st *;
using GraphExec = struct CUgraphExec_st *;

/// CUdevice_attribute.
enum Attribute {
  kMultiprocessors = 16,
  kMajor = 75,
  kMinor = 76,
  kMaxSharedOptin = 97
};
/// CUfunction_attribute.
enum FunctionAttribute { kMaxThreadsPerBlock = 0, kMaxDynamicShared = 8 };
/// CUstreamCaptureMode: what a thread may do beside recordings.
enum CaptureMode { kRelaxed = 2 };
/// CUstream_flags and CUevent_flags.
enum StreamFlag : unsigned { kNonBlocking = 1 };
enum EventFlag : unsigned { kWithTime = 0, kWithoutTime = 2 };
/// CUevent_record_flags: in a recording, a node that each of its runs reaches.
enum EventRecordFlag : unsigned { kRecordExternal = 1 };
/// CUjit_option.
enum JitOption { kInfoLog = 3, kInfoLogBytes, kErrorLog, kErrorLogBytes };

/// CUlaunchAttributeID.
enum LaunchAttributeId {
  kAccessPolicyWindow = 1,
  kCooperative = 2,
  kClusterDims = 4,
  kClusterScheduling = 5,
  kProgrammaticSerialization = 6,
  kPreferredClusterDims = 11,
  kSharedCarveout = 14
};
/// CUlaunchAttribute; values are numbers, or groups of them.
struct alignas(8) LaunchAttribute {
  int id;
  int padding;
  int value[16];
};
/// CUlaunchConfig.
struct LaunchConfig {
  unsigned gridX, gridY, gridZ, blockX, blockY, blockZ, shared;
  Stream stream;
  LaunchAttribute *attributes;
  unsigned numAttributes;
};
/// CUgraphNodeType.
enum GraphNodeType { kKernelNode = 0, kMemsetNode = 2 };
/// CUgraphEdgeData; of a kernel that may start before the one before it ends
/// the type is kProgrammaticEdge.
struct GraphEdge {
  unsigned char fromPort, toPort, type, reserved[5];
};
enum GraphEdgeType { kProgrammaticEdge = 1 };
/// CUDA_KERNEL_NODE_PARAMS_v2.
struct KernelNode {
  Function function;
  unsigned gridX, gridY, gridZ, blockX, blockY, blockZ, shared;
  void **parameters, **extra;
  /// A kernel without a context, where there is no function.
  struct CUkern_st *kernel;
  ContextHandle context;
};
/// CUDA_MEMSET_NODE_PARAMS.
struct MemsetNode {
  Pointer target;
  size_t pitch;
  unsigned value, elementSize;
  size_t width, height;
};

/// The driver's functions: name here, symbol, parameters.
#define FP8C_CUDA_FUNCTIONS(X)                                                 \
  X(init, "cuInit", (unsigned))                                                \
  X(driverGetVersion, "cuDriverGetVersion", (int *))                           \
  X(getErrorName, "cuGetErrorName", (Result, const char **))                   \
  X(getErrorString, "cuGetErrorString", (Result, const char **))               \
  X(deviceGetCount, "cuDeviceGetCount", (int *))                               \
  X(deviceGet, "cuDeviceGet", (DeviceId *, int))                               \
  X(deviceGetName, "cuDeviceGetName", (char *, int, DeviceId))                 \
  X(deviceGetAttribute, "cuDeviceGetAttribute", (int *, int, DeviceId))        \
  X(primaryRetain, "cuDevicePrimaryCtxRetain", (ContextHandle *, DeviceId))    \
  X(pushContext, "cuCtxPushCurrent_v2", (ContextHandle))                       \
  X(popContext, "cuCtxPopCurrent_v2", (ContextHandle *))                       \
  X(moduleLoadData, "cuModuleLoadDataEx",                                      \
    (Module *, const void *, unsigned, int *, void **))                        \
  X(moduleUnload, "cuModuleUnload", (Module))                                  \
  X(moduleGetFunction, "cuModuleGetFunction",                                  \
    (Function *, Module, const char *))                                        \
  X(functionSetAttribute, "cuFuncSetAttribute", (Function, int, int))          \
  X(functionGetAttribute, "cuFuncGetAttribute", (int *, int, Function))        \
  X(memoryAllocate, "cuMemAlloc_v2", (Pointer *, size_t))                      \
  X(memoryFree, "cuMemFree_v2", (Pointer))                                     \
  X(copyToDeviceAsync, "cuMemcpyHtoDAsync_v2",                                 \
    (Pointer, const void *, size_t, Stream))                                   \
  X(copyToHostAsync, "cuMemcpyDtoHAsync_v2",                                   \
    (void *, Pointer, size_t, Stream))                                         \
  X(copyAsync, "cuMemcpyDtoDAsync_v2", (Pointer, Pointer, size_t, Stream))     \
  X(set8Async, "cuMemsetD8Async", (Pointer, unsigned char, size_t, Stream))    \
  X(set16Async, "cuMemsetD16Async", (Pointer, unsigned short, size_t, Stream)) \
  X(set32Async, "cuMemsetD32Async", (Pointer, unsigned, size_t, Stream))       \
  X(streamSynchronize, "cuStreamSynchronize", (Stream))                        \
  X(streamCreate, "cuStreamCreate", (Stream *, unsigned))                      \
  X(streamCreateWithPriority, "cuStreamCreateWithPriority",                    \
    (Stream *, unsigned, int))                                                 \
  X(streamDestroy, "cuStreamDestroy_v2", (Stream))                             \
  X(streamIsCapturing, "cuStreamIsCapturing", (Stream, int *))                 \
  X(streamBeginCapture, "cuStreamBeginCapture_v2", (Stream, int))              \
  X(streamEndCapture, "cuStreamEndCapture", (Stream, Graph *))                 \
  X(exchangeCaptureMode, "cuThreadExchangeStreamCaptureMode", (int *))         \
  X(graphInstantiate, "cuGraphInstantiateWithFlags",                           \
    (GraphExec *, Graph, uint64_t))                                            \
  X(graphDestroy, "cuGraphDestroy", (Graph))                                   \
  X(graphNodes, "cuGraphGetNodes", (Graph, GraphNode *, size_t *))             \
  X(graphRoots, "cuGraphGetRootNodes", (Graph, GraphNode *, size_t *))         \
  X(graphNodeDependents, "cuGraphNodeGetDependentNodes_v2",                    \
    (GraphNode, GraphNode *, GraphEdge *, size_t *))                           \
  X(graphNodeType, "cuGraphNodeGetType", (GraphNode, int *))                   \
  X(kernelNode, "cuGraphKernelNodeGetParams_v2", (GraphNode, KernelNode *))    \
  X(memsetNode, "cuGraphMemsetNodeGetParams", (GraphNode, MemsetNode *))       \
  X(kernelNodeAttribute, "cuGraphKernelNodeGetAttribute",                      \
    (GraphNode, int, void *))                                                  \
  X(graphExecDestroy, "cuGraphExecDestroy", (GraphExec))                       \
  X(graphLaunch, "cuGraphLaunch", (GraphExec, Stream))                         \
  X(eventCreate, "cuEventCreate", (Event *, unsigned))                         \
  X(eventDestroy, "cuEventDestroy_v2", (Event))                                \
  X(eventRecord, "cuEventRecord", (Event, Stream))                             \
  X(eventRecordWithFlags, "cuEventRecordWithFlags", (Event, Stream, unsigned)) \
  X(streamWaitEvent, "cuStreamWaitEvent", (Stream, Event, unsigned))           \
  X(eventSynchronize, "cuEventSynchronize", (Event))                           \
  X(eventElapsed, "cuEventElapsedTime", (float *, Event, Event))               \
  X(tensorMapEncode, "cuTensorMapEncodeTiled",                                 \
    (void *, int, unsigned, void *, const uint64_t *, const uint64_t *,        \
     const uint32_t *, const uint32_t *, int, int, int, int))                  \
  X(launchConfigured, "cuLaunchKernelEx",                                      \
    (const LaunchConfig *, Function, void **, void **))                        \
  X(launch, "cuLaunchKernel",                                                  \
    (Function, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned,     \
     unsigned, Stream, void **, void **))

/// The opened driver.
struct Driver {
  /// Throws where there is none.
  static const Driver &get();
  /// Throws for a failed call, with the driver's words.
  void check(Result result, const char *what) const {
    if (result != 0)
      report(result, what);
  }

#define FP8C_DECLARE(NAME, SYMBOL, PARAMETERS) Result(*NAME) PARAMETERS;
  FP8C_CUDA_FUNCTIONS(FP8C_DECLARE)
#undef FP8C_DECLARE

private:
  Driver();
  [[noreturn]] void report(Result result, const char *what) const;
};

} // namespace fp8c::rt::cuda

#endif // FP8C_LIB_RUNTIME_CUDA_DRIVER_H
