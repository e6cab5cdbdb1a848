//===- RowProgram.h - What a kernel's body does, row by row -----*- C++ -*-===//
//
// Part of fp8c, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The one analysis of a kernel's body. Lowering to the plan asks it for the
// size block, the tasks and the scratch; code generators walk its actions.
//
// The loops of all ops of a body are unified into the *dims* of one iteration
// space. Outer dims come first: no reduction runs over them and every result
// has them, so each index of them is independent work. Inside, reductions run
// over a suffix of the dims of their input; loops over the inner dims are
// repeated where a value needs a finished reduction. A result of one element
// that is computed from such tensors alone has no dims beside results that do:
// it is written once a launch.
//
// A body is linalg.generic, linalg.fill, tensor.empty, constants and index
// arithmetic, and fp8.amax over the whole tensor (the atomic case). Expand
// the scaled casts and the other fp8 ops first (`fp8-expand-scaled-ops`).
//
//===----------------------------------------------------------------------===//

#ifndef FP8C_CODEGEN_ROWPROGRAM_H
#define FP8C_CODEGEN_ROWPROGRAM_H

#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "llvm/ADT/DenseMap.h"

#include <string>
#include <vector>

namespace fp8c::codegen {

/// A set of dims of the iteration space, one bit a dim.
using DimSet = uint64_t;

/// One dim of the iteration space.
struct Dim {
  /// The extent, or ShapedType::kDynamic.
  int64_t size;
  /// Where a launch finds the extent: dim `operandDim` of operand `operand`.
  /// -1 where the extent is static and no operand has the dim.
  int64_t operand = -1;
  int64_t operandDim = -1;
};

/// A tensor that a launch passes: captured tensors in order, then results.
struct Operand {
  mlir::RankedTensorType type;
  /// The dim whose stride is known to be 1, or -1.
  int64_t unitDim;
  /// The block argument of a captured tensor, null for a result.
  mlir::BlockArgument argument;
  /// Where the strides of its dims begin in the size block.
  unsigned firstStride;
};

/// A reduction over a suffix of the dims of its input.
struct Reduction {
  mlir::linalg::GenericOp op;
  /// The dims that its result has, and the dims that it runs over.
  DimSet kept, reduced;
  /// True if each of its results is one associative operation on its
  /// accumulator and a value, so that it may run in parts.
  bool associative;
};

/// A value that is written to the thread's scratch when first computed and
/// read in later loops, because computing it again would cost more.
struct Saved {
  mlir::Value value;
  /// The dims of its elements in scratch, in order, task dims of chunk 1 left
  /// out.
  llvm::SmallVector<unsigned> dims;
  /// Bytes of one element.
  unsigned elementBytes;
};

/// A step of the program.
struct Action {
  enum class Kind {
    /// Repeat `body` for each index of dim `index`.
    Loop,
    /// Set the accumulators of reduction `index` to their start.
    Begin,
    /// Combine the inputs at this point into reduction `index`.
    Accumulate,
    /// The results of reduction `index` are ready from here.
    End,
    /// Compute saved value `index` here and keep it in scratch.
    Save,
    /// Write result `index`.
    Store,
    /// Combine the absolute value of the input of the tensor-wide fp8.amax that
    /// is result `index` into its slot.
    AtomicAmax,
  };
  Kind kind;
  unsigned index;
  std::vector<Action> body;
};

/// Part of how the space is cut into tasks: dim `dim` in pieces of `chunk`.
struct TaskDim {
  unsigned dim;
  int64_t chunk;
};

/// The program of one kernel. It refers to the body that it was made from.
class RowProgram {
public:
  /// Analyses `body`, the block of an `fp8.kernel` or a `plan.kernel`.
  /// `unitDims` has an entry an operand (the dim whose stride is 1, or -1);
  /// left empty, every operand is dense and row-major. A body that is not legal
  /// gives failure and the reason in `why`.
  static mlir::FailureOr<RowProgram> analyze(mlir::Block &body,
                                             llvm::ArrayRef<int64_t> unitDims,
                                             std::string &why);

  /// The block that it was made from.
  mlir::Block *getBody() const { return terminator->getBlock(); }
  /// The iteration space. A launch's size block begins with their extents.
  llvm::ArrayRef<Dim> getDims() const { return dims; }
  /// The number of outer dims, which come first.
  unsigned getNumOuter() const { return numOuter; }
  llvm::ArrayRef<Operand> getOperands() const { return operands; }
  unsigned getNumInputs() const { return numInputs; }
  /// The operand of a captured tensor.
  const Operand &getOperand(mlir::BlockArgument argument) const;
  unsigned getOperandIndex(mlir::BlockArgument argument) const;
  llvm::ArrayRef<Reduction> getReductions() const { return reductions; }
  llvm::ArrayRef<Saved> getSaved() const { return saved; }
  /// What a task does for one index of the outer dims (or a chunk of them).
  llvm::ArrayRef<Action> getActions() const { return actions; }
  /// The cut into tasks; the first varies slowest.
  llvm::ArrayRef<TaskDim> getTaskDims() const { return taskDims; }
  /// The dim that vector lanes run along, -1 in a space without dims. Either
  /// the last dim (reductions over it combine lanes), or the last outer dim
  /// (each lane is a row of its own).
  int64_t getVectorDim() const { return vectorDim; }
  /// Results that are the slot of a tensor-wide amax: a launch combines into
  /// them, so they are filled with 0 before it.
  llvm::ArrayRef<unsigned> getAtomicResults() const { return atomicResults; }
  /// Results of one element that no task has: a launch writes them once, also
  /// where it has no tasks.
  llvm::ArrayRef<unsigned> getSingleResults() const { return singleResults; }

  /// The dims of the iteration space that the loops of a body op (a structured
  /// op, or the fp8.amax of an atomic result) are; -1 for a loop of extent 1.
  llvm::ArrayRef<int64_t> getLoops(mlir::Operation *op) const;
  /// The same for the dims of a result.
  llvm::ArrayRef<int64_t> getResultLoops(unsigned result) const;
  /// The indices of a read of a captured tensor as functions of the dims.
  mlir::AffineMap getReadMap(mlir::linalg::GenericOp op,
                             mlir::OpOperand &read) const;
  /// The value that result `result` is.
  mlir::Value getResult(unsigned result) const;
  /// The dims that a tensor of the body depends on.
  DimSet getDomain(mlir::Value value) const { return domains.lookup(value); }

  /// The size block: extents, then strides operand by operand, then captured
  /// indices in order.
  unsigned getNumSizes() const { return numSizes; }
  /// Where a captured index is in the size block.
  unsigned getCapturedIndex(mlir::BlockArgument argument) const;

  /// The number of tasks, and the bytes of scratch of one thread, of a launch
  /// with these extents.
  int64_t getTasks(llvm::ArrayRef<int64_t> extents) const;
  int64_t getScratch(llvm::ArrayRef<int64_t> extents) const;
  /// The same as index values; `extents` has an index value a dim.
  mlir::Value buildTasks(mlir::OpBuilder &builder, mlir::Location loc,
                         mlir::ValueRange extents) const;
  mlir::Value buildScratch(mlir::OpBuilder &builder, mlir::Location loc,
                           mlir::ValueRange extents) const;

private:
  friend class RowAnalysis;

  llvm::SmallVector<Dim> dims;
  unsigned numOuter = 0;
  llvm::SmallVector<Operand> operands;
  unsigned numInputs = 0;
  llvm::SmallVector<Reduction> reductions;
  llvm::SmallVector<Saved> saved;
  std::vector<Action> actions;
  llvm::SmallVector<TaskDim> taskDims;
  int64_t vectorDim = -1;
  llvm::SmallVector<unsigned> atomicResults, singleResults;
  llvm::DenseMap<mlir::Operation *, llvm::SmallVector<int64_t>> loops;
  llvm::SmallVector<llvm::SmallVector<int64_t>> resultLoops;
  llvm::DenseMap<mlir::Value, DimSet> domains;
  mlir::Operation *terminator = nullptr;
  unsigned numSizes = 0;
  unsigned firstCaptured = 0;
};

} // namespace fp8c::codegen

#endif // FP8C_CODEGEN_ROWPROGRAM_H
