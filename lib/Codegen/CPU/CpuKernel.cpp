//===- CpuKernel.cpp - One kernel as a function for the CPU ---------------===//
//
// Part of fp8c, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "CpuKernel.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;
using namespace fp8c;
using namespace fp8c::codegen;

/// Lanes of the main loop, along the last dim and along the last outer dim.
static constexpr int64_t kInnerWidth = 16, kOuterWidth = 32;

/// The number of lanes of the main loop.
static unsigned getMainWidth(const RowProgram &program) {
  int64_t dim = program.getVectorDim();
  bool outer = program.getTaskDims().size() > size_t(dim) &&
               program.getNumOuter() < program.getDims().size();
  int64_t width = outer ? kOuterWidth : kInnerWidth;
  int64_t size = program.getDims()[dim].size;
  while (!ShapedType::isDynamic(size) && width > size && width > 1)
    width /= 2;
  return width;
}

func::FuncOp CpuKernel::build(StringRef name) {
  auto ptr = LLVM::LLVMPointerType::get(builder.getContext());
  Type i64 = builder.getI64Type();
  auto type = builder.getFunctionType({ptr, ptr, i64, i64, ptr}, {});
  auto function = func::FuncOp::create(builder, loc, name, type);
  OpBuilder::InsertionGuard guard(builder);
  entry = function.addEntryBlock();
  builder.setInsertionPointToStart(entry);
  if (program.getVectorDim() >= 0 && canShareLanes())
    mainWidth = getMainWidth(program);

  // The size block and the pointers.
  for (unsigned i = 0; i < program.getNumSizes(); ++i)
    sizes.push_back(LLVM::LoadOp::create(
        builder, loc, i64, pointer(entry->getArgument(1), i64, integer(i))));
  for (unsigned i = 0; i < program.getOperands().size(); ++i)
    pointers.push_back(LLVM::LoadOp::create(
        builder, loc, ptr, pointer(entry->getArgument(0), i64, integer(i))));
  placeSaved(entry->getArgument(4));
  Value from = entry->getArgument(2), to = entry->getArgument(3);
  if (!program.getSingleResults().empty()) {
    storeSingle(arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::eq,
                                      from, integer(0)));
    // A launch that has no tasks is launched with one.
    to = arith::MinSIOp::create(builder, loc, to, buildTasks());
  }
  beginAtomics();

  auto tasks =
      scf::ForOp::create(builder, loc, from, to, integer(1), ValueRange{});
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

/// Vectors, then what is left element by element.
void CpuKernel::emitVectorLoop(const Action &action, DimSet bound, Value from,
                               Value to) {
  if (mainWidth == 1)
    return emitLoopAt(1, action, bound, from, to, integer(1));
  int64_t size = program.getDims()[action.index].size;
  bool hasTail = ShapedType::isDynamic(size) || size % mainWidth != 0;
  Value end = to;
  if (hasTail) {
    Value count = arith::SubIOp::create(builder, loc, to, from);
    count = arith::AndIOp::create(builder, loc, count,
                                  integer(-int64_t(mainWidth)));
    end = arith::AddIOp::create(builder, loc, from, count);
  }
  emitLoopAt(mainWidth, action, bound, from, end, integer(mainWidth));
  if (hasTail)
    emitLoopAt(1, action, bound, end, to, integer(1));
}

//===----------------------------------------------------------------------===//
// Scratch
//===----------------------------------------------------------------------===//

/// Where in scratch each saved value begins.
void CpuKernel::placeSaved(Value scratch) {
  Value offset = integer(0);
  for (const Saved &saved : program.getSaved()) {
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
}

/// Saved values are dense, the vector dim innermost.
Lanes CpuKernel::savedOffset(const Saved &saved) {
  SmallVector<unsigned> order;
  bool vector = false;
  for (unsigned dim : saved.dims)
    if (int64_t(dim) == program.getVectorDim())
      vector = true;
    else
      order.push_back(dim);
  if (vector)
    order.push_back(program.getVectorDim());
  Value offset = integer(0);
  for (unsigned dim : order) {
    Value size = extent(dim), index = indices[dim];
    if (pieces[dim].first) {
      index = arith::SubIOp::create(builder, loc, index, pieces[dim].first);
      for (TaskDim task : program.getTaskDims())
        if (task.dim == dim)
          size = integer(task.chunk);
    }
    offset = arith::MulIOp::create(builder, loc, offset, size);
    offset = arith::AddIOp::create(builder, loc, offset, index);
  }
  return {offset, vector && width > 1 ? Lanes::Linear : Lanes::Uniform};
}

void CpuKernel::save(unsigned index) {
  const Saved &saved = program.getSaved()[index];
  isSaved.erase(index);
  Lanes value = evaluate(saved.value);
  Type element =
      lower(cast<RankedTensorType>(saved.value.getType()).getElementType());
  storeAt(scratchBases[index], element, savedOffset(saved), nullptr, value);
  isSaved.insert(index);
}

Lanes CpuKernel::loadSaved(unsigned index) {
  const Saved &saved = program.getSaved()[index];
  Type element =
      lower(cast<RankedTensorType>(saved.value.getType()).getElementType());
  return loadAt(scratchBases[index], element, savedOffset(saved), nullptr);
}
