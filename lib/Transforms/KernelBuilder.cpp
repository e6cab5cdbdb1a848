//===- KernelBuilder.cpp - Groups of ops into fp8.kernel ------------------===//
//
// Part of fp8c, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "FusionGroups.h"

#include "fp8c/Codegen/RowProgram.h"
#include "fp8c/Dialect/FP8/FP8.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/Remarks.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;
using namespace fp8c;

namespace {
/// Makes the kernel of one group.
class KernelBuilder {
public:
  KernelBuilder(const Group &group, OpBuilder &builder)
      : group(group), builder(builder) {}

  /// Null, with everything as it was and the reason in `why`, if code cannot be
  /// generated for the kernel.
  fp8::KernelOp build(std::string &why);

private:
  /// Collects what the body takes from outside.
  void collect(Value value);
  void collectFrom(Operation *op);
  /// The value in the body.
  Value map(Value value);
  bool isMember(Operation *op) const {
    return llvm::is_contained(group.ops, op);
  }

  const Group &group;
  OpBuilder &builder;
  llvm::SetVector<Value> tensors, indices;
  DenseSet<Value> seen;
  IRMapping mapping;
};
} // namespace

/// True for an op outside that a body repeats instead of taking its result.
static bool isRepeated(Operation *op) {
  if (isa<tensor::EmptyOp, linalg::FillOp>(op))
    return true;
  if (auto constant = dyn_cast<arith::ConstantOp>(op)) {
    auto elements = dyn_cast<DenseElementsAttr>(constant.getValue());
    return !elements || elements.isSplat();
  }
  // Scalars but for indices: kernels take only those.
  return op->getNumResults() == 1 && op->getNumRegions() == 0 &&
         isa<arith::ArithDialect>(op->getDialect()) &&
         !isa<IndexType, RankedTensorType>(op->getResult(0).getType());
}

void KernelBuilder::collect(Value value) {
  if (!seen.insert(value).second)
    return;
  Operation *op = value.getDefiningOp();
  if (op && isMember(op))
    return;
  if (op && isRepeated(op)) {
    collectFrom(op);
    return;
  }
  (isa<IndexType>(value.getType()) ? indices : tensors).insert(value);
}

void KernelBuilder::collectFrom(Operation *op) {
  op->walk([&](Operation *inner) {
    for (Value operand : inner->getOperands())
      if (!op->isAncestor(operand.getParentBlock()->getParentOp()))
        collect(operand);
  });
}

Value KernelBuilder::map(Value value) {
  if (Value mapped = mapping.lookupOrNull(value))
    return mapped;
  Operation *op = value.getDefiningOp();
  for (Value operand : op->getOperands())
    map(operand);
  builder.clone(*op, mapping);
  return mapping.lookup(value);
}

fp8::KernelOp KernelBuilder::build(std::string &why) {
  for (Operation *op : group.ops)
    collectFrom(op);
  SmallVector<Value> results;
  SmallVector<Type> types;
  SmallVector<Attribute> names;
  bool hasName = false;
  for (Operation *op : group.ops)
    for (Value result : op->getResults()) {
      if (llvm::all_of(result.getUsers(), [&](Operation *user) {
            while (user->getBlock() != op->getBlock())
              user = user->getParentOp();
            return isMember(user);
          }))
        continue;
      results.push_back(result);
      types.push_back(result.getType());
      auto name = op->getAttrOfType<StringAttr>(fp8::kNodeAttr);
      hasName |= bool(name);
      names.push_back(name ? name : builder.getStringAttr(""));
    }
  SmallVector<Value> captures(tensors.begin(), tensors.end());
  captures.append(indices.begin(), indices.end());

  SmallVector<Location> locations;
  for (Operation *op : group.ops)
    locations.push_back(op->getLoc());
  Location loc = FusedLoc::get(builder.getContext(), locations);
  builder.setInsertionPointAfter(group.ops.back());
  auto kernel = fp8::KernelOp::create(builder, loc, types, captures);
  if (hasName)
    kernel->setAttr(fp8::kNodesAttr, builder.getArrayAttr(names));
  Block &body = kernel.getBody().emplaceBlock();
  for (Value capture : captures)
    mapping.map(capture, body.addArgument(capture.getType(), capture.getLoc()));
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToStart(&body);
  for (Operation *op : group.ops) {
    op->walk([&](Operation *inner) {
      for (Value operand : inner->getOperands())
        if (!op->isAncestor(operand.getParentBlock()->getParentOp()))
          map(operand);
    });
    builder.clone(*op, mapping);
  }
  SmallVector<Value> yields;
  for (Value result : results)
    yields.push_back(mapping.lookup(result));
  fp8::YieldOp::create(builder, loc, yields);
  // Ops that are expanded later are analysed then.
  bool isExpanded = llvm::none_of(body.without_terminator(), [](Operation &op) {
    auto amax = dyn_cast<fp8::AmaxOp>(op);
    return isa<fp8::FP8Dialect>(op.getDialect()) &&
           !(amax && amax.getScaling().isTensor());
  });
  if (isExpanded && group.ops.size() > 1 &&
      failed(codegen::RowProgram::analyze(body, {}, why))) {
    kernel.erase();
    return {};
  }
  for (auto [result, made] : llvm::zip(results, kernel.getResults()))
    result.replaceUsesWithIf(made, [&](OpOperand &use) {
      // Other kernels repeat a fill rather than read it.
      return !result.getDefiningOp<linalg::FillOp>() ||
             !isa<linalg::GenericOp>(use.getOwner());
    });
  return kernel;
}

/// Puts producers before what reads them, and keeps the order otherwise.
/// Sorts by hand: a chain can be as long as the model.
static void sortBlock(Block &block) {
  SmallVector<Operation *> ops, sorted;
  for (Operation &op : block)
    ops.push_back(&op);
  DenseSet<Operation *> done;
  for (Operation *root : ops) {
    // An op, and which of its producers was looked at last.
    SmallVector<std::pair<Operation *, SmallVector<Operation *>>> stack;
    auto enter = [&](Operation *op) {
      if (!done.insert(op).second)
        return;
      SmallVector<Operation *> producers;
      op->walk([&](Operation *inner) {
        for (Value operand : inner->getOperands())
          if (Operation *made = operand.getDefiningOp();
              made && made->getBlock() == &block)
            producers.push_back(made);
      });
      std::reverse(producers.begin(), producers.end());
      stack.push_back({op, std::move(producers)});
    };
    enter(root);
    while (!stack.empty()) {
      SmallVector<Operation *> &producers = stack.back().second;
      if (producers.empty()) {
        sorted.push_back(stack.back().first);
        stack.pop_back();
        continue;
      }
      Operation *next = producers.pop_back_val();
      enter(next);
    }
  }
  for (Operation *op : sorted)
    op->moveBefore(&block, block.end());
}

void fp8c::buildKernels(Block &block, const FusionGroups &groups) {
  OpBuilder builder(block.getParentOp());
  SmallVector<Operation *> dead;
  for (auto &group : groups.getGroups()) {
    llvm::append_range(dead, group->ops);
    std::string why;
    if (KernelBuilder(*group, builder).build(why))
      continue;
    remark::missed(
        group->ops.back()->getLoc(),
        remark::RemarkOpts::name("not-fused")
            .category("fp8-fuse-casts")
            .function(cast<func::FuncOp>(block.getParentOp()).getName()))
        << remark::add("{0} ops are kernels of their own", group->ops.size())
        << remark::reason("{0}", why);
    for (Operation *op : group->ops) {
      Group single;
      single.ops.push_back(op);
      KernelBuilder(single, builder).build(why);
    }
  }
  for (Operation *op : dead)
    op->dropAllReferences();
  for (Operation *op : dead) {
    op->dropAllUses();
    op->erase();
  }
  for (Operation &op : llvm::make_early_inc_range(llvm::reverse(block)))
    if (isOpTriviallyDead(&op))
      op.erase();
  sortBlock(block);
}
