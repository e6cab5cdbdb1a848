//===- JoinedProduct.h - Parameters of a product with a kernel --*- C++ -*-===//
//
// Part of fp8c, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A product and the kernel that reads its result can be one launch for GPUs
// with wgmma: what the kernel computes is done while a tile of the result is
// still on the multiprocessor. A package has the joined form of such a kernel
// (`plan.fbs`, Kernel.product) in two widths; the runtime launches it with one
// parameter, this struct, by value.
//
//===----------------------------------------------------------------------===//

#ifndef FP8C_PACKAGE_JOINEDPRODUCT_H
#define FP8C_PACKAGE_JOINEDPRODUCT_H

#include <stdint.h>

namespace fp8c::package {

/// The most operands, and numbers of the size block, of a kernel that has a
/// joined form.
constexpr uint32_t kJoinedOperands = 12;
constexpr uint32_t kJoinedSizes = 64;
/// Columns of which four threads have a vector each; N is a multiple.
constexpr uint32_t kJoinedColumns = 32;

struct JoinedProductParams {
  /// A CUtensorMap.
  struct alignas(64) TensorMap {
    uint64_t words[16];
  };
  /// `a` (M x K): boxes of a tile's rows by 128 bytes. `b` (N x K), its rows as
  /// five dims, K, N % 2, N / 8 % 4, N / 2 % 4, N / 32: boxes of 128 bytes of
  /// K, all of the next three, and `getBoxes` of the last. Swizzled by 128
  /// bytes.
  TensorMap a, b;
  int32_t m, n, k;
  /// Scales of whole tensors.
  const float *aScale, *bScale;
  /// N values in bf16, or null.
  const void *bias;
  /// As the kernel's own parameters.
  int64_t operands[kJoinedOperands];
  int64_t sizes[kJoinedSizes];
};

/// What the runtime must know to launch one form.
struct JoinedForm {
  /// After the kernel's symbol.
  const char *suffix;
  /// A tile; stages of K in shared memory.
  uint32_t rows, columns, stages;
  /// Blocks of a cluster: they share what they read of `b`.
  uint32_t cluster;

  /// The last dim of a box of `b`.
  constexpr uint32_t getBoxes() const {
    return columns / kJoinedColumns / cluster;
  }
  constexpr uint32_t getStageBytes() const { return (rows + columns) * 128; }
  /// Dynamic shared memory of a block: stages; a tile in bf16 and its biases,
  /// of both warpgroups; barriers; and what aligns it.
  constexpr uint32_t getSharedBytes() const {
    return stages * getStageBytes() + 2 * (rows + 1) * columns * 2 + 1024 +
           1024;
  }
};
constexpr uint32_t kJoinedThreads = 384;
constexpr JoinedForm kJoinedForms[] = {{"_product_64x256", 64, 256, 4, 2},
                                       {"_product_128x128", 128, 128, 5, 1}};

} // namespace fp8c::package

#endif // FP8C_PACKAGE_JOINEDPRODUCT_H
