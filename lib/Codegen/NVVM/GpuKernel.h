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

  /// Places of vectors relative to a row and a column.
  using Places = llvm::ArrayRef<std::pair<int64_t, int64_t>>;
  /// Emits a function of what the kernel does with vectors of operand
  /// `operand` that it is given, one at each of `places` (Joined.cpp).
  void buildTake(llvm::StringRef name, unsigned operand, Places places);

private:
  // Blocks and groups (GpuKernel.cpp).
  void readParameters(unsigned numSizes, bool areOwn);
  void emitTasks(mlir::Value tasks);
  mlir::Value inOrder(mlir::Value number, mlir::Value count);
  /// The zeros that follow this row in results that want some.
  void writeZeros();
  std::pair<mlir::Value, mlir::Value> divideTask(mlir::Value task,
                                                 mlir::Value count) override;
  mlir::Value getChunk(const TaskDim &dim) override;
  mlir::Value getParts(const TaskDim &dim) override;
  void collectKept();

  // Loops along vectors (Vectors.cpp).
  llvm::SmallVector<mlir::Value> getStarts(mlir::Value from);
  void emitVectorLoop(const Action &action, DimSet bound, mlir::Value from,
                      mlir::Value to) override;
  void emitDealt(const Action &action, DimSet bound, mlir::Value from,
                 mlir::Value to);
  void emitUnrolled(const Action &action, DimSet bound, mlir::Value from);
  Lanes keepPacked(Lanes lanes);
  void delayScalars();
  void save(unsigned index) override;
  Lanes loadSaved(unsigned index) override;

  // By where operands lie (Versions.cpp).
  void emitVersions();
  void emitGuarded(llvm::function_ref<void()> emit,
                   llvm::function_ref<mlir::Value()> condition,
                   llvm::function_ref<void()> otherwise);
  void emitFlat();
  void emitFlatTask(mlir::Value task);
  mlir::Value buildTotal();
  mlir::Value buildDense();
  mlir::Value buildAlignment(bool ofRows);
  mlir::Value buildIsNarrow();
  mlir::Value narrow(mlir::Value value);

  // Several rows a task, brought ahead (Rows.cpp).
  void emitBody(DimSet bound) override;
  void emitRow(mlir::Value row, mlir::Value end, DimSet bound);
  void readCommon(DimSet bound);
  void readAhead(mlir::Value row);
  void takeRow(mlir::Value row, mlir::Value end);
  void initStages();
  void issueRow(mlir::Value row, mlir::Value number);
  void issueNext();
  void awaitRow();
  std::optional<Lanes> readStaged(mlir::OpOperand *read) override;
  mlir::Value stageOf(mlir::Value number);
  mlir::Value barrierOf(mlir::Value number);
  std::string barriersName() const { return sharedName + "_barriers"; }
  std::string arrivalsName() const { return sharedName + "_arrivals"; }
  std::string rowsName() const { return sharedName + "_rows"; }

  // What a product's result is given to (Joined.cpp).
  void bindRow(mlir::Value row);
  std::optional<Lanes> readGiven(mlir::OpOperand *read);

  // Mean and variance together (Moments.cpp).
  size_t emitFused(llvm::ArrayRef<Action> actions, DimSet bound) override;
  void combineMoments(mlir::Value &sum, mlir::Value &squares, int64_t count);

  // The amax of values no larger than their elements (SmallValues.cpp).
  void initFloors();
  mlir::Value limitFloor(mlir::Value bits);
  void atomicAmax(unsigned result) override;
  void raiseFloors();

  // Threads (Threads.cpp).
  mlir::Value i32(int64_t value);
  void synchronise();
  using Stores = llvm::ArrayRef<std::pair<mlir::Value, mlir::Value>>;
  void exchange(Stores stores, mlir::Value place);
  mlir::Value turn();
  void combineThreads(llvm::ArrayRef<mlir::Operation *> combiners,
                      llvm::MutableArrayRef<mlir::Value> scalars) override;
  mlir::Value memberMask();
  mlir::Value shuffle(mlir::Value value, unsigned offset, mlir::Value mask);
  mlir::Value combineWarp(mlir::Operation *combiner, mlir::Value value,
                          unsigned threads, mlir::Value mask);
  void combineWarps(llvm::ArrayRef<mlir::Operation *> combiners,
                    llvm::MutableArrayRef<mlir::Value> scalars);
  using Read = llvm::function_ref<mlir::Value(mlir::Value)>;
  using Combine = llvm::function_ref<mlir::Value(mlir::Value, mlir::Value)>;
  mlir::Value combineInLanes(unsigned count, mlir::Value neutral, Read read,
                             Combine combine);
  mlir::Value toBits(mlir::Value value);
  mlir::Value fromBits(mlir::Value bits, mlir::Type type);
  mlir::Value sharedAddress(mlir::Value index, mlir::Value place);
  mlir::Value isFirstLane();
  void emitIf(mlir::Value condition, llvm::function_ref<void()> body);
  void atomicMax(llvm::ArrayRef<mlir::Value> bits) override;

  // Threads of a cluster's blocks (Clusters.cpp).
  void emitShared();
  void meet();
  mlir::Value arrivalsOf(mlir::Value place);
  void exchangeInCluster(Stores stores, mlir::Value place);
  void awaitPhase(mlir::Value barrier, mlir::Value phase);

  // Forms that the hardware has, with the bytes of the graph (Fused.cpp).
  std::optional<Lanes> evaluateSpecial(mlir::Operation *op,
                                       Lookup lookup) override;
  mlir::Value emitPairwise(mlir::Value value);
  mlir::Value emitActivation(mlir::Value value);
  mlir::Value emitSiLU(mlir::Value value);
  mlir::Value emitGELU(mlir::Value value);
  mlir::Value moveTail(mlir::Value x, float tail);
  mlir::Value emitPower(mlir::Value x);
  bool comesLate(mlir::linalg::GenericOp op) const override;
  bool comparesNarrow(mlir::Type element) const override;
  mlir::Value combineMagnitudes(mlir::Value lanes, mlir::Value values) override;
  mlir::Value largestMagnitude(mlir::Value lanes) override;
  mlir::Value emitReciprocal(mlir::Value x);
  mlir::Value getPairs(mlir::Value value);
  mlir::Value mapLanes(mlir::Value value,
                       llvm::function_ref<mlir::Value(mlir::Value)> function);
  mlir::Value splat(mlir::Value like, float value);

  // Casts of quotients (Quotients.cpp).
  mlir::Value stripClamp(mlir::Value value, float largest);
  /// What divides by a scalar s: 1/s as high + low, while s is usual.
  struct Division {
    mlir::Value isUsual, high, low;
    /// Whether it is known if s is usual, and that it is not.
    bool isChosen = false, isExact = false;
  };
  Division divideBy(mlir::Value divisor);
  mlir::Value findDivisor(llvm::ArrayRef<Action> actions);
  mlir::Value emitQuotient(mlir::Value value,
                           llvm::function_ref<mlir::Value(mlir::Value)> cast);
  mlir::LLVM::LLVMFuncOp
  getDivision(unsigned lanes,
              llvm::function_ref<mlir::Value(mlir::Value)> convert);

  // Conversions and memory (Conversions.cpp).
  mlir::Value call(llvm::StringRef intrinsic, mlir::Type type,
                   mlir::ValueRange arguments);
  mlir::Value toF32(mlir::Value value, mlir::Type element) override;
  mlir::Value fromF32(mlir::Value value, mlir::Type element) override;
  mlir::Value toF8(mlir::Value value, mlir::Type element,
                   fp8::Overflow overflow) override;
  mlir::Value bitcast(mlir::Type type, mlir::Value value);
  mlir::Type wordsOf(unsigned bits);
  mlir::Value castToF8(mlir::Value value, mlir::Type element);
  mlir::Value extractLane(mlir::Value value, unsigned i);
  mlir::Value joinPairs(llvm::ArrayRef<mlir::Value> pairs, mlir::Type type);
  bool canMoveVector(unsigned operand, llvm::ArrayRef<Lanes> at) override;
  mlir::Value loadMemory(mlir::Value address, mlir::Type element,
                         unsigned lanes) override;
  void storeMemory(mlir::Value address, mlir::Type element,
                   mlir::Value value) override;
  void store(unsigned result) override;

  LaunchShape shape;
  const Target &target;
  /// The thread within its group, its block and its warp, as i32.
  mlir::Value thread, threadInBlock, lane;
  /// The offset of the shared memory that the next reduction uses.
  mlir::Value parity;
  /// Scalars of a reduction that threads share.
  unsigned sharedScalars = 0;
  std::string sharedName;
  /// The divisors of the casts in a loop.
  llvm::DenseMap<mlir::Value, Division> divisions;
  /// The bf16 values that f32 values were widened from.
  llvm::DenseMap<mlir::Value, mlir::Value> widened;
  /// Whether nothing is known of where operands lie.
  bool movesElements = false;
  /// For an amax, the element that is as large as each value, and the largest
  /// value so far, in memory.
  llvm::MapVector<unsigned, std::pair<mlir::OpOperand *, mlir::Value>> floors;
  /// Operands that are moved in vectors.
  llvm::DenseSet<unsigned> vectorOperands;
  /// What stays in registers from one loop over a task's elements to the next:
  /// the values of each vector, while `keptAt` are the indices of the dims.
  llvm::DenseSet<void *> keepable;
  llvm::SmallVector<Frame> kept;
  llvm::SmallVector<mlir::Value> keptAt;
  bool isUnrolled = false, isFlat = false;
  /// Whether code is emitted for the last piece of all elements alone.
  bool isRare = false;
  /// Whether squares are added up whose mean is not the graph's.
  bool inMoments = false;
  /// Whether rows come ahead through shared memory, and whether a task that may
  /// have several rows has one.
  bool usesStages = false, isSingle = false;
  /// Whether a group is the threads of a cluster's blocks; in memory, whether
  /// those have all begun, and the number of their exchanges.
  bool isShared = false;
  mlir::Value haveMet, exchanges;
  /// What the rows of a task share, for each vector.
  llvm::SmallVector<Frame> common;
  /// The reads that come from shared memory, and where in a row's part of it.
  llvm::SmallVector<std::pair<mlir::OpOperand *, int64_t>> staged;
  /// The next row's own vectors, in memory, where rows come ahead through
  /// registers.
  llvm::SmallVector<llvm::MapVector<mlir::OpOperand *, mlir::Value>> next;
  /// The operand whose vectors are given, and the vector that is.
  std::optional<unsigned> givenOperand;
  mlir::Value given;
  /// The number of rows that this block has done, in memory.
  mlir::Value rowsDone;
  /// The row that is done, the end of the task's rows, and whether a row is
  /// brought in this row's place at the next barrier.
  mlir::Value rowIndex, rowEnd;
  bool mustIssue = false;
};

} // namespace fp8c::codegen

#endif // FP8C_LIB_CODEGEN_NVVM_GPUKERNEL_H
