//===- KernelBuilder.h - One kernel as a function ----------------*- C++
//-*-===//
//
// Part of fp8c, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef FP8C_LIB_CODEGEN_CPU_KERNELBUILDER_H
#define FP8C_LIB_CODEGEN_CPU_KERNELBUILDER_H

#include "fp8c/Codegen/RowProgram.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/Builders.h"
#include "llvm/Support/SaveAndRestore.h"

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

/// Emits the function of one RowProgram. Element types are lowered: bf16 to its
/// bits in i16, f8 to i8, index to i64.
class KernelBuilder {
public:
  KernelBuilder(const RowProgram &program, mlir::OpBuilder &builder,
                mlir::Location loc)
      : program(program), builder(builder), loc(loc) {}

  /// Emits the function at the builder's insertion point.
  mlir::func::FuncOp build(llvm::StringRef name);

private:
  using Frame = llvm::DenseMap<void *, Lanes>;
  /// The accumulators of one result of a reduction.
  struct Accumulator {
    /// One value a lane, or null.
    mlir::Value vector;
    /// Type of `vector`'s memory, and the number of its lanes.
    unsigned width = 1;
    mlir::Value scalar;
  };

  // Functions, tasks and loops (KernelBuilder.cpp).
  void emitTask(mlir::Value task);
  void emitActions(llvm::ArrayRef<Action> actions, DimSet bound);
  void emitLoop(const Action &action, DimSet bound);
  void emitLoopAt(unsigned width, const Action &action, DimSet bound,
                  mlir::Value from, mlir::Value to);
  void hoist(llvm::ArrayRef<Action> actions, DimSet bound);
  void hoistValue(mlir::Value value, DimSet bound,
                  llvm::DenseSet<mlir::Value> &visited);
  mlir::Value extent(unsigned dim);

  // Reductions (Reductions.cpp).
  void begin(unsigned reduction);
  void accumulate(unsigned reduction);
  void end(unsigned reduction);
  void atomicAmax(unsigned result);
  void flushAtomics();
  mlir::Value combineLanes(mlir::Operation *combiner, mlir::Value vector);

  // Values (Values.cpp).
  Lanes evaluate(mlir::Value tensor);
  llvm::SmallVector<Lanes> evaluateRegion(mlir::linalg::GenericOp op,
                                          llvm::ArrayRef<Lanes> accumulators);
  Lanes readOperand(mlir::linalg::GenericOp op, mlir::OpOperand &operand);
  Lanes evaluateOp(mlir::Operation *op, llvm::ArrayRef<int64_t> loops,
                   llvm::function_ref<Lanes(mlir::Value)> lookup);
  Lanes evaluateCast(mlir::Operation *op, Lanes input);
  Lanes evaluateOutside(mlir::Value scalar);
  Lanes evaluateDim(mlir::tensor::DimOp op);
  Lanes evaluateAffine(mlir::AffineExpr expr, llvm::ArrayRef<int64_t> loops);
  Lanes indexOf(int64_t dim);
  Lanes constant(mlir::Attribute attribute);
  mlir::Value spread(Lanes lanes);
  mlir::Value toF32(mlir::Value value, mlir::Type element);
  mlir::Value fromF32(mlir::Value value, mlir::Type element);
  Lanes addIndex(Lanes left, Lanes right);

  // Memory (Memory.cpp).
  Lanes load(unsigned operand, llvm::ArrayRef<Lanes> indices);
  void store(unsigned result);
  void save(unsigned saved);
  Lanes loadSaved(unsigned saved);
  Lanes savedOffset(const Saved &saved);
  Lanes loadAt(mlir::Value base, mlir::Type element, Lanes offset,
               mlir::Value laneStride);
  void storeAt(mlir::Value base, mlir::Type element, Lanes offset,
               mlir::Value laneStride, Lanes value);
  std::pair<Lanes, mlir::Value> offsetOf(unsigned operand,
                                         llvm::ArrayRef<Lanes> indices);
  mlir::Value pointer(mlir::Value base, mlir::Type element, mlir::Value offset);
  mlir::Value loadMemory(mlir::Value address, mlir::Type element,
                         unsigned lanes);
  void storeMemory(mlir::Value address, mlir::Type element, mlir::Value value);
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
  mlir::Operation *entryEnd = nullptr;
  mlir::Value scratch;
  llvm::SmallVector<mlir::Value> sizes, pointers, scratchBases;
  /// Where each dim stands: an index, or the first of the lanes.
  llvm::SmallVector<mlir::Value> indices;
  /// The bounds of the task's piece of each dim that is cut, or null.
  llvm::SmallVector<std::pair<mlir::Value, mlir::Value>> pieces;
  /// The number of lanes where code is emitted, and in the main loops.
  unsigned width = 1, mainWidth = 1;
  llvm::SmallVector<Frame> frames;
  llvm::DenseMap<unsigned, llvm::SmallVector<Accumulator>> accumulators;
  llvm::DenseMap<unsigned, Accumulator> atomics;
  llvm::DenseMap<mlir::Value, unsigned> savedOf;
  llvm::DenseSet<unsigned> isSaved;
};

} // namespace fp8c::codegen

#endif // FP8C_LIB_CODEGEN_CPU_KERNELBUILDER_H
