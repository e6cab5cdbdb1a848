//===- RowDims.cpp - The dims of a space, their order and extents ---------===//
//
// Part of fp8c, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "RowAnalysis.h"

#include "fp8c/Dialect/FP8/FP8.h"

#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;
using namespace fp8c;
using namespace fp8c::codegen;

/// The lanes of one task where lanes run along the last outer dim.
static constexpr int64_t kLanesChunk = 32;
/// The elements of one task of an elementwise kernel.
static constexpr int64_t kElementwiseChunk = 2048;

/// The loop that most of the largest accesses read or write without a stride.
int64_t RowAnalysis::voteForUnitStride() {
  DenseMap<int64_t, unsigned> votes;
  DenseSet<std::pair<unsigned, int64_t>> voted;
  size_t most = 0;
  auto countLoops = [&](const Access &access) {
    size_t count = 0;
    for (AffineExpr expr : access.map.getResults())
      if (auto dim = dyn_cast<AffineDimExpr>(expr))
        count += nests[access.nest].loops[dim.getPosition()] >= 0;
    return count;
  };
  for (Access &access : accesses)
    most = std::max(most, countLoops(access));
  int64_t best = -1;
  for (Access &access : llvm::reverse(accesses)) {
    int64_t unit = program.operands[access.operand].unitDim;
    if (unit < 0 || countLoops(access) != most || most == 0)
      continue;
    auto dim = dyn_cast<AffineDimExpr>(access.map.getResult(unit));
    int64_t loop = dim ? nests[access.nest].loops[dim.getPosition()] : -1;
    if (loop < 0)
      continue;
    loop = find(loop);
    // An operand has one vote, however often the body spells its read: the
    // plan and the generator may see the body before and after CSE.
    if (!voted.insert({access.operand, loop}).second)
      continue;
    ++votes[loop];
    if (best < 0 || votes[loop] > votes[best])
      best = loop;
  }
  return best;
}

LogicalResult RowAnalysis::orderDims(SmallVectorImpl<int64_t> &order) {
  // The natural order: the loops of the largest nests first.
  SmallVector<Nest *> bySize;
  for (Nest &nest : nests)
    bySize.push_back(&nest);
  auto count = [](Nest *nest) {
    return llvm::count_if(nest->loops, [](int64_t loop) { return loop >= 0; });
  };
  llvm::sort(bySize, [&](Nest *left, Nest *right) {
    return std::make_pair(-count(left), left) <
           std::make_pair(-count(right), right);
  });
  SmallVector<int64_t> natural;
  for (Nest *nest : bySize)
    for (int64_t loop : nest->loops)
      if (loop >= 0 && !llvm::is_contained(natural, find(loop)))
        natural.push_back(find(loop));
  if (natural.size() > 64)
    return fail("more than 64 dims");

  // Every store in a task has the outer dims and no reduction runs over them.
  DenseSet<int64_t> notOuter;
  DenseMap<int64_t, DenseSet<int64_t>> after;
  for (Nest &nest : nests) {
    auto generic = dyn_cast<linalg::GenericOp>(nest.op);
    DenseSet<int64_t> kept, reduced;
    bool isStore = nest.result >= 0 || isa<fp8::AmaxOp>(nest.op);
    if (!isStore && (!generic || generic.getNumReductionLoops() == 0))
      continue;
    if (llvm::is_contained(program.singleResults, nest.result))
      continue;
    for (auto [i, loop] : llvm::enumerate(nest.loops))
      if (loop >= 0)
        (generic && generic.getIteratorTypesArray()[i] ==
                        utils::IteratorType::reduction
             ? reduced
             : kept)
            .insert(find(loop));
    for (int64_t dim : natural)
      if (!kept.contains(dim))
        notOuter.insert(dim);
    for (int64_t dim : reduced)
      after[dim].insert(kept.begin(), kept.end());
  }

  int64_t unit = voteForUnitStride();
  lanes = unit >= 0 && !notOuter.contains(unit) && !notOuter.empty();
  for (int64_t dim : natural)
    if (!notOuter.contains(dim) && dim != unit)
      order.push_back(dim);
  if (unit >= 0 && !notOuter.contains(unit))
    order.push_back(unit);
  program.numOuter = order.size();

  // The inner dims: a reduced dim after the dims that its reductions keep.
  while (order.size() < natural.size()) {
    int64_t next = -1;
    for (int64_t dim : natural) {
      auto ready = [&](int64_t before) {
        return before == dim || llvm::is_contained(order, before);
      };
      if (llvm::is_contained(order, dim) || !llvm::all_of(after[dim], ready))
        continue;
      if (next < 0 || next == unit)
        next = dim;
    }
    if (next < 0)
      return fail("reductions run over each other's rows");
    order.push_back(next);
  }
  return success();
}

DimSet RowAnalysis::toDims(ArrayRef<int64_t> loops) const {
  DimSet set = 0;
  for (int64_t loop : loops)
    if (loop >= 0)
      set |= DimSet(1) << loop;
  return set;
}

LogicalResult RowAnalysis::makeDims() {
  SmallVector<int64_t> order;
  if (failed(orderDims(order)))
    return failure();
  for (auto [i, element] : llvm::enumerate(order)) {
    dimOf[element] = i;
    program.dims.push_back({sizes[element]});
  }
  for (Nest &nest : nests)
    for (int64_t &loop : nest.loops)
      if (loop >= 0)
        loop = dimOf[find(loop)];
  for (Access &access : accesses)
    for (auto [i, expr] : llvm::enumerate(access.map.getResults()))
      if (auto dim = dyn_cast<AffineDimExpr>(expr)) {
        int64_t loop = nests[access.nest].loops[dim.getPosition()];
        if (loop >= 0 && program.dims[loop].operand < 0) {
          program.dims[loop].operand = access.operand;
          program.dims[loop].operandDim = i;
        }
      }
  for (Dim &dim : program.dims)
    if (dim.operand < 0 && ShapedType::isDynamic(dim.size))
      return fail("no operand has the extent of one of the loops");
  // What tensor.dim gives is in the size block only for dims of the space.
  for (auto op : body.getOps<tensor::DimOp>()) {
    auto argument = dyn_cast<BlockArgument>(op.getSource());
    std::optional<int64_t> position = op.getConstantIndex();
    bool known = argument && position &&
                 (!cast<RankedTensorType>(op.getSource().getType())
                       .isDynamicDim(*position) ||
                  llvm::any_of(program.dims, [&](const Dim &dim) {
                    return dim.operandDim == *position &&
                           dim.operand == program.getOperandIndex(argument);
                  }));
    if (!known && !llvm::all_of(op->getUsers(), llvm::IsaPred<tensor::EmptyOp>))
      return fail("tensor.dim of a dim that the kernel does not iterate over");
  }

  program.resultLoops.resize(program.terminator->getNumOperands());
  for (Nest &nest : nests) {
    if (nest.result >= 0)
      program.resultLoops[nest.result] = nest.loops;
    else
      program.loops[nest.op] = nest.loops;
  }

  // The size block.
  unsigned position = program.dims.size();
  for (Operand &operand : program.operands) {
    operand.firstStride = position;
    position += operand.type.getRank();
  }
  program.firstCaptured = position;
  for (BlockArgument argument : body.getArguments())
    position += isa<IndexType>(argument.getType());
  program.numSizes = position;

  // Tasks.
  unsigned numDims = program.dims.size(), numOuter = program.numOuter;
  for (unsigned i = 0; i < numOuter; ++i)
    program.taskDims.push_back({i, 1});
  program.vectorDim = lanes ? numOuter - 1 : static_cast<int64_t>(numDims) - 1;
  if (lanes)
    program.taskDims.back().chunk = kLanesChunk;
  else if (numDims > 0 && numOuter == numDims)
    program.taskDims.back().chunk = kElementwiseChunk;
  computeDomains();
  return success();
}

void RowAnalysis::computeDomains() {
  for (Operation &op : body) {
    auto generic = dyn_cast<linalg::GenericOp>(op);
    if (!generic)
      continue;
    ArrayRef<int64_t> loops = program.getLoops(&op);
    DimSet reads = 0, kept = 0;
    for (OpOperand &operand : op.getOpOperands()) {
      AffineMap map = generic.getMatchingIndexingMap(&operand);
      if (!generic.payloadUsesValueFromOperand(&operand))
        continue;
      if (!isa<BlockArgument>(operand.get())) {
        reads |= program.domains.lookup(operand.get());
        continue;
      }
      for (unsigned i = 0; i < loops.size(); ++i)
        if (loops[i] >= 0 && map.isFunctionOfDim(i))
          reads |= DimSet(1) << loops[i];
    }
    generic.getBody()->walk([&](linalg::IndexOp index) {
      if (loops[index.getDim()] >= 0)
        reads |= DimSet(1) << loops[index.getDim()];
    });
    auto iterators = generic.getIteratorTypesArray();
    for (unsigned i = 0; i < loops.size(); ++i)
      if (loops[i] >= 0 && iterators[i] == utils::IteratorType::parallel)
        kept |= DimSet(1) << loops[i];
    for (Value result : generic.getResults())
      program.domains[result] =
          generic.getNumReductionLoops() > 0 ? kept : reads;
  }
}
