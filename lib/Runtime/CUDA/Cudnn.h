//===- Cudnn.h - The part of cuDNN that is used -----------------*- C++ -*-===//
//
// Part of fp8c, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The library is opened at run time (major version 9). Its graph interface is
// one of descriptors with attributes; numbers are those of cudnn_graph.h.
//
//===----------------------------------------------------------------------===//

#ifndef FP8C_LIB_RUNTIME_CUDA_CUDNN_H
#define FP8C_LIB_RUNTIME_CUDA_CUDNN_H

#include "Driver.h"
#include "Library.h"

#include <memory>
#include <mutex>
#include <string>
#include <unordered_map>
#include <vector>

namespace fp8c::rt::cuda {

using CudnnStatus = int;
using CudnnHandle = struct cudnnContext *;

/// cudnnDataType_t.
enum class CudnnType : int { F32 = 0, F16 = 2, I32 = 4, BF16 = 9, Bool = 11 };
/// cudnnBackendDescriptorType_t.
enum class CudnnKind : int {
  Pointwise = 0,
  EngineHeuristic = 4,
  ExecutionPlan = 5,
  EngineConfig = 3,
  PointwiseOp = 13,
  OperationGraph = 15,
  VariantPack = 16,
  Tensor = 17,
  Matmul = 18,
  MatmulOp = 19,
  Reduction = 21,
  ReductionOp = 22
};
/// cudnnBackendAttributeName_t.
enum class CudnnAttribute : int {
  PointwiseMode = 0,
  PointwisePrecision = 1,
  PointwiseAxis = 9,
  HeuristicMode = 200,
  HeuristicGraph = 201,
  HeuristicResults = 202,
  PlanHandle = 400,
  PlanConfig = 401,
  PlanWorkspace = 402,
  PointwiseOpDesc = 750,
  PointwiseOpX = 751,
  PointwiseOpB = 752,
  PointwiseOpY = 753,
  PointwiseOpT = 758,
  GraphHandle = 800,
  GraphOps = 801,
  TensorAlignment = 900,
  TensorType = 901,
  TensorDims = 902,
  TensorStrides = 903,
  TensorId = 906,
  TensorIsVirtual = 907,
  TensorIsByValue = 908,
  PackIds = 1000,
  PackPointers = 1001,
  PackWorkspace = 1003,
  MatmulPrecision = 1500,
  MatmulOpA = 1520,
  MatmulOpB = 1521,
  MatmulOpC = 1522,
  MatmulOpDesc = 1523,
  ReductionOperator = 1600,
  ReductionPrecision = 1601,
  ReductionOpX = 1610,
  ReductionOpY = 1611,
  ReductionOpDesc = 1612
};
/// cudnnPointwiseMode_t.
enum class CudnnPointwise : int {
  Add = 0,
  Mul = 1,
  Div = 6,
  Sub = 9,
  Exp = 13,
  Log = 15,
  CompareGe = 303,
  Index = 501,
  Select = 601
};
/// cudnnReduceTensorOp_t and cudnnBackendHeurMode_t.
enum class CudnnReduction : int { Add = 0, Max = 3 };
enum class CudnnHeuristic : int { Fallback = 2, A = 3 };

/// cudnnBackendAttributeType_t of what attributes hold.
template <typename T> struct CudnnAttributeType;
template <> struct CudnnAttributeType<CudnnHandle> {
  static constexpr int value = 0;
};
template <> struct CudnnAttributeType<CudnnType> {
  static constexpr int value = 1;
};
template <> struct CudnnAttributeType<bool> {
  static constexpr int value = 2;
};
template <> struct CudnnAttributeType<int64_t> {
  static constexpr int value = 3;
};
template <> struct CudnnAttributeType<void *> {
  static constexpr int value = 6;
};
template <> struct CudnnAttributeType<CudnnHeuristic> {
  static constexpr int value = 8;
};
template <> struct CudnnAttributeType<CudnnPointwise> {
  static constexpr int value = 14;
};
using CudnnDescriptor = struct CudnnDescriptorOpaque *;
template <> struct CudnnAttributeType<CudnnDescriptor> {
  static constexpr int value = 15;
};
template <> struct CudnnAttributeType<CudnnReduction> {
  static constexpr int value = 18;
};

#define FP8C_CUDNN_FUNCTIONS(X)                                                \
  X(getVersion, "cudnnGetVersion", size_t, ())                                 \
  X(errorString, "cudnnGetErrorString", const char *, (CudnnStatus))           \
  X(lastError, "cudnnGetLastErrorString", void, (char *, size_t))              \
  X(create, "cudnnCreate", CudnnStatus, (CudnnHandle *))                       \
  X(setStream, "cudnnSetStream", CudnnStatus, (CudnnHandle, Stream))           \
  X(descriptorCreate, "cudnnBackendCreateDescriptor", CudnnStatus,             \
    (int, CudnnDescriptor *))                                                  \
  X(descriptorDestroy, "cudnnBackendDestroyDescriptor", CudnnStatus,           \
    (CudnnDescriptor))                                                         \
  X(finalize, "cudnnBackendFinalize", CudnnStatus, (CudnnDescriptor))          \
  X(set, "cudnnBackendSetAttribute", CudnnStatus,                              \
    (CudnnDescriptor, int, int, int64_t, const void *))                        \
  X(get, "cudnnBackendGetAttribute", CudnnStatus,                              \
    (CudnnDescriptor, int, int, int64_t, int64_t *, void *))                   \
  X(execute, "cudnnBackendExecute", CudnnStatus,                               \
    (CudnnHandle, CudnnDescriptor, CudnnDescriptor))

struct CudnnPlan;

/// The opened library with its handle for one device, and the plans that it
/// has made. It stays, as the device does.
class Cudnn {
public:
  /// Null where there is no library.
  static std::unique_ptr<Cudnn> open();

  /// Throws for a failed call, with the library's words.
  void check(CudnnStatus status, const char *what) const {
    if (status != 0)
      report(status, what);
  }

  FP8C_LIBRARY_MEMBERS(FP8C_CUDNN_FUNCTIONS)

  CudnnHandle handle = nullptr;
  /// Whoever uses the handle or the plans holds it.
  std::mutex mutex;
  /// By everything that a plan depends on.
  std::unordered_map<std::string, std::shared_ptr<CudnnPlan>> plans;

private:
  [[noreturn]] void report(CudnnStatus status, const char *what) const;
};

/// A descriptor of the library.
class CudnnObject {
public:
  CudnnObject(const Cudnn &library, CudnnKind kind) : library(&library) {
    library.check(library.descriptorCreate(int(kind), &handle),
                  "cudnnBackendCreateDescriptor");
  }
  CudnnObject(CudnnObject &&other) noexcept
      : library(other.library), handle(other.handle) {
    other.handle = nullptr;
  }
  CudnnObject &operator=(CudnnObject &&) = delete;
  ~CudnnObject() {
    if (handle)
      library->descriptorDestroy(handle);
  }

  template <typename T>
  void setAll(CudnnAttribute name, const T *values, size_t count) {
    library->check(library->set(handle, int(name), CudnnAttributeType<T>::value,
                                int64_t(count), values),
                   "cudnnBackendSetAttribute");
  }
  template <typename T> void set(CudnnAttribute name, const T &value) {
    setAll(name, &value, 1);
  }
  void finalize() {
    library->check(library->finalize(handle), "cudnnBackendFinalize");
  }
  CudnnDescriptor get() const { return handle; }

private:
  const Cudnn *library;
  CudnnDescriptor handle = nullptr;
};

/// How the library runs a graph.
struct CudnnPlan {
  CudnnObject plan;
  int64_t workspace;
};

} // namespace fp8c::rt::cuda

#endif // FP8C_LIB_RUNTIME_CUDA_CUDNN_H
