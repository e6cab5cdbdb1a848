//===- RowSchedule.cpp - The order of a kernel's actions ------------------===//
//
// Part of fp8c, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// From the results backwards. Inside the loops over a set of dims stand the
// reductions that keep just these dims, in stages: a stage needs those before
// it, and is one run over the inner dims for all of its reductions.
//
//===----------------------------------------------------------------------===//

#include "RowAnalysis.h"

#include "fp8c/Dialect/FP8/FP8.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/Utils/Utils.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;
using namespace fp8c;
using namespace fp8c::codegen;

/// A value that costs at least so many operations an element is kept in
/// scratch rather than computed again.
static constexpr unsigned kSaveCost = 20;

//===----------------------------------------------------------------------===//
// Reductions
//===----------------------------------------------------------------------===//

/// True if each accumulator is combined by one associative operation with a
/// value that does not depend on it.
static bool isAssociative(linalg::GenericOp op) {
  Operation *yield = op.getBody()->getTerminator();
  for (auto [i, yielded] : llvm::enumerate(yield->getOperands())) {
    Operation *combiner = yielded.getDefiningOp();
    if (!isa_and_nonnull<arith::AddFOp, arith::MulFOp, arith::MaximumFOp,
                         arith::MinimumFOp, arith::AddIOp, arith::MulIOp,
                         arith::MaxSIOp, arith::MinSIOp, arith::MaxUIOp,
                         arith::MinUIOp, arith::AndIOp, arith::OrIOp,
                         arith::XOrIOp>(combiner))
      return false;
    BlockArgument accumulator = op.getRegionOutputArgs()[i];
    if (!accumulator.hasOneUse() || *accumulator.user_begin() != combiner ||
        !combiner->hasOneUse())
      return false;
  }
  return true;
}

LogicalResult RowAnalysis::schedule() {
  for (Nest &nest : nests) {
    auto op = dyn_cast<linalg::GenericOp>(nest.op);
    if (!op || op.getNumReductionLoops() == 0)
      continue;
    DimSet kept = 0, reduced = 0;
    for (auto [loop, iterator] :
         llvm::zip(nest.loops, op.getIteratorTypesArray()))
      if (loop >= 0)
        (iterator == utils::IteratorType::reduction ? reduced : kept) |=
            DimSet(1) << loop;
    for (Value init : op.getDpsInits()) {
      Operation *fill = init.getDefiningOp();
      DenseElementsAttr elements;
      if (!isa_and_nonnull<linalg::FillOp>(fill) &&
          !(matchPattern(init, m_Constant(&elements)) && elements.isSplat()))
        return fail("a reduction that does not start from a linalg.fill");
    }
    reductionOf[op] = program.reductions.size();
    program.reductions.push_back({op, kept, reduced, isAssociative(op)});
  }

  DimSet outer = (DimSet(1) << program.numOuter) - 1;
  if (program.numOuter == 64)
    outer = ~DimSet(0);
  // The vector dim of a task is a loop of its own, over the task's chunk.
  if (!program.taskDims.empty() && program.taskDims.back().chunk != 1)
    outer &= ~(DimSet(1) << program.taskDims.back().dim);
  SmallVector<Target> targets;
  for (auto [i, value] : llvm::enumerate(program.terminator->getOperands())) {
    unsigned index = i;
    if (llvm::is_contained(program.singleResults, index))
      continue;
    if (auto amax = value.getDefiningOp<fp8::AmaxOp>())
      targets.push_back({Action::Kind::AtomicAmax,
                         index,
                         toDims(program.getLoops(amax)),
                         {amax.getInput()}});
    else
      targets.push_back({Action::Kind::Store,
                         index,
                         toDims(program.getResultLoops(i)),
                         {value}});
  }
  FailureOr<std::vector<Action>> actions = scheduleScope(outer, targets);
  if (failed(actions))
    return failure();
  program.actions = std::move(*actions);
  return success();
}

//===----------------------------------------------------------------------===//
// Cones and costs
//===----------------------------------------------------------------------===//

/// The tensors of the body whose elements an op computes from.
SmallVector<Value> RowAnalysis::getReads(Operation *op) {
  SmallVector<Value> reads;
  if (auto generic = dyn_cast_or_null<linalg::GenericOp>(op))
    for (OpOperand &operand : op->getOpOperands())
      if (generic.payloadUsesValueFromOperand(&operand) &&
          operand.get().getDefiningOp())
        reads.push_back(operand.get());
  return reads;
}

/// Adds the tensors that `value` is computed from where the schedule stands:
/// it ends at finished reductions (included) and saved values.
void RowAnalysis::collectCone(Value value, DenseSet<Value> &cone) {
  Operation *op = value.getDefiningOp();
  if (!op || !cone.insert(value).second)
    return;
  auto reduction = reductionOf.find(op);
  if (reduction != reductionOf.end() && finished.contains(reduction->second))
    return;
  if (savedOf.count(value))
    return;
  for (Value read : getReads(op))
    collectCone(read, cone);
}

/// Operations an element, of this op alone.
unsigned RowAnalysis::getCost(Value value) {
  auto generic = value.getDefiningOp<linalg::GenericOp>();
  if (!generic)
    return 0;
  unsigned cost = 0;
  for (Operation &op : *generic.getBody()) {
    if (isa<math::MathDialect>(op.getDialect()))
      cost += isa<math::AbsFOp, math::FmaOp, math::CopySignOp>(op) ? 1 : 15;
    else if (isa<arith::DivFOp, fp8::CastOp>(op))
      cost += 6;
    else if (isa<tensor::ExtractOp>(op))
      cost += 4;
    else if (isa<arith::TruncFOp>(op))
      cost += 3;
    else if (!isa<linalg::YieldOp, linalg::IndexOp, arith::ConstantOp>(op))
      cost += 1;
  }
  return cost;
}

/// Of the values that several stages compute, decides which the first of them
/// saves. `stages` are the targets of each.
void RowAnalysis::chooseSaved(DimSet bound,
                              MutableArrayRef<SmallVector<Target>> stages) {
  DenseMap<Value, uint64_t> usedBy;
  for (auto [i, stage] : llvm::enumerate(stages))
    for (Target &target : stage)
      for (Value input : target.inputs)
        usedBy[input] |= uint64_t(1) << std::min<size_t>(i, 63);
  for (Operation &op : llvm::reverse(body)) {
    auto generic = dyn_cast<linalg::GenericOp>(op);
    auto reduction = reductionOf.find(&op);
    if (!generic || (reduction != reductionOf.end() &&
                     finished.contains(reduction->second)))
      continue;
    uint64_t uses = 0;
    for (Value result : generic.getResults())
      uses |= savedOf.count(result) ? 0 : usedBy.lookup(result);
    if (uses == 0)
      continue;
    bool several = (uses & (uses - 1)) != 0;
    if (several && reduction == reductionOf.end() && op.getNumResults() == 1) {
      Value value = op.getResult(0);
      DenseSet<Value> cone;
      collectCone(value, cone);
      unsigned cost = 0;
      for (Value part : cone)
        if (!reductionOf.count(part.getDefiningOp()) && !savedOf.count(part))
          cost += getCost(part);
      Type element = cast<RankedTensorType>(value.getType()).getElementType();
      DimSet domain = program.getDomain(value);
      if (cost >= kSaveCost && (domain & ~bound) != 0 &&
          element.isIntOrFloat()) {
        Saved &saved = program.saved.emplace_back();
        saved.value = value;
        saved.elementBytes =
            llvm::divideCeil(element.getIntOrFloatBitWidth(), 8);
        for (unsigned dim = 0; dim < program.dims.size(); ++dim) {
          bool isRow = llvm::any_of(program.taskDims, [&](TaskDim task) {
            return task.dim == dim && task.chunk == 1;
          });
          if ((domain >> dim & 1) && !isRow)
            saved.dims.push_back(dim);
        }
        unsigned index = program.saved.size() - 1, first = 0;
        savedOf[value] = index;
        while (!(uses >> first & 1))
          ++first;
        uses = uint64_t(1) << first;
        stages[first].insert(
            stages[first].begin(),
            Target{Action::Kind::Save, index, bound | domain, {value}});
      }
    }
    for (Value read : getReads(&op))
      usedBy[read] |= uses;
  }
}

//===----------------------------------------------------------------------===//
// Scopes
//===----------------------------------------------------------------------===//

FailureOr<std::vector<Action>>
RowAnalysis::scheduleScope(DimSet bound, SmallVector<Target> targets) {
  // The reductions to finish here, in stages.
  DenseSet<Value> cone;
  for (Target &target : targets)
    for (Value input : target.inputs)
      collectCone(input, cone);
  DenseMap<unsigned, unsigned> stageOf;
  unsigned numStages = 0;
  for (auto [i, reduction] : llvm::enumerate(program.reductions)) {
    Operation *op = reduction.op;
    bool needed = llvm::any_of(
        op->getResults(), [&](Value value) { return cone.contains(value); });
    if (!needed || finished.contains(i) || reduction.kept != bound) {
      // Kept dims that are all bound, but not the bound ones: it would be
      // computed again and again.
      if (needed && !finished.contains(i) && (reduction.kept & ~bound) == 0)
        return fail("a reduction's result does not have the outer dims of "
                    "what uses it");
      continue;
    }
    DenseSet<Value> inputs;
    for (Value read : getReads(op))
      collectCone(read, inputs);
    unsigned stage = 0;
    for (auto [other, at] : stageOf)
      for (Value value : program.reductions[other].op->getResults())
        if (inputs.contains(value))
          stage = std::max(stage, at + 1);
    stageOf[i] = stage;
    numStages = std::max(numStages, stage + 1);
  }
  SmallVector<SmallVector<Target>> stages(numStages + 1);
  SmallVector<SmallVector<unsigned>> stageReductions(numStages);
  for (unsigned i = 0; i < program.reductions.size(); ++i) {
    auto stage = stageOf.find(i);
    if (stage == stageOf.end())
      continue;
    Reduction &reduction = program.reductions[i];
    stageReductions[stage->second].push_back(i);
    stages[stage->second].push_back({Action::Kind::Accumulate, i,
                                     reduction.kept | reduction.reduced,
                                     getReads(reduction.op)});
  }
  stages.back() = targets;
  // What stays inside a stage does not cross: only these are finished here.
  for (auto [i, stage] : stageOf)
    finished.insert(i);
  if (numStages > 0)
    chooseSaved(bound, stages);

  std::vector<Action> actions;
  for (unsigned stage = 0; stage <= numStages; ++stage) {
    auto emit = [&](Action::Kind kind) {
      if (stage < numStages)
        for (unsigned i : stageReductions[stage])
          actions.push_back({kind, i, {}});
    };
    emit(Action::Kind::Begin);
    FailureOr<std::vector<Action>> inner = descend(bound, stages[stage]);
    if (failed(inner))
      return failure();
    for (Action &action : *inner)
      actions.push_back(std::move(action));
    emit(Action::Kind::End);
  }
  for (auto [i, stage] : stageOf)
    finished.erase(i);
  return actions;
}

FailureOr<std::vector<Action>> RowAnalysis::descend(DimSet bound,
                                                    ArrayRef<Target> targets) {
  std::vector<Action> actions;
  SmallVector<std::pair<unsigned, SmallVector<Target>>> groups;
  for (const Target &target : targets) {
    DimSet open = target.path & ~bound;
    if (open == 0) {
      actions.push_back({target.kind, target.index, {}});
      continue;
    }
    unsigned dim = llvm::countr_zero(open);
    auto *group =
        llvm::find_if(groups, [&](auto &entry) { return entry.first == dim; });
    if (group == groups.end())
      groups.push_back({dim, {target}});
    else
      group->second.push_back(target);
  }
  for (auto &[dim, inner] : groups) {
    FailureOr<std::vector<Action>> body =
        scheduleScope(bound | DimSet(1) << dim, inner);
    if (failed(body))
      return failure();
    actions.push_back({Action::Kind::Loop, dim, std::move(*body)});
  }
  return actions;
}
