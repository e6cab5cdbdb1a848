//===- RowProgram.cpp - What a kernel's body does, row by row -------------===//
//
// Part of fp8c, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "fp8c/Codegen/RowProgram.h"

#include "RowAnalysis.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace fp8c;
using namespace fp8c::codegen;

/// The bytes to which each saved value's part of the scratch is rounded up.
static constexpr int64_t kScratchAlignment = 64;

FailureOr<RowProgram>
RowProgram::analyze(Block &body, ArrayRef<int64_t> unitDims, std::string &why) {
  RowAnalysis analysis(body, unitDims, why);
  if (failed(analysis.run()))
    return failure();
  return analysis.take();
}

const Operand &RowProgram::getOperand(BlockArgument argument) const {
  return operands[getOperandIndex(argument)];
}

unsigned RowProgram::getOperandIndex(BlockArgument argument) const {
  for (unsigned i = 0; i < numInputs; ++i)
    if (operands[i].argument == argument)
      return i;
  llvm_unreachable("not a captured tensor");
}

ArrayRef<int64_t> RowProgram::getLoops(Operation *op) const {
  return loops.find(op)->second;
}

ArrayRef<int64_t> RowProgram::getResultLoops(unsigned result) const {
  return resultLoops[result];
}

AffineMap RowProgram::getReadMap(linalg::GenericOp op, OpOperand &read) const {
  MLIRContext *context = op.getContext();
  SmallVector<AffineExpr> exprs;
  for (int64_t loop : getLoops(op))
    exprs.push_back(loop < 0 ? getAffineConstantExpr(0, context)
                             : getAffineDimExpr(loop, context));
  return op.getMatchingIndexingMap(&read).replaceDimsAndSymbols(exprs, {},
                                                                dims.size(), 0);
}

Value RowProgram::getResult(unsigned result) const {
  return terminator->getOperand(result);
}

unsigned RowProgram::getCapturedIndex(BlockArgument argument) const {
  unsigned position = firstCaptured;
  for (BlockArgument other : argument.getOwner()->getArguments()) {
    if (other == argument)
      break;
    position += isa<IndexType>(other.getType());
  }
  return position;
}

int64_t RowProgram::getTasks(ArrayRef<int64_t> extents) const {
  int64_t tasks = 1;
  for (TaskDim task : taskDims)
    tasks *= llvm::divideCeil(extents[task.dim], task.chunk);
  return tasks;
}

int64_t RowProgram::getScratch(ArrayRef<int64_t> extents) const {
  int64_t bytes = 0;
  for (const Saved &value : saved) {
    int64_t size = value.elementBytes;
    for (unsigned dim : value.dims) {
      const auto *task = llvm::find_if(
          taskDims, [&](TaskDim other) { return other.dim == dim; });
      size *= task == taskDims.end() ? extents[dim] : task->chunk;
    }
    bytes += llvm::alignTo(size, kScratchAlignment);
  }
  return bytes;
}

/// An index constant.
static Value makeIndex(OpBuilder &builder, Location loc, int64_t value) {
  return arith::ConstantIndexOp::create(builder, loc, value);
}

Value RowProgram::buildTasks(OpBuilder &builder, Location loc,
                             ValueRange extents) const {
  Value tasks;
  for (TaskDim task : taskDims) {
    Value count = extents[task.dim];
    if (task.chunk != 1)
      count = arith::CeilDivSIOp::create(builder, loc, count,
                                         makeIndex(builder, loc, task.chunk));
    tasks = tasks ? arith::MulIOp::create(builder, loc, tasks, count) : count;
  }
  return tasks ? tasks : makeIndex(builder, loc, 1);
}

Value RowProgram::buildScratch(OpBuilder &builder, Location loc,
                               ValueRange extents) const {
  Value bytes;
  for (const Saved &value : saved) {
    int64_t fixed = value.elementBytes;
    Value size;
    for (unsigned dim : value.dims) {
      const auto *task = llvm::find_if(
          taskDims, [&](TaskDim other) { return other.dim == dim; });
      if (task != taskDims.end())
        fixed *= task->chunk;
      else if (!ShapedType::isDynamic(dims[dim].size))
        fixed *= dims[dim].size;
      else
        size = size ? arith::MulIOp::create(builder, loc, size, extents[dim])
                    : extents[dim];
    }
    if (size) {
      size = arith::MulIOp::create(builder, loc, size,
                                   makeIndex(builder, loc, fixed));
      Value alignment = makeIndex(builder, loc, kScratchAlignment);
      size = arith::CeilDivSIOp::create(builder, loc, size, alignment);
      size = arith::MulIOp::create(builder, loc, size, alignment);
    } else {
      size = makeIndex(builder, loc, llvm::alignTo(fixed, kScratchAlignment));
    }
    bytes = bytes ? arith::AddIOp::create(builder, loc, bytes, size) : size;
  }
  return bytes ? bytes : makeIndex(builder, loc, 0);
}
