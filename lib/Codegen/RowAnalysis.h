//===- RowAnalysis.h - How a RowProgram is made -----------------*- C++ -*-===//
//
// Part of fp8c, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef FP8C_LIB_CODEGEN_ROWANALYSIS_H
#define FP8C_LIB_CODEGEN_ROWANALYSIS_H

#include "fp8c/Codegen/RowProgram.h"

#include "llvm/ADT/Twine.h"

namespace fp8c::codegen {

/// Fills a RowProgram: loops into dims (RowProgram.cpp), then the order of the
/// actions (RowSchedule.cpp).
class RowAnalysis {
public:
  RowAnalysis(mlir::Block &body, llvm::ArrayRef<int64_t> unitDims,
              std::string &why)
      : body(body), unitDims(unitDims), why(why) {}

  mlir::LogicalResult run();
  RowProgram take() { return std::move(program); }

private:
  /// A loop nest: of an op, or of the store of a result.
  struct Nest {
    mlir::Operation *op;
    int64_t result = -1;
    /// Its loops as elements of the union-find; -1 for extent 1.
    llvm::SmallVector<int64_t> loops;
  };
  /// A read or write of an operand by affine indices.
  struct Access {
    unsigned nest;
    unsigned operand;
    mlir::AffineMap map;
  };
  /// Something that a program computes, with the dims of the loops around it.
  struct Target {
    Action::Kind kind;
    unsigned index;
    DimSet path;
    llvm::SmallVector<mlir::Value> inputs;
  };

  mlir::LogicalResult fail(const llvm::Twine &reason);

  // Loops into dims.
  mlir::LogicalResult collectOperands();
  mlir::LogicalResult collectNests();
  mlir::LogicalResult checkRegion(mlir::linalg::GenericOp op);
  mlir::LogicalResult addNest(mlir::Operation *op, int64_t result,
                              llvm::ArrayRef<int64_t> extents);
  mlir::LogicalResult readValue(unsigned nest, mlir::Value value,
                                mlir::AffineMap map);
  mlir::LogicalResult unify(int64_t left, int64_t right);
  int64_t find(int64_t element);
  bool meetInANest(int64_t left, int64_t right);
  mlir::LogicalResult alignByOperands();
  bool isSingle(mlir::Value value);
  void findSingleResults();
  mlir::LogicalResult makeDims();
  mlir::LogicalResult orderDims(llvm::SmallVectorImpl<int64_t> &order);
  int64_t voteForUnitStride();
  void computeDomains();
  DimSet toDims(llvm::ArrayRef<int64_t> loops) const;

  // The order of the actions.
  mlir::LogicalResult schedule();
  mlir::FailureOr<std::vector<Action>>
  scheduleScope(DimSet bound, llvm::SmallVector<Target> targets);
  mlir::FailureOr<std::vector<Action>> descend(DimSet bound,
                                               llvm::ArrayRef<Target> targets);
  void chooseSaved(DimSet bound,
                   llvm::MutableArrayRef<llvm::SmallVector<Target>> stages);
  void collectCone(mlir::Value value, llvm::DenseSet<mlir::Value> &cone);
  llvm::SmallVector<mlir::Value> getReads(mlir::Operation *op);
  unsigned getCost(mlir::Value value);

  mlir::Block &body;
  llvm::ArrayRef<int64_t> unitDims;
  std::string &why;
  RowProgram program;

  llvm::SmallVector<Nest> nests;
  llvm::SmallVector<Access> accesses;
  llvm::SmallVector<int64_t> parents, sizes;
  /// For each tensor that the body makes, its dims as loops of its nest.
  llvm::DenseMap<mlir::Value, llvm::SmallVector<int64_t>> valueLoops;
  /// Each union-find root's dim.
  llvm::DenseMap<int64_t, unsigned> dimOf;
  llvm::DenseMap<mlir::Operation *, unsigned> reductionOf;
  /// Reductions that are finished where the schedule stands.
  llvm::DenseSet<unsigned> finished;
  llvm::DenseMap<mlir::Value, unsigned> savedOf;
  bool lanes = false;
};

} // namespace fp8c::codegen

#endif // FP8C_LIB_CODEGEN_ROWANALYSIS_H
