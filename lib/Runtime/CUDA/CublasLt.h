//===- CublasLt.h - The part of cuBLASLt that is used -----------*- C++ -*-===//
//
// Part of fp8c, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The library is opened at run time (major versions 13 and 12); numbers are
// those of cublasLt.h and library_types.h.
//
//===----------------------------------------------------------------------===//

#ifndef FP8C_LIB_RUNTIME_CUDA_CUBLASLT_H
#define FP8C_LIB_RUNTIME_CUDA_CUBLASLT_H

#include "../DType.h"
#include "Driver.h"
#include "Library.h"

#include <memory>
#include <mutex>
#include <string>
#include <unordered_map>
#include <vector>

namespace fp8c::rt::cuda {

using LtStatus = int;
using LtHandle = struct cublasLtContext *;
using LtDesc = struct cublasLtMatmulDescOpaque *;
using LtLayout = struct cublasLtMatrixLayoutOpaque *;
using LtPreference = struct cublasLtMatmulPreferenceOpaque *;

/// cublasLtMatmulAlgo_t.
struct LtAlgorithm {
  uint64_t data[8];
};
/// cublasLtMatmulHeuristicResult_t.
struct LtHeuristic {
  LtAlgorithm algorithm;
  size_t workspace;
  LtStatus state;
  float waves;
  int reserved[4];
};

/// cublasLtMatmulDescAttributes_t.
enum class LtDescAttribute {
  TransA = 3,
  TransB = 4,
  Epilogue = 7,
  BiasPointer = 8,
  AScale = 17,
  BScale = 18,
  DScale = 20,
  AmaxD = 21,
  FastAccum = 25,
  BiasType = 26,
  AScaleMode = 31,
  BScaleMode = 32
};
/// cublasLtMatrixLayoutAttribute_t.
enum class LtLayoutAttribute { BatchCount = 5, BatchStride = 6 };
/// cublasLtMatmulPreferenceAttributes_t.
enum class LtPreferenceAttribute { Workspace = 1, ReductionSchemes = 3 };
/// cublasLtMatmulMatrixScale_t.
enum class LtScaleMode : int {
  Tensor = 0,
  Outer = 3,
  Block1x128 = 4,
  Block128x128 = 5
};

inline constexpr int kLtCompute32F = 68, kLtCompute64F = 70;
inline constexpr int kLtEpilogueNone = 1, kLtEpilogueBias = 4;
inline constexpr int kLtTransposed = 1;
/// CUBLASLT_ALGO_CONFIG_ID and _TILE_ID.
inline constexpr int kLtAlgorithmId = 0, kLtTileId = 1;
/// CUBLASLT_ALGO_CONFIG_REDUCTION_SCHEME and its values: partial sums are none,
/// or in the compute type alone.
inline constexpr int kLtReductionScheme = 3;
inline constexpr uint32_t kLtReductionNone = 0, kLtReductionComputeType = 2;

#define FP8C_CUBLASLT_FUNCTIONS(X)                                             \
  X(create, "cublasLtCreate", LtStatus, (LtHandle *))                          \
  X(getVersion, "cublasLtGetVersion", size_t, ())                              \
  X(getStatusName, "cublasLtGetStatusName", const char *, (LtStatus))          \
  X(descCreate, "cublasLtMatmulDescCreate", LtStatus, (LtDesc *, int, int))    \
  X(descDestroy, "cublasLtMatmulDescDestroy", LtStatus, (LtDesc))              \
  X(descSet, "cublasLtMatmulDescSetAttribute", LtStatus,                       \
    (LtDesc, int, const void *, size_t))                                       \
  X(layoutCreate, "cublasLtMatrixLayoutCreate", LtStatus,                      \
    (LtLayout *, int, uint64_t, uint64_t, int64_t))                            \
  X(layoutDestroy, "cublasLtMatrixLayoutDestroy", LtStatus, (LtLayout))        \
  X(layoutSet, "cublasLtMatrixLayoutSetAttribute", LtStatus,                   \
    (LtLayout, int, const void *, size_t))                                     \
  X(preferenceCreate, "cublasLtMatmulPreferenceCreate", LtStatus,              \
    (LtPreference *))                                                          \
  X(preferenceDestroy, "cublasLtMatmulPreferenceDestroy", LtStatus,            \
    (LtPreference))                                                            \
  X(preferenceSet, "cublasLtMatmulPreferenceSetAttribute", LtStatus,           \
    (LtPreference, int, const void *, size_t))                                 \
  X(heuristic, "cublasLtMatmulAlgoGetHeuristic", LtStatus,                     \
    (LtHandle, LtDesc, LtLayout, LtLayout, LtLayout, LtLayout, LtPreference,   \
     int, LtHeuristic *, int *))                                               \
  X(algorithmGet, "cublasLtMatmulAlgoConfigGetAttribute", LtStatus,            \
    (const LtAlgorithm *, int, void *, size_t, size_t *))                      \
  X(check, "cublasLtMatmulAlgoCheck", LtStatus,                                \
    (LtHandle, LtDesc, LtLayout, LtLayout, LtLayout, LtLayout,                 \
     const LtAlgorithm *, LtHeuristic *))                                      \
  X(matmul, "cublasLtMatmul", LtStatus,                                        \
    (LtHandle, LtDesc, const void *, const void *, LtLayout, const void *,     \
     LtLayout, const void *, const void *, LtLayout, void *, LtLayout,         \
     const LtAlgorithm *, void *, size_t, Stream))

/// What computes a product: an algorithm, or a kernel of ours that was faster
/// than it.
struct LtChoice {
  LtHeuristic algorithm;
  bool isOwn;
};

/// The opened library with its handle for one device, and the algorithms that
/// it has chosen. It stays, as the device does.
class CublasLt {
public:
  /// Null where there is no library.
  static std::unique_ptr<CublasLt> open();

  std::string statusName(LtStatus status) const {
    return getStatusName ? getStatusName(status) : std::to_string(status);
  }
  /// cudaDataType.
  static int getType(DType dtype);

  FP8C_LIBRARY_MEMBERS(FP8C_CUBLASLT_FUNCTIONS)

  LtHandle handle = nullptr;
  std::mutex mutex;
  /// By what a product's choice depends on: types, layouts, scales, epilogue,
  /// M up to the next power of two, and whether candidates are measured.
  std::unordered_map<std::string, LtChoice> chosen;
};

} // namespace fp8c::rt::cuda

#endif // FP8C_LIB_RUNTIME_CUDA_CUBLASLT_H
