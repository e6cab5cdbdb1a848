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

/// Lanes of the main loop, along the last dim and along the last outer dim.
static constexpr int64_t kInnerWidth = 16, kOuterWidth = 32;

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

/// The number of lanes of the main loop.
static unsigned getMainWidth(const RowProgram &program) {
  int64_t dim = program.getVectorDim();
  if (dim < 0)
    return 1;
  for (const Reduction &reduction : program.getReductions())
    if ((reduction.reduced >> dim & 1) && !reduction.associative)
      return 1;
  bool outer = program.getTaskDims().size() > size_t(dim) &&
               program.getNumOuter() < program.getDims().size();
  int64_t width = outer ? kOuterWidth : kInnerWidth;
  int64_t size = program.getDims()[dim].size;
  while (!ShapedType::isDynamic(size) && width > size && width > 1)
    width /= 2;
  return width;
}

func::FuncOp KernelBuilder::build(StringRef name) {
  auto ptr = LLVM::LLVMPointerType::get(builder.getContext());
  Type i64 = builder.getI64Type();
  auto type = builder.getFunctionType({ptr, ptr, i64, i64, ptr}, {});
  auto function = func::FuncOp::create(builder, loc, name, type);
  OpBuilder::InsertionGuard guard(builder);
  entry = function.addEntryBlock();
  builder.setInsertionPointToStart(entry);
  frames.emplace_back();
  scratch = entry->getArgument(4);
  mainWidth = getMainWidth(program);

  // The size block and the pointers.
  for (unsigned i = 0; i < program.getNumSizes(); ++i)
    sizes.push_back(LLVM::LoadOp::create(
        builder, loc, i64, pointer(entry->getArgument(1), i64, integer(i))));
  for (unsigned i = 0; i < program.getOperands().size(); ++i)
    pointers.push_back(LLVM::LoadOp::create(
        builder, loc, ptr, pointer(entry->getArgument(0), i64, integer(i))));
  Value offset = integer(0);
  for (auto [i, saved] : llvm::enumerate(program.getSaved())) {
    savedOf[saved.value] = i;
    scratchBases.push_back(pointer(scratch, builder.getI8Type(), offset));
    Value size = integer(saved.elementBytes);
    for (unsigned dim : saved.dims) {
      const auto *task =
          llvm::find_if(program.getTaskDims(),
                        [&](TaskDim other) { return other.dim == dim; });
      Value count = task == program.getTaskDims().end() ? extent(dim)
                                                        : integer(task->chunk);
      size = arith::MulIOp::create(builder, loc, size, count);
    }
    size = arith::AddIOp::create(builder, loc, size, integer(63));
    size = arith::AndIOp::create(builder, loc, size, integer(-64));
    offset = arith::AddIOp::create(builder, loc, offset, size);
  }
  indices.assign(program.getDims().size(), nullptr);
  pieces.assign(program.getDims().size(), {});
  for (unsigned result : program.getAtomicResults()) {
    Accumulator &atomic = atomics[result];
    Type i32 = builder.getI32Type();
    atomic.width = mainWidth;
    width = mainWidth;
    atomic.vector = makeSlot(vectorOf(i32));
    storeMemory(atomic.vector, i32,
                spread({constantOf(i32, builder.getI32IntegerAttr(0))}));
    width = 1;
    atomic.scalar = makeSlot(i32);
    storeMemory(atomic.scalar, i32,
                constantOf(i32, builder.getI32IntegerAttr(0)));
  }

  auto tasks =
      scf::ForOp::create(builder, loc, entry->getArgument(2),
                         entry->getArgument(3), integer(1), ValueRange{});
  {
    OpBuilder::InsertionGuard inner(builder);
    builder.setInsertionPoint(tasks.getBody()->getTerminator());
    frames.emplace_back();
    emitTask(tasks.getInductionVar());
    frames.pop_back();
  }
  flushAtomics();
  func::ReturnOp::create(builder, loc);
  return function;
}

void KernelBuilder::emitTask(Value task) {
  Value rest = task;
  DimSet bound = 0;
  ArrayRef<TaskDim> cut = program.getTaskDims();
  for (unsigned i = cut.size(); i-- > 0;) {
    auto [dim, chunk] = cut[i];
    Value size = extent(dim), count = size, index = rest;
    if (chunk != 1) {
      count = arith::AddIOp::create(builder, loc, count, integer(chunk - 1));
      count = arith::DivUIOp::create(builder, loc, count, integer(chunk));
    }
    if (i > 0) {
      index = arith::RemUIOp::create(builder, loc, rest, count);
      rest = arith::DivUIOp::create(builder, loc, rest, count);
    }
    if (chunk == 1) {
      indices[dim] = index;
      bound |= DimSet(1) << dim;
      continue;
    }
    Value from = arith::MulIOp::create(builder, loc, index, integer(chunk));
    Value to = arith::AddIOp::create(builder, loc, from, integer(chunk));
    pieces[dim] = {from, arith::MinUIOp::create(builder, loc, to, size)};
  }
  emitActions(program.getActions(), bound);
}

void KernelBuilder::emitActions(ArrayRef<Action> actions, DimSet bound) {
  // All values before the first store, so that a result may be written over an
  // operand that has the same elements.
  for (const Action &action : actions)
    if (action.kind == Action::Kind::Store)
      evaluate(program.getResult(action.index));
    else if (action.kind != Action::Kind::Save)
      break;
  for (const Action &action : actions) {
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
      end(action.index);
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
  hoist(action.body, bound);
  bool vector = int64_t(dim) == program.getVectorDim();
  if (!vector || mainWidth == 1)
    return emitLoopAt(width, action, bound, from, to);
  int64_t size = program.getDims()[dim].size;
  bool hasTail = ShapedType::isDynamic(size) || size % mainWidth != 0;
  Value end = to;
  if (hasTail) {
    Value count = arith::SubIOp::create(builder, loc, to, from);
    count = arith::AndIOp::create(builder, loc, count,
                                  integer(-int64_t(mainWidth)));
    end = arith::AddIOp::create(builder, loc, from, count);
  }
  emitLoopAt(mainWidth, action, bound, from, end);
  if (hasTail)
    emitLoopAt(1, action, bound, end, to);
}

void KernelBuilder::emitLoopAt(unsigned lanes, const Action &action,
                               DimSet bound, Value from, Value to) {
  unsigned dim = action.index;
  bool vector = int64_t(dim) == program.getVectorDim();
  auto loop = scf::ForOp::create(builder, loc, from, to,
                                 integer(vector ? lanes : 1), ValueRange{});
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

/// Computes what a loop's body needs and what does not change in the loop.
void KernelBuilder::hoist(ArrayRef<Action> actions, DimSet bound) {
  DenseSet<Value> visited;
  auto visit = [&](auto &self, ArrayRef<Action> list) -> void {
    for (const Action &action : list) {
      switch (action.kind) {
      case Action::Kind::Loop:
        self(self, action.body);
        break;
      case Action::Kind::Store:
        hoistValue(program.getResult(action.index), bound, visited);
        break;
      case Action::Kind::AtomicAmax:
        hoistValue(program.getResult(action.index)
                       .getDefiningOp<fp8::AmaxOp>()
                       .getInput(),
                   bound, visited);
        break;
      case Action::Kind::Accumulate:
        hoistValue(program.getReductions()[action.index].op->getResult(0),
                   bound, visited);
        break;
      case Action::Kind::Save:
        hoistValue(program.getSaved()[action.index].value, bound, visited);
        break;
      case Action::Kind::Begin:
      case Action::Kind::End:
        break;
      }
    }
  };
  visit(visit, actions);
}

void KernelBuilder::hoistValue(Value value, DimSet bound,
                               DenseSet<Value> &visited) {
  auto op = value.getDefiningOp<linalg::GenericOp>();
  if (!op || findMemo(key(value)) || !visited.insert(value).second)
    return;
  auto saved = savedOf.find(value);
  if (saved != savedOf.end() && isSaved.contains(saved->second))
    return;
  if (op.getNumReductionLoops() == 0 &&
      (program.getDomain(value) & ~bound) == 0) {
    evaluate(value);
    return;
  }
  ArrayRef<int64_t> loops = program.getLoops(op);
  for (OpOperand &operand : op->getOpOperands()) {
    if (!op.payloadUsesValueFromOperand(&operand))
      continue;
    if (!isa<BlockArgument>(operand.get())) {
      hoistValue(operand.get(), bound, visited);
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
