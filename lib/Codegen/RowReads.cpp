//===- RowReads.cpp - How a kernel reads and writes its rows --------------===//
//
// Part of fp8c, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "RowReads.h"

#include "fp8c/Dialect/FP8/FP8.h"

#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;
using namespace fp8c;
using namespace fp8c::codegen;

/// The bytes of one memory access of a thread, and of the unit of bulk copies.
static constexpr unsigned kVectorBytes = 16;

RowReads RowReads::find(const RowProgram &program) {
  RowReads reads;
  if (program.getTaskDims().empty())
    return reads;
  int64_t vector = program.getVectorDim();
  int64_t row = program.getTaskDims().back().dim;
  llvm::DenseSet<std::pair<Value, AffineMap>> seen;
  for (auto op : program.getBody()->getOps<linalg::GenericOp>())
    for (OpOperand &read : op->getOpOperands()) {
      if (!isa<BlockArgument>(read.get()) ||
          !op.payloadUsesValueFromOperand(&read))
        continue;
      AffineMap map = program.getReadMap(op, read);
      if (!map.isFunctionOfDim(vector) ||
          !seen.insert({read.get(), map}).second)
        continue;
      (map.isFunctionOfDim(row) ? reads.own : reads.shared).push_back(&read);
    }
  return reads;
}

int64_t RowReads::getBulkBytes(const RowProgram &program) const {
  int64_t vector = program.getVectorDim(), bytes = 0;
  int64_t size = program.getDims()[vector].size;
  for (OpOperand *read : own) {
    const Operand &operand =
        program.getOperand(cast<BlockArgument>(read->get()));
    AffineMap map =
        program.getReadMap(cast<linalg::GenericOp>(read->getOwner()), *read);
    // Whole rows, which lie together.
    if (operand.unitDim < 0 ||
        map.getResult(operand.unitDim) !=
            getAffineDimExpr(vector, map.getContext()) ||
        operand.type.getElementTypeBitWidth() % 8)
      return 0;
    for (auto [i, result] : llvm::enumerate(map.getResults()))
      if (int64_t(i) != operand.unitDim && result.isFunctionOfDim(vector))
        return 0;
    int64_t row = size * operand.type.getElementTypeBitWidth() / 8;
    if (row % kVectorBytes)
      return 0;
    bytes += row;
  }
  return bytes;
}

unsigned codegen::getVectorWidth(const RowProgram &program) {
  int64_t vector = program.getVectorDim();
  unsigned widest = 2;
  auto add = [&](const Operand &operand) {
    unsigned bits = operand.type.getElementTypeBitWidth();
    widest = std::max<unsigned>(widest, llvm::divideCeil(bits, 8));
  };
  for (auto op : program.getBody()->getOps<linalg::GenericOp>())
    for (OpOperand &read : op->getOpOperands()) {
      auto argument = dyn_cast<BlockArgument>(read.get());
      if (!argument || !op.payloadUsesValueFromOperand(&read))
        continue;
      const Operand &operand = program.getOperand(argument);
      if (operand.unitDim < 0)
        continue;
      AffineExpr along =
          op.getMatchingIndexingMap(&read).getResult(operand.unitDim);
      for (auto [i, loop] : llvm::enumerate(program.getLoops(op)))
        if (loop == vector && along.isFunctionOfDim(i))
          add(operand);
    }
  unsigned numInputs = program.getNumInputs();
  for (auto [i, operand] :
       llvm::enumerate(program.getOperands().drop_front(numInputs))) {
    bool isAtomic = llvm::is_contained(program.getAtomicResults(), i);
    if (!isAtomic && operand.unitDim >= 0 &&
        program.getResultLoops(i)[operand.unitDim] == vector)
      add(operand);
  }
  return std::max(kVectorBytes / widest, 2u);
}

bool codegen::canFlatten(const RowProgram &program) {
  unsigned numDims = program.getDims().size();
  // The indices of an operand are the dims in order, but for dims of extent 1.
  auto isIdentity = [&](const Operand &operand, ArrayRef<int64_t> loops) {
    unsigned next = 0;
    int64_t last = -1;
    for (auto [i, loop] : llvm::enumerate(loops)) {
      if (loop < 0)
        continue;
      if (loop != int64_t(next++))
        return false;
      last = i;
    }
    return next == numDims && operand.unitDim == last;
  };
  if (numDims < 2)
    return false;
  for (Operation &op : *program.getBody()) {
    if (isa<fp8::AmaxOp>(op)) {
      for (auto [i, loop] : llvm::enumerate(program.getLoops(&op)))
        if (loop >= 0 && loop != int64_t(i))
          return false;
      continue;
    }
    auto generic = dyn_cast<linalg::GenericOp>(op);
    if (!generic)
      continue;
    for (Operation &inner : *generic.getBody())
      if (isa<linalg::IndexOp, tensor::ExtractOp>(inner))
        return false;
    for (OpOperand &read : op.getOpOperands()) {
      if (!generic.payloadUsesValueFromOperand(&read) ||
          read.get().getDefiningOp<tensor::EmptyOp>())
        continue;
      AffineMap map = program.getReadMap(generic, read);
      bool hasOneElement =
          llvm::all_of(cast<RankedTensorType>(read.get().getType()).getShape(),
                       [](int64_t extent) { return extent == 1; });
      if (hasOneElement)
        continue;
      SmallVector<int64_t> loops;
      for (AffineExpr expr : map.getResults()) {
        auto dim = dyn_cast<AffineDimExpr>(expr);
        if (!dim && !isa<AffineConstantExpr>(expr))
          return false;
        loops.push_back(dim ? int64_t(dim.getPosition()) : -1);
      }
      auto argument = dyn_cast<BlockArgument>(read.get());
      Operand inside{{}, int64_t(loops.size()) - 1, {}, 0};
      if (!isIdentity(argument ? program.getOperand(argument) : inside, loops))
        return false;
    }
  }
  for (auto [i, operand] : llvm::enumerate(
           program.getOperands().drop_front(program.getNumInputs()))) {
    if (llvm::is_contained(program.getAtomicResults(), i) ||
        llvm::is_contained(program.getSingleResults(), i))
      continue;
    ArrayRef<int64_t> loops = program.getResultLoops(i);
    auto copied = dyn_cast<BlockArgument>(program.getResult(i));
    if (!isIdentity(operand, loops) ||
        (copied && !isIdentity(program.getOperand(copied), loops)))
      return false;
  }
  return true;
}
