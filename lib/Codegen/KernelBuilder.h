//===- KernelBuilder.h - One kernel as a function ---------------*- C++ -*-===//
//
// Part of fp8c, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What the generators of all devices share: it walks a RowProgram's actions and
// emits values, addresses and accumulators. A device says how the loop along
// the lanes is run, what its conversions are, and how threads come together.
//
//===----------------------------------------------------------------------===//

#ifndef FP8C_LIB_CODEGEN_KERNELBUILDER_H
#define FP8C_LIB_CODEGEN_KERNELBUILDER_H

#include "fp8c/Codegen/RowProgram.h"
#include "fp8c/Dialect/FP8/FP8.h"

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/Builders.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/Support/SaveAndRestore.h"

#include <optional>

namespace fp8c::codegen {

/// A value where code is emitted: for all lanes, or a lane each.
struct Lanes {
  enum Kind {
    /// A scalar, the same in all lanes.
    Uniform,
    /// An integer scalar that lane i adds i to.
    Linear,
    /// A vector.
    Varying,
  };
  mlir::Value value;
  Kind kind = Uniform;
};

/// True if an operation of a reduction combines magnitudes: f32 values that are
/// not negative, ordered as their bits are, NaN on top.
bool isMagnitude(mlir::Operation *combiner);

/// Emits the function of one RowProgram. Element types are lowered: bf16 to its
/// bits in i16, f8 to i8, index to i64.
class KernelBuilder {
public:
  KernelBuilder(const RowProgram &program, mlir::OpBuilder &builder,
                mlir::Location loc);
  virtual ~KernelBuilder() = default;

protected:
  /// Values by what they are of, in the order in which they were made.
  using Frame = llvm::MapVector<void *, Lanes>;
  using Lookup = llvm::function_ref<Lanes(mlir::Value)>;
  /// The accumulators of one result of a reduction.
  struct Accumulator {
    /// One value a lane, or null.
    mlir::Value vector;
    /// Type of `vector`'s memory, and the number of its lanes.
    unsigned width = 1;
    /// Of elements done one at a time.
    mlir::Value scalar;
    /// What all threads together begin with, where `scalar` is one thread's.
    mlir::Value start;
    /// The narrow type of `vector`'s lanes, if they are magnitudes that are not
    /// widened.
    mlir::Type narrow;
  };

  // What a device does its own way.

  /// A loop along the lanes, from `from` to `to`.
  virtual void emitVectorLoop(const Action &action, DimSet bound,
                              mlir::Value from, mlir::Value to) = 0;
  /// The elements of a task along a dim, or null where it is one.
  virtual mlir::Value getChunk(const TaskDim &dim);
  /// The number of tasks along a dim whose elements are dealt out to them one
  /// by one, or null.
  virtual mlir::Value getParts(const TaskDim &dim) { return {}; }
  /// The quotient of a task's number by a count, and what is left.
  virtual std::pair<mlir::Value, mlir::Value> divideTask(mlir::Value task,
                                                         mlir::Value count);
  /// What a task does, with these dims bound; the others have pieces.
  virtual void emitBody(DimSet bound);
  /// Emits what the first actions do in another form, and returns their number,
  /// or 0.
  virtual size_t emitFused(llvm::ArrayRef<Action> actions, DimSet bound) {
    return 0;
  }
  /// The value of a read that the device has brought elsewhere, or nothing.
  virtual std::optional<Lanes> readStaged(mlir::OpOperand *read) {
    return std::nullopt;
  }
  /// Keeps saved value `index` from here on, or does not, so that it is
  /// computed again.
  virtual void save(unsigned index) = 0;
  virtual Lanes loadSaved(unsigned index) = 0;
  /// Writes the elements of a result at this point.
  virtual void store(unsigned result);
  /// Scalars that the lanes of one thread have come to, as those of all threads
  /// of the task. `combiners` has their operations.
  virtual void combineThreads(llvm::ArrayRef<mlir::Operation *> combiners,
                              llvm::MutableArrayRef<mlir::Value> scalars) {}
  /// Combines bits, one value an atomic result, into the slots.
  virtual void atomicMax(llvm::ArrayRef<mlir::Value> bits);
  /// An operation that the device has in another form, or nothing.
  virtual std::optional<Lanes> evaluateSpecial(mlir::Operation *op,
                                               Lookup lookup) {
    return std::nullopt;
  }
  /// True for what is better computed where it is used than before a loop.
  virtual bool comesLate(mlir::linalg::GenericOp op) const { return false; }
  /// True if the largest magnitude of values of a narrow type is found without
  /// widening them: `lanes` and `values` are bits of such values.
  virtual bool comparesNarrow(mlir::Type element) const { return false; }
  virtual mlir::Value combineMagnitudes(mlir::Value lanes, mlir::Value values) {
    llvm_unreachable("a device that compares narrow values");
  }
  /// The bits of the largest of `lanes`, as an f32.
  virtual mlir::Value largestMagnitude(mlir::Value lanes) {
    llvm_unreachable("a device that compares narrow values");
  }
  virtual mlir::Value toF32(mlir::Value value, mlir::Type element);
  virtual mlir::Value fromF32(mlir::Value value, mlir::Type element);
  virtual mlir::Value toF8(mlir::Value value, mlir::Type element,
                           fp8::Overflow overflow);
  /// True if lanes along the unit dim of an operand, at these indices, are one
  /// access to memory.
  virtual bool canMoveVector(unsigned operand, llvm::ArrayRef<Lanes> at) {
    return true;
  }
  /// Loads `lanes` elements from `address`: a scalar or a vector.
  virtual mlir::Value loadMemory(mlir::Value address, mlir::Type element,
                                 unsigned lanes);
  virtual void storeMemory(mlir::Value address, mlir::Type element,
                           mlir::Value value);

  // Tasks and loops (KernelBuilder.cpp).
  void beginAtomics();
  /// The results that no task has, where this thread is the one that does it.
  void storeSingle(mlir::Value isMine);
  mlir::Value buildTasks();
  void emitTask(mlir::Value task);
  void emitActions(llvm::ArrayRef<Action> actions, DimSet bound);
  void emitLoop(const Action &action, DimSet bound);
  /// A loop whose body does `lanes` elements at a time, `step` apart.
  void emitLoopAt(unsigned lanes, const Action &action, DimSet bound,
                  mlir::Value from, mlir::Value to, mlir::Value step);
  /// Computes what the actions need and what depends on bound dims alone, or
  /// only reads the operands of it.
  void hoist(llvm::ArrayRef<Action> actions, DimSet bound,
             bool readsOnly = false);
  void hoistValue(mlir::Value value, DimSet bound, bool readsOnly,
                  llvm::DenseSet<mlir::Value> &visited);
  mlir::Value extent(unsigned dim);
  mlir::Value countChunks(mlir::Value size, mlir::Value chunk);
  /// True if lanes can share reductions: all that run along them are
  /// associative.
  bool canShareLanes() const;

  // Reductions (Reductions.cpp).
  void begin(unsigned reduction);
  void accumulate(unsigned reduction);
  void end(llvm::ArrayRef<unsigned> reductions);
  virtual void atomicAmax(unsigned result);
  void flushAtomics();
  Lanes getNeutral(mlir::Operation *combiner);
  mlir::Value combineLanes(mlir::Operation *combiner, mlir::Value vector);
  mlir::Value combineOwn(mlir::Operation *combiner,
                         const Accumulator &accumulator, mlir::Type element);
  mlir::Value combine(mlir::Operation *combiner, mlir::Value left,
                      mlir::Value right);

  // Values (Values.cpp).
  Lanes evaluate(mlir::Value tensor);
  llvm::SmallVector<Lanes> evaluateRegion(mlir::linalg::GenericOp op,
                                          llvm::ArrayRef<Lanes> accumulators);
  Lanes readOperand(mlir::linalg::GenericOp op, mlir::OpOperand &operand);
  void findEqualReads();
  Lanes evaluateOp(mlir::Operation *op, llvm::ArrayRef<int64_t> loops,
                   Lookup lookup);
  Lanes evaluateCast(mlir::Operation *op, Lanes input);
  Lanes evaluateOutside(mlir::Value scalar);
  Lanes evaluateDim(mlir::tensor::DimOp op);
  Lanes evaluateAffine(mlir::AffineExpr expr, llvm::ArrayRef<int64_t> loops);
  Lanes indexOf(int64_t dim);
  Lanes constant(mlir::Attribute attribute);
  mlir::Value spread(Lanes lanes);
  Lanes addIndex(Lanes left, Lanes right);

  // Memory (Memory.cpp).
  Lanes load(unsigned operand, llvm::ArrayRef<Lanes> indices);
  Lanes loadAt(mlir::Value base, mlir::Type element, Lanes offset,
               mlir::Value laneStride);
  void storeAt(mlir::Value base, mlir::Type element, Lanes offset,
               mlir::Value laneStride, Lanes value);
  std::pair<Lanes, mlir::Value> offsetOf(unsigned operand,
                                         llvm::ArrayRef<Lanes> indices);
  mlir::Value pointer(mlir::Value base, mlir::Type element, mlir::Value offset);
  mlir::Value makeSlot(mlir::Type type);

  // Small things.
  mlir::Type lower(mlir::Type element) const;
  mlir::Type vectorOf(mlir::Type element) const;
  mlir::Value integer(int64_t value);
  mlir::Value constantOf(mlir::Type type, mlir::TypedAttr attribute);
  Lanes *findMemo(void *key);
  void setMemo(void *key, Lanes lanes) { frames.back()[key] = lanes; }
  static void *key(mlir::Value value) { return value.getAsOpaquePointer(); }

  const RowProgram &program;
  mlir::OpBuilder &builder;
  mlir::Location loc;

  mlir::Block *entry = nullptr;
  llvm::SmallVector<mlir::Value> sizes, pointers;
  /// Where each dim stands: an index, or the first of the lanes.
  llvm::SmallVector<mlir::Value> indices;
  /// The bounds of the task's piece of each dim that is cut, or null.
  llvm::SmallVector<std::pair<mlir::Value, mlir::Value>> pieces;
  /// The number of lanes where code is emitted, and in the main loops.
  unsigned width = 1, mainWidth = 1;
  /// Whether several threads share a task.
  bool hasThreads = false;
  /// Whether a device computes what does not depend on a loop by itself, once
  /// it has read the loop's operands.
  bool readsFirst = false;
  llvm::SmallVector<Frame> frames;
  llvm::DenseMap<unsigned, llvm::SmallVector<Accumulator>> accumulators;
  llvm::DenseMap<unsigned, Accumulator> atomics;
  llvm::DenseMap<mlir::Value, unsigned> savedOf;
  /// The first of the reads of the same element of a captured tensor.
  llvm::DenseMap<mlir::OpOperand *, mlir::OpOperand *> equalRead;
  llvm::DenseSet<unsigned> isSaved;
};

} // namespace fp8c::codegen

#endif // FP8C_LIB_CODEGEN_KERNELBUILDER_H
