//===- Target.h - What each target can do -----------------------*- C++ -*-===//
//
// Part of fp8c, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The one table of what targets can do. Verifiers of targets, passes and code
// generation ask it; nobody else compares names of targets.
//
//===----------------------------------------------------------------------===//

#ifndef FP8C_TARGET_TARGET_H
#define FP8C_TARGET_TARGET_H

#include "fp8c/Dialect/FP8/FP8.h"

#include <string>

namespace fp8c {

/// How the scales of an operand of a product lie, as libraries name it.
enum class ScaleLayout {
  /// One scale.
  Tensor,
  /// One scale a row of the left operand, a column of the right one.
  Outer,
  /// One a block of 128 along K.
  Block1x128,
  /// One a tile of 128 x 128.
  Block128x128,
  /// One a block of 32 along K, in f8E8M0FNU.
  MX,
  /// Anything else: only our own product has it.
  Other
};

/// One target.
struct Target {
  /// As on the command line: `cpu`, `sm_90a`.
  llvm::StringLiteral name;
  /// 10 * major + minor of the compute capability; 0 for the CPU.
  unsigned computeCapability;
  /// Products of f8 operands (in tensor cores, or exactly converted on the
  /// CPU).
  bool hasF8Products;
  /// Conversions to and from f8 in hardware; elsewhere they are emulated, with
  /// the same bytes.
  bool hasF8Conversions;
  /// Additions and multiplications of pairs of bf16.
  bool hasPackedBF16;
  /// Copies of whole rows to shared memory by one thread.
  bool hasBulkCopies;
  /// Blocks that reach each other's shared memory; 1: none do.
  unsigned clusterBlocks;
  /// Products by warpgroups, whose results kernels can take as they come
  /// (fp8-join-products).
  bool joinsProducts;
  /// Kernels wait for memory: a value is computed again where that moves fewer
  /// bytes than to write and read it.
  bool recomputes;
  /// The scale layouts of the library's f8 product, one bit (1 << layout) each.
  unsigned libraryScales;
  /// The library takes operands that are contiguous along K alone.
  bool needsKMajor;
  /// What addresses and leading dims (in bytes) of the library's operands are
  /// multiples of; 1: anything.
  unsigned libraryAlignment;
  /// Bytes of shared memory that one block may have; 0 where there is none.
  unsigned sharedMemory;
  /// The version of PTX that kernels are printed in, as LLVM names it.
  llvm::StringLiteral ptxVersion;

  bool isCPU() const { return computeCapability == 0; }
  bool hasLibraryScale(ScaleLayout layout) const {
    return libraryScales & (1u << static_cast<unsigned>(layout));
  }
};

/// All targets.
llvm::ArrayRef<Target> getTargets();

/// The target with this name, or null.
const Target *findTarget(llvm::StringRef name);

/// The best target for a device of that compute capability (0: the CPU), or
/// null. Those named "...a" run on their own capability alone.
const Target *findTargetForCapability(unsigned computeCapability);

/// The layout of an operand's scales. `inner` is the dim that K is.
ScaleLayout getScaleLayout(fp8::ScalingAttr scaling, mlir::Type scaleElement,
                           int64_t inner);

/// Why `op` cannot be compiled for `target` at all, or "" where it can.
std::string whyUnsupported(mlir::Operation *op, const Target &target);

/// Why the library of `target` does not compute `op`, so that a kernel of ours
/// must, or "" where it does: numerics.md, "Products". What depends on sizes is
/// checked where they are static.
std::string whyNotLibrary(fp8::ScaledMatmulOp op, const Target &target);

} // namespace fp8c

#endif // FP8C_TARGET_TARGET_H
