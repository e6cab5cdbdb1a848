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
#include "fp8c/Target/Target.h"

namespace fp8c::codegen {

/// An attribute of a plan.kernel: a dictionary of numbers that are taken where
/// choices are made, so that they can be measured.
inline constexpr llvm::StringLiteral kLaunchAttr = "fp8.launch";

/// An attribute of a plan.kernel: for each result the zeros that follow each of
/// its rows.
inline constexpr llvm::StringLiteral kZerosAttr = "fp8.zeros";

/// Whether a kernel for a GPU can write the zeros that follow the rows of a
/// result: each row of it is a task, or its end is that of one.
bool writesZeros(const RowProgram &program, unsigned result);

/// What is expected instead, for an error; empty where `choices` are right.
std::string checkLaunchChoices(mlir::DictionaryAttr choices);

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
  /// Rows begin anywhere: their vectors are moved element by element.
  bool byElements = false;
  /// Another kernel computes the same sums, wherever its operands lie: additions
  /// have one order, whether vectors are moved or elements.
  bool sameSums = false;
  /// The elements of one task along the dim that the program cuts into chunks.
  int64_t chunk = 1;
  /// The dims are one where operands lie densely: tasks are `chunk` elements of
  /// all of them. (Elsewhere the kernel takes the same blocks for its tasks.)
  bool flat = false;
  /// Flat: the vectors that a thread has instead, and up to how many elements,
  /// so that small tensors are shared by more multiprocessors; fewer each time.
  llvm::SmallVector<std::pair<unsigned, int64_t>, 2> fewer;
  /// The most rows, along the last task dim, that a block does one after the
  /// other as one task; what they share stays in its registers. 1: each row is
  /// a task, and launches have no parts.
  unsigned rows = 1;
  /// With several rows: how many tasks run at a time. Rows are dealt out to as
  /// many tasks, or a multiple, so that all have as much to do.
  int64_t wave = 0;
  /// With several rows: those whose operands are in shared memory at a time,
  /// brought ahead by bulk copies.
  unsigned stages = 0;
  /// Reads all operands of a row before its first reduction: more registers for
  /// less waiting.
  bool readsAhead = false;
  /// Does the casts of all vectors side by side: more registers for less
  /// waiting.
  bool sideBySide = false;
  /// The blocks of a multiprocessor that registers are to suffice for; 0: the
  /// assembler's choice.
  unsigned minBlocks = 0;
  /// Bytes of dynamic shared memory of a block.
  int64_t sharedBytes = 0;
  /// Blocks of a persistent grid for each multiprocessor; 0: a block for each
  /// `groups` tasks.
  unsigned resident = 0;
  /// The blocks, a cluster, that share each task in launches of at most
  /// `clusterTasks` of them; 1: a task is one block's. A thread then has
  /// `clusterVectors` vectors.
  unsigned cluster = 1, clusterVectors = 0;
  int64_t clusterTasks = 0;
  /// Does tasks, and their rows, from the last to the first.
  bool backwards = false;
  /// May start before the kernel before it has ended: it waits for that by
  /// itself.
  bool dependent = false;

  /// Threads of a block.
  unsigned getThreads() const { return group * groups; }
  /// The elements of a row that all threads of a group have as many of.
  int64_t getCovered() const { return int64_t(group) * width * vectors; }

  /// The shape for `program`. Its op may say otherwise in kLaunchAttr.
  static LaunchShape choose(const RowProgram &program, const Target &target);

  /// With several rows: the number of tasks along the last task dim, as an
  /// index value; `extents` has an index value a dim. It is the last number of
  /// a launch's size block.
  mlir::Value buildParts(mlir::OpBuilder &builder, mlir::Location loc,
                         const RowProgram &program,
                         mlir::ValueRange extents) const;
  /// The number of blocks that have work in a launch with these extents, and
  /// parts.
  mlir::Value buildBlocks(mlir::OpBuilder &builder, mlir::Location loc,
                          const RowProgram &program, mlir::ValueRange extents,
                          mlir::Value parts) const;
};

} // namespace fp8c::codegen

#endif // FP8C_CODEGEN_LAUNCHSHAPE_H
