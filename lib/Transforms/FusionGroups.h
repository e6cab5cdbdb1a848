//===- FusionGroups.h - Ops that become one kernel --------------*- C++ -*-===//
//
// Part of fp8c, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef FP8C_LIB_TRANSFORMS_FUSIONGROUPS_H
#define FP8C_LIB_TRANSFORMS_FUSIONGROUPS_H

#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/DenseSet.h"

#include <memory>
#include <vector>

namespace fp8c {

/// A set of a group's dims, one bit a dim.
using GroupDims = uint64_t;

/// A tensor that a group reads or makes, with the group's dim of each of its
/// dims; -1 where a dim is read at a fixed or computed place.
struct GroupAccess {
  mlir::Value value;
  llvm::SmallVector<int> dims;
};

/// Ops that become one kernel, and the iteration space that they share.
struct Group {
  /// The ops, in the block's order.
  llvm::SmallVector<mlir::Operation *> ops;
  unsigned numDims = 0;
  /// The dims that each op has which is not computed again at will.
  GroupDims common = 0;
  /// The sets of dims that reductions run over.
  llvm::SmallVector<GroupDims> reduced;
  std::vector<GroupAccess> reads;
  std::vector<GroupAccess> writes;
  /// Tensors that bodies read at computed places.
  llvm::SmallVector<mlir::Value> gathers;
  /// False for an op whose loops are not understood: it stays alone.
  bool canGrow = true;
  /// The first and last of its ops in the block's order.
  unsigned first = 0, last = 0;
};

/// A partition of a block's computation into groups, without cycles.
class FusionGroups {
public:
  explicit FusionGroups(mlir::Block &block);

  /// Merges groups of producers and consumers as far as the rules allow.
  void run();

  /// The groups, each with its ops in the block's order.
  llvm::ArrayRef<std::unique_ptr<Group>> getGroups() const { return groups; }
  /// The group of an op; null if it stays outside of kernels.
  Group *getGroup(mlir::Operation *op) const { return groupOf.lookup(op); }
  /// Why `consumer` is not in the kernel of the group that makes `value`; empty
  /// if nothing was tried.
  llvm::StringRef getReason(mlir::Operation *consumer, mlir::Value value) const;
  /// True if `to` depends on `from` by way of an op that is in neither.
  bool hasOtherPath(const Group *from, const Group *to) const;

private:
  /// Copies ops that are better computed again than written and read, one copy
  /// for each user.
  void duplicateCheapOps();
  void addOp(mlir::Operation *op);
  /// Merges two groups; the reason why not otherwise. `again` says that the
  /// producer's ops may be computed again at each point.
  llvm::StringRef merge(Group *producer, Group *consumer, bool again);

  mlir::Block &block;
  std::vector<std::unique_ptr<Group>> groups;
  llvm::DenseMap<mlir::Operation *, Group *> groupOf;
  llvm::DenseMap<mlir::Operation *, unsigned> order;
  /// Copies that join the one op that reads them.
  llvm::DenseSet<mlir::Operation *> copies;
  llvm::DenseMap<std::pair<mlir::Operation *, mlir::Value>, llvm::StringRef>
      reasons;
};

/// True for the ops that kernels are made of.
bool isKernelOp(mlir::Operation *op);

/// The tensors that an op reads, those of its body too, but for constant
/// initial values.
llvm::SmallVector<mlir::Value> getTensorReads(mlir::Operation *op);

/// Puts the ops of each group into an `fp8.kernel` and sorts the block.
/// `groups` loses nothing but its ops.
void buildKernels(mlir::Block &block, const FusionGroups &groups);

} // namespace fp8c

#endif // FP8C_LIB_TRANSFORMS_FUSIONGROUPS_H
