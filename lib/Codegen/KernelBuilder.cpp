//===- KernelBuilder.cpp - One kernel as a function: tasks and loops ------===//
//
// Part of fp8c, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "KernelBuilder.h"

#include "fp8c/Dialect/FP8/FP8.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;
using namespace fp8c;
using namespace fp8c::codegen;

KernelBuilder::KernelBuilder(const RowProgram &program, OpBuilder &builder,
                             Location loc)
    : program(program), builder(builder), loc(loc) {
  for (auto [i, saved] : llvm::enumerate(program.getSaved()))
    savedOf[saved.value] = i;
  indices.assign(program.getDims().size(), nullptr);
  pieces.assign(program.getDims().size(), {});
  frames.emplace_back();
  findEqualReads();
}

/// Reads are equal if their indices are, as functions of the dims.
void KernelBuilder::findEqualReads() {
  DenseMap<std::pair<Value, AffineMap>, OpOperand *> first;
  for (BlockArgument argument : program.getBody()->getArguments())
    for (Operation *user : argument.getUsers()) {
      auto op = dyn_cast<linalg::GenericOp>(user);
      if (!op)
        continue;
      for (OpOperand &operand : op->getOpOperands()) {
        if (operand.get() != argument)
          continue;
        AffineMap map = program.getReadMap(op, operand);
        equalRead[&operand] =
            first.try_emplace({argument, map}, &operand).first->second;
      }
    }
}

Value KernelBuilder::integer(int64_t value) {
  return arith::ConstantOp::create(builder, loc,
                                   builder.getI64IntegerAttr(value));
}

Lanes *KernelBuilder::findMemo(void *key) {
  for (Frame &frame : llvm::reverse(frames)) {
    auto found = frame.find(key);
    if (found != frame.end())
      return &found->second;
  }
  return nullptr;
}

Value KernelBuilder::extent(unsigned dim) {
  int64_t size = program.getDims()[dim].size;
  return ShapedType::isDynamic(size) ? sizes[dim] : integer(size);
}

bool KernelBuilder::canShareLanes() const {
  int64_t dim = program.getVectorDim();
  return llvm::all_of(program.getReductions(), [&](const Reduction &reduction) {
    return !(reduction.reduced >> dim & 1) || reduction.associative;
  });
}

/// Slots for the largest bits that this call has seen.
void KernelBuilder::beginAtomics() {
  Type i32 = builder.getI32Type();
  for (unsigned result : program.getAtomicResults()) {
    Accumulator &atomic = atomics[result];
    Type element = getElementTypeOrSelf(program.getResult(result)
                                            .getDefiningOp<fp8::AmaxOp>()
                                            .getInput()
                                            .getType());
    llvm::SaveAndRestore restore(width, mainWidth);
    atomic.width = mainWidth;
    if (width > 1 && comparesNarrow(element)) {
      atomic.narrow = lower(element);
      Type lanes = vectorOf(atomic.narrow);
      atomic.vector = makeSlot(lanes);
      storeMemory(atomic.vector, atomic.narrow,
                  constantOf(lanes, builder.getIntegerAttr(atomic.narrow, 0)));
    } else if (width > 1) {
      atomic.vector = makeSlot(vectorOf(i32));
      storeMemory(atomic.vector, i32,
                  spread({constantOf(i32, builder.getI32IntegerAttr(0))}));
    }
    atomic.scalar = makeSlot(i32);
    storeMemory(atomic.scalar, i32,
                constantOf(i32, builder.getI32IntegerAttr(0)));
  }
}

void KernelBuilder::storeSingle(Value isMine) {
  auto choice = scf::IfOp::create(builder, loc, isMine, false);
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPoint(choice.thenYield());
  frames.emplace_back();
  for (unsigned result : program.getSingleResults())
    KernelBuilder::store(result);
  frames.pop_back();
}

Value KernelBuilder::buildTasks() {
  Value tasks;
  for (TaskDim task : program.getTaskDims()) {
    Value count = getParts(task);
    if (!count)
      count = countChunks(extent(task.dim), getChunk(task));
    tasks = tasks ? arith::MulIOp::create(builder, loc, tasks, count) : count;
  }
  return tasks ? tasks : integer(1);
}

void KernelBuilder::emitTask(Value task) {
  Value rest = task;
  DimSet bound = 0;
  ArrayRef<TaskDim> cut = program.getTaskDims();
  for (unsigned i = cut.size(); i-- > 0;) {
    unsigned dim = cut[i].dim;
    Value chunk = getChunk(cut[i]), parts = getParts(cut[i]);
    Value size = extent(dim), index = rest;
    Value count = parts ? parts : countChunks(size, chunk);
    if (i > 0)
      std::tie(rest, index) = divideTask(rest, count);
    if (parts) {
      pieces[dim] = {index, size};
      continue;
    }
    if (!chunk) {
      indices[dim] = index;
      bound |= DimSet(1) << dim;
      continue;
    }
    Value from = arith::MulIOp::create(builder, loc, index, chunk);
    Value to = arith::AddIOp::create(builder, loc, from, chunk);
    pieces[dim] = {from, arith::MinUIOp::create(builder, loc, to, size)};
  }
  emitBody(bound);
}

std::pair<Value, Value> KernelBuilder::divideTask(Value task, Value count) {
  return {arith::DivUIOp::create(builder, loc, task, count),
          arith::RemUIOp::create(builder, loc, task, count)};
}

Value KernelBuilder::getChunk(const TaskDim &dim) {
  return dim.chunk == 1 ? Value() : integer(dim.chunk);
}

void KernelBuilder::emitBody(DimSet bound) {
  emitActions(program.getActions(), bound);
}

/// How many chunks (of one element if null) `size` elements are.
Value KernelBuilder::countChunks(Value size, Value chunk) {
  if (!chunk)
    return size;
  Value rest = arith::SubIOp::create(builder, loc, chunk, integer(1));
  size = arith::AddIOp::create(builder, loc, size, rest);
  return arith::DivUIOp::create(builder, loc, size, chunk);
}

void KernelBuilder::emitActions(ArrayRef<Action> actions, DimSet bound) {
  // All values before the first store, so that a result may be written over an
  // operand that has the same elements.
  for (const Action &action : actions)
    if (action.kind == Action::Kind::Store)
      evaluate(program.getResult(action.index));
    else if (action.kind != Action::Kind::Save)
      break;
  SmallVector<unsigned> ended;
  for (size_t i = 0; i < actions.size(); ++i) {
    if (size_t done = emitFused(actions.drop_front(i), bound)) {
      i += done - 1;
      continue;
    }
    const Action &action = actions[i];
    switch (action.kind) {
    case Action::Kind::Loop:
      emitLoop(action, bound);
      break;
    case Action::Kind::Begin:
      begin(action.index);
      break;
    case Action::Kind::Accumulate:
      accumulate(action.index);
      break;
    case Action::Kind::End:
      // Those that end together are combined together.
      ended.push_back(action.index);
      if (i + 1 == actions.size() || actions[i + 1].kind != Action::Kind::End) {
        end(ended);
        ended.clear();
      }
      break;
    case Action::Kind::Save:
      save(action.index);
      break;
    case Action::Kind::Store:
      store(action.index);
      break;
    case Action::Kind::AtomicAmax:
      atomicAmax(action.index);
      break;
    }
  }
}

void KernelBuilder::emitLoop(const Action &action, DimSet bound) {
  unsigned dim = action.index;
  Value from = pieces[dim].first, to = pieces[dim].second;
  if (!from) {
    from = integer(0);
    to = extent(dim);
  }
  hoist(action.body, bound, readsFirst);
  if (int64_t(dim) == program.getVectorDim())
    emitVectorLoop(action, bound, from, to);
  else
    emitLoopAt(width, action, bound, from, to, integer(1));
}

void KernelBuilder::emitLoopAt(unsigned lanes, const Action &action,
                               DimSet bound, Value from, Value to, Value step) {
  unsigned dim = action.index;
  auto loop = scf::ForOp::create(builder, loc, from, to, step, ValueRange{});
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPoint(loop.getBody()->getTerminator());
  llvm::SaveAndRestore restore(width, lanes);
  indices[dim] = loop.getInductionVar();
  frames.emplace_back();
  emitActions(action.body, bound | DimSet(1) << dim);
  frames.pop_back();
  indices[dim] = nullptr;
}

//===----------------------------------------------------------------------===//
// Hoisting
//===----------------------------------------------------------------------===//

void KernelBuilder::hoist(ArrayRef<Action> actions, DimSet bound,
                          bool readsOnly) {
  DenseSet<Value> visited;
  auto visit = [&](auto &self, ArrayRef<Action> list) -> void {
    for (const Action &action : list) {
      switch (action.kind) {
      case Action::Kind::Loop:
        self(self, action.body);
        break;
      case Action::Kind::Store:
        hoistValue(program.getResult(action.index), bound, readsOnly, visited);
        break;
      case Action::Kind::AtomicAmax:
        hoistValue(program.getResult(action.index)
                       .getDefiningOp<fp8::AmaxOp>()
                       .getInput(),
                   bound, readsOnly, visited);
        break;
      case Action::Kind::Accumulate:
        hoistValue(program.getReductions()[action.index].op->getResult(0),
                   bound, readsOnly, visited);
        break;
      case Action::Kind::Save:
        hoistValue(program.getSaved()[action.index].value, bound, readsOnly,
                   visited);
        break;
      case Action::Kind::Begin:
      case Action::Kind::End:
        break;
      }
    }
  };
  visit(visit, actions);
}

void KernelBuilder::hoistValue(Value value, DimSet bound, bool readsOnly,
                               DenseSet<Value> &visited) {
  auto op = value.getDefiningOp<linalg::GenericOp>();
  if (!op || findMemo(key(value)) || !visited.insert(value).second)
    return;
  auto saved = savedOf.find(value);
  if (saved != savedOf.end() && isSaved.contains(saved->second))
    return;
  readsOnly |= comesLate(op);
  if (!readsOnly && op.getNumReductionLoops() == 0 &&
      (program.getDomain(value) & ~bound) == 0) {
    evaluate(value);
    return;
  }
  ArrayRef<int64_t> loops = program.getLoops(op);
  for (OpOperand &operand : op->getOpOperands()) {
    if (!op.payloadUsesValueFromOperand(&operand))
      continue;
    if (!isa<BlockArgument>(operand.get())) {
      hoistValue(operand.get(), bound, readsOnly, visited);
      continue;
    }
    AffineMap map = op.getMatchingIndexingMap(&operand);
    bool fixed = true;
    for (unsigned i = 0; i < loops.size(); ++i)
      if (loops[i] >= 0 && map.isFunctionOfDim(i))
        fixed &= bound >> loops[i] & 1;
    if (fixed)
      readOperand(op, operand);
  }
}
