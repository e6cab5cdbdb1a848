//===- MergedDims.h - Dims of a kernel that are one -------------*- C++ -*-===//
//
// Part of fp8c, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A row that a graph splits somewhere (into heads, say) is split in each kernel
// that shares a tensor with that place. A kernel with reductions whose operands
// all have two dims side by side, and one after the other in memory, runs over
// one dim instead: then a row is a row.
//
//===----------------------------------------------------------------------===//

#ifndef FP8C_LIB_CONVERSION_KERNELSTOPLAN_MERGEDDIMS_H
#define FP8C_LIB_CONVERSION_KERNELSTOPLAN_MERGEDDIMS_H

#include "Layout.h"

#include "fp8c/Codegen/RowProgram.h"
#include "fp8c/Dialect/FP8/FP8.h"

#include "mlir/IR/IRMapping.h"
#include "llvm/ADT/SetVector.h"

namespace fp8c::toplan {

/// The dims of one kernel's iteration space that are merged.
class MergedDims {
public:
  /// `operands` are the layouts of the tensors that `op` captures, then of its
  /// results.
  MergedDims(fp8::KernelOp op, llvm::ArrayRef<Layout> operands,
             SizeArith &arith);

  bool empty() const { return pairs.empty(); }
  /// The layout of operand `index` with its dims merged.
  Layout apply(unsigned index, const Layout &layout) const;
  /// The kernel's body with its dims merged, as the block of `region`.
  void cloneInto(mlir::Region &region) const;

private:
  using Pair = std::pair<int64_t, int64_t>;
  /// The dims of the space that a tensor has at one of its uses; -1 for none.
  struct Access {
    mlir::Value tensor;
    llvm::SmallVector<int64_t> dims;
  };

  void collect();
  void findPairs();
  bool removeConflicts();
  bool isMerged(int64_t first, int64_t second) const {
    return pairs.contains({first, second});
  }
  /// Which dims of a tensor are one dim each.
  llvm::SmallVector<mlir::ReassociationIndices>
  getGroups(mlir::Value tensor) const;
  mlir::Type getType(mlir::Value tensor) const;
  void cloneGeneric(mlir::linalg::GenericOp op, mlir::OpBuilder &builder,
                    mlir::IRMapping &mapping) const;

  mlir::Block &body;
  llvm::ArrayRef<Layout> operands;
  SizeArith &arith;
  mlir::FailureOr<codegen::RowProgram> program = mlir::failure();
  std::vector<Access> accesses;
  /// Dims that are more than an index somewhere.
  llvm::DenseSet<int64_t> fixed;
  llvm::SetVector<Pair> pairs;
  /// The position of the first access of each tensor.
  llvm::DenseMap<mlir::Value, size_t> firstAccess;
};

} // namespace fp8c::toplan

#endif // FP8C_LIB_CONVERSION_KERNELSTOPLAN_MERGEDDIMS_H
