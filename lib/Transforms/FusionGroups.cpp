//===- FusionGroups.cpp - Ops that become one kernel ----------------------===//
//
// Part of fp8c, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The rules, none of which looks at what is computed:
//
// - the loops of one side are loops of the other: same dims of a tensor that
//   one makes and the other reads, or that both read;
// - reductions run over nested sets of loops;
// - every op has all loops over which no reduction runs, so that each index of
//   them is independent work and nothing is computed twice;
// - nothing outside lies on a path between two ops of a group.
//
//===----------------------------------------------------------------------===//

#include "FusionGroups.h"

#include "fp8c/Dialect/FP8/FP8.h"

#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;
using namespace fp8c;

//===----------------------------------------------------------------------===//
// Groups
//===----------------------------------------------------------------------===//

FusionGroups::FusionGroups(Block &block) : block(block) {
  duplicateCheapOps();
  for (auto [i, op] : llvm::enumerate(block))
    order[&op] = i;
  for (Operation &op : block)
    if (isKernelOp(&op))
      addOp(&op);
}

StringRef FusionGroups::getReason(Operation *consumer, Value value) const {
  return reasons.lookup({consumer, value});
}

bool FusionGroups::hasOtherPath(const Group *from, const Group *to) const {
  DenseSet<Operation *> seen;
  SmallVector<Operation *> stack;
  auto pushReads = [&](Operation *op) {
    op->walk([&](Operation *inner) {
      for (Value operand : inner->getOperands())
        if (Operation *made = operand.getDefiningOp();
            made && made->getBlock() == &block &&
            order.lookup(made) >= from->first && seen.insert(made).second)
          stack.push_back(made);
    });
  };
  DenseSet<const Group *> entered;
  for (Operation *op : to->ops)
    seen.insert(op);
  for (Operation *op : to->ops)
    op->walk([&](Operation *inner) {
      for (Value operand : inner->getOperands()) {
        Operation *made = operand.getDefiningOp();
        if (made && made->getBlock() == &block &&
            groupOf.lookup(made) != from && order.lookup(made) >= from->first &&
            seen.insert(made).second)
          stack.push_back(made);
      }
    });
  while (!stack.empty()) {
    Operation *op = stack.pop_back_val();
    Group *group = groupOf.lookup(op);
    if (group == from)
      return true;
    if (!group) {
      pushReads(op);
    } else if (entered.insert(group).second && group->last >= from->first) {
      for (Operation *member : group->ops) {
        seen.insert(member);
        pushReads(member);
      }
    }
  }
  return false;
}

StringRef FusionGroups::merge(Group *producer, Group *consumer, bool again) {
  if (!producer->canGrow || !consumer->canGrow)
    return "the loops of one of the ops are not known";
  for (Value value : consumer->gathers)
    if (groupOf.lookup(value.getDefiningOp()) == producer)
      return "elements are read at computed places";
  // The dim of the consumer that each dim of the producer is, and back.
  SmallVector<int> to(producer->numDims, -1), from(consumer->numDims, -1);
  auto pair = [&](int a, int b) {
    if (to[a] == b)
      return true;
    if (to[a] >= 0 || from[b] >= 0)
      return false;
    to[a] = b;
    from[b] = a;
    return true;
  };
  DenseMap<Value, const GroupAccess *> made, alsoRead;
  for (GroupAccess &access : producer->writes)
    made[access.value] = &access;
  for (GroupAccess &access : producer->reads)
    alsoRead.try_emplace(access.value, &access);
  for (GroupAccess &access : consumer->reads) {
    auto it = made.find(access.value);
    if (it == made.end())
      continue;
    for (auto [a, b] : llvm::zip(it->second->dims, access.dims))
      if (a < 0 || b < 0 || !pair(a, b))
        return "the value is read along other loops than it is made";
  }
  for (GroupAccess &access : consumer->reads) {
    auto it = alsoRead.find(access.value);
    if (it == alsoRead.end())
      continue;
    for (auto [a, b] : llvm::zip(it->second->dims, access.dims))
      if (a >= 0 && b >= 0)
        pair(a, b);
  }
  bool producerIsPart = !llvm::is_contained(to, -1);
  if (!producerIsPart && llvm::is_contained(from, -1))
    return "the loops of neither contain those of the other";

  // The group's dims are the consumer's, then what only the producer has.
  unsigned numDims = consumer->numDims;
  for (int &dim : to)
    if (dim < 0)
      dim = numDims++;
  if (numDims > 64)
    return "too many loops";
  auto translate = [&](GroupDims dims) {
    GroupDims result = 0;
    for (unsigned i = 0; i < producer->numDims; ++i)
      if (dims >> i & 1)
        result |= GroupDims(1) << to[i];
    return result;
  };
  SmallVector<GroupDims> reduced = consumer->reduced;
  GroupDims anyReduced = 0;
  for (GroupDims dims : producer->reduced)
    reduced.push_back(translate(dims));
  for (auto [i, dims] : llvm::enumerate(reduced)) {
    anyReduced |= dims;
    for (GroupDims other : ArrayRef(reduced).take_front(i))
      if ((dims & other) != dims && (dims & other) != other)
        return "reductions run over different axes";
  }
  GroupDims all = numDims == 64 ? ~GroupDims(0) : (GroupDims(1) << numDims) - 1;
  GroupDims common = translate(producer->common);
  if (again)
    common = all;
  common &= consumer->common;
  GroupDims outer = all & ~anyReduced;
  if ((common & outer) != outer)
    return "one has loops that the other lacks, over which it would be "
           "computed again";
  if (hasOtherPath(producer, consumer))
    return "another op between the two needs the finished value";

  // Merge into the consumer.
  for (auto *list : {&producer->reads, &producer->writes})
    for (GroupAccess &access : *list)
      for (int &dim : access.dims)
        if (dim >= 0)
          dim = to[dim];
  auto move = [](auto &source, auto &target) {
    target.insert(target.end(), source.begin(), source.end());
    source.clear();
  };
  for (Operation *op : producer->ops)
    groupOf[op] = consumer;
  move(producer->ops, consumer->ops);
  move(producer->reads, consumer->reads);
  move(producer->writes, consumer->writes);
  move(producer->gathers, consumer->gathers);
  consumer->reduced = reduced;
  llvm::sort(consumer->reduced);
  consumer->reduced.erase(llvm::unique(consumer->reduced),
                          consumer->reduced.end());
  consumer->numDims = numDims;
  consumer->common = common;
  consumer->first = std::min(consumer->first, producer->first);
  consumer->last = std::max(consumer->last, producer->last);
  return {};
}

void FusionGroups::run() {
  SmallVector<Operation *> ops;
  for (Operation &op : block)
    if (groupOf.count(&op))
      ops.push_back(&op);
  // Copies first: each is part of what reads it.
  for (Operation *op : llvm::reverse(ops)) {
    if (!copies.contains(op))
      continue;
    Group *consumer = groupOf[*op->user_begin()];
    if (consumer && consumer != groupOf[op])
      (void)merge(groupOf[op], consumer, /*again=*/true);
  }
  auto mergeProducers = [&](Operation *op) {
    SmallVector<std::pair<Value, Operation *>> reads;
    SmallVector<Operation *> members(groupOf[op]->ops);
    for (Operation *member : members)
      for (Value value : getTensorReads(member))
        reads.push_back({value, member});
    // The nearest producers first.
    auto getPlace = [&](Value value) {
      Operation *made = value.getDefiningOp();
      return made ? order[made] : 0;
    };
    llvm::sort(reads, [&](auto &a, auto &b) {
      return std::make_pair(getPlace(b.first), order[a.second]) <
             std::make_pair(getPlace(a.first), order[b.second]);
    });
    bool changed = false;
    for (auto [value, reader] : reads) {
      Operation *made = value.getDefiningOp();
      Group *producer = made ? groupOf.lookup(made) : nullptr;
      Group *consumer = groupOf[op];
      if (!producer || producer == consumer)
        continue;
      StringRef reason =
          isa<fp8::AmaxOp>(made)
              ? "the amax of the whole tensor must be finished first"
              : merge(producer, consumer, /*again=*/false);
      reasons[{reader, value}] = reason;
      changed |= reason.empty();
    }
    return changed;
  };
  for (Operation *op : ops) {
    if (copies.contains(op) && groupOf[op]->ops.size() > 1)
      continue;
    // A merge may make loops known that another one needs.
    for (int round = 0; round < 3 && mergeProducers(op); ++round)
      ;
  }
  llvm::erase_if(groups, [](auto &group) { return group->ops.empty(); });
  for (auto &group : groups)
    llvm::sort(group->ops,
               [&](Operation *a, Operation *b) { return order[a] < order[b]; });
}
