//===- LaunchShape.h - How a kernel runs on a GPU ---------------*- C++ -*-===//
//
// Part of fp8c, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The choices that are made for a kernel before its code: who does what. Code
// generation and lowering to the plan ask the same function.
//
//===----------------------------------------------------------------------===//

#ifndef FP8C_CODEGEN_LAUNCHSHAPE_H
#define FP8C_CODEGEN_LAUNCHSHAPE_H

#include "fp8c/Codegen/RowProgram.h"

namespace fp8c::codegen {

/// How the tasks of a RowProgram are given to threads. A *group* of threads
/// does one task; the elements along the vector dim are dealt out to its
/// threads, `width` at a time.
struct LaunchShape {
  /// The threads of a group: a power of two up to 32, or whole warps.
  unsigned group = 1;
  /// The groups of a block; 1 where a group is more than a warp.
  unsigned groups = 32;
  /// The elements of one vector; 1: no vectors.
  unsigned width = 1;
  /// The vectors that each thread has of a whole task, so that they stay in
  /// registers; 0: the number is not known and each loop runs over memory.
  unsigned vectors = 0;
  /// The elements of one task along the dim that the program cuts into chunks.
  int64_t chunk = 1;
  /// Blocks of a persistent grid for each multiprocessor; 0: a block for each
  /// `groups` tasks.
  unsigned resident = 0;

  /// Threads of a block.
  unsigned getThreads() const { return group * groups; }

  /// The shape for `program`.
  static LaunchShape choose(const RowProgram &program);

  /// The number of blocks that have work in a launch with these extents, as an
  /// index value; `extents` has an index value a dim.
  mlir::Value buildBlocks(mlir::OpBuilder &builder, mlir::Location loc,
                          const RowProgram &program,
                          mlir::ValueRange extents) const;
};

} // namespace fp8c::codegen

#endif // FP8C_CODEGEN_LAUNCHSHAPE_H
