//===- GpuKernel.h - One kernel for a GPU -----------------------*- C++ -*-===//
//
// Part of fp8c, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef FP8C_LIB_CODEGEN_NVVM_GPUKERNEL_H
#define FP8C_LIB_CODEGEN_NVVM_GPUKERNEL_H

#include "../KernelBuilder.h"

#include "fp8c/Codegen/LaunchShape.h"
#include "fp8c/Target/Target.h"

namespace fp8c::codegen {

/// A kernel whose groups of threads do tasks, a grid apart. Where operands are
/// aligned, threads move whole vectors; elsewhere the same kernel moves
/// elements.
class GpuKernel : public KernelBuilder {
public:
  GpuKernel(const RowProgram &program, const LaunchShape &shape,
            const Target &target, mlir::OpBuilder &builder, mlir::Location loc);

  /// Emits the kernel at the builder's insertion point.
  void build(llvm::StringRef name);

private:
  // Blocks, groups and loops (GpuKernel.cpp).
  void emitTasks(mlir::Value tasks);
  mlir::Value buildTasks();
  mlir::Value buildAlignment();
  int64_t getChunk(const TaskDim &dim) const override;
  void emitVectorLoop(const Action &action, DimSet bound, mlir::Value from,
                      mlir::Value to) override;
  void emitDealt(const Action &action, DimSet bound, mlir::Value from,
                 mlir::Value to);
  void emitUnrolled(const Action &action, DimSet bound, mlir::Value from);
  Lanes keepPacked(Lanes lanes);
  void collectKept();
  void save(unsigned index) override;
  Lanes loadSaved(unsigned index) override;

  // Threads (Threads.cpp).
  mlir::Value i32(int64_t value);
  void synchronise();
  void combineThreads(llvm::ArrayRef<mlir::Operation *> combiners,
                      llvm::MutableArrayRef<mlir::Value> scalars) override;
  mlir::Value memberMask();
  mlir::Value shuffle(mlir::Value value, unsigned offset, mlir::Value mask);
  mlir::Value combineWarp(mlir::Operation *combiner, mlir::Value value,
                          unsigned threads, mlir::Value mask);
  void combineWarps(llvm::ArrayRef<mlir::Operation *> combiners,
                    llvm::MutableArrayRef<mlir::Value> scalars);
  mlir::Value toBits(mlir::Value value);
  mlir::Value fromBits(mlir::Value bits, mlir::Type type);
  mlir::Value sharedAddress(mlir::Value index);
  void emitIf(mlir::Value condition, llvm::function_ref<void()> body);
  void atomicMax(llvm::ArrayRef<mlir::Value> bits) override;

  // Forms that the hardware has, with the bytes of the graph (Fused.cpp).
  std::optional<Lanes> evaluateSpecial(mlir::Operation *op,
                                       Lookup lookup) override;
  mlir::Value emitPairwise(mlir::Value value);
  mlir::Value emitActivation(mlir::Value value);
  mlir::Value stripClamp(mlir::Value value, float largest);
  mlir::Value emitQuotient(mlir::Value value,
                           llvm::function_ref<mlir::Value(mlir::Value)> cast);
  mlir::Value getPairs(mlir::Value value);
  mlir::Value mapLanes(mlir::Value value,
                       llvm::function_ref<mlir::Value(mlir::Value)> function);
  mlir::Value splat(mlir::Value like, float value);

  // Conversions and memory (Conversions.cpp).
  mlir::Value call(llvm::StringRef intrinsic, mlir::Type type,
                   mlir::ValueRange arguments);
  mlir::Value toF32(mlir::Value value, mlir::Type element) override;
  mlir::Value fromF32(mlir::Value value, mlir::Type element) override;
  mlir::Value toF8(mlir::Value value, mlir::Type element,
                   fp8::Overflow overflow) override;
  mlir::Value bitcast(mlir::Type type, mlir::Value value);
  mlir::Value castToF8(mlir::Value value, mlir::Type element);
  mlir::Value extractLane(mlir::Value value, unsigned i);
  mlir::Value joinPairs(llvm::ArrayRef<mlir::Value> pairs, mlir::Type type);
  bool canMoveVector(unsigned operand, llvm::ArrayRef<Lanes> at) override;
  mlir::Value loadMemory(mlir::Value address, mlir::Type element,
                         unsigned lanes) override;
  void storeMemory(mlir::Value address, mlir::Type element,
                   mlir::Value value) override;
  void store(unsigned result) override;

  const LaunchShape &shape;
  const Target &target;
  /// The thread within its group, its block and its warp, as i32.
  mlir::Value thread, threadInBlock, lane;
  /// The offset of the shared memory that the next reduction uses.
  mlir::Value parity;
  /// Scalars of a reduction that threads share.
  unsigned sharedScalars = 0;
  std::string sharedName;
  /// The bf16 values that f32 values were widened from.
  llvm::DenseMap<mlir::Value, mlir::Value> widened;
  /// Operands that are moved in vectors.
  llvm::DenseSet<unsigned> vectorOperands;
  /// What stays in registers from one loop over a task's elements to the next:
  /// the values of each vector, while `keptAt` are the indices of the dims.
  llvm::DenseSet<void *> keepable;
  llvm::SmallVector<Frame> kept;
  llvm::SmallVector<mlir::Value> keptAt;
  bool isUnrolled = false;
};

} // namespace fp8c::codegen

#endif // FP8C_LIB_CODEGEN_NVVM_GPUKERNEL_H
