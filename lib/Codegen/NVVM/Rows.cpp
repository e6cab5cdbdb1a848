//===- Rows.cpp - One kernel for a GPU: rows ahead ------------------------===//
//
// Part of fp8c, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A block that does several rows keeps what they share in registers. The rows'
// own operands come ahead: one thread starts bulk copies to shared memory, a
// barrier there counts their bytes. A row's place is given to the next one but
// one as soon as a barrier says that all threads have read it.
//
//===----------------------------------------------------------------------===//

#include "GpuKernel.h"

#include "../RowReads.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;
using namespace fp8c;
using namespace fp8c::codegen;

/// The bytes of a row's part of shared memory.
static int64_t getStageBytes(const LaunchShape &shape) {
  return shape.sharedBytes / shape.stages;
}

/// Where the row that is this block's `number`th lies, as a shared address.
Value GpuKernel::stageOf(Value number) {
  auto shared = LLVM::LLVMPointerType::get(builder.getContext(), 3);
  Value base = LLVM::AddressOfOp::create(builder, loc, shared, rowsName());
  Value stage =
      arith::AndIOp::create(builder, loc, number, i32(shape.stages - 1));
  stage = arith::MulIOp::create(builder, loc, stage, i32(getStageBytes(shape)));
  return LLVM::GEPOp::create(builder, loc, shared, builder.getI8Type(), base,
                             ArrayRef<LLVM::GEPArg>{stage});
}

Value GpuKernel::barrierOf(Value number) {
  auto shared = LLVM::LLVMPointerType::get(builder.getContext(), 3);
  Value base = LLVM::AddressOfOp::create(builder, loc, shared, barriersName());
  Value stage =
      arith::AndIOp::create(builder, loc, number, i32(shape.stages - 1));
  return LLVM::GEPOp::create(builder, loc, shared, builder.getI64Type(), base,
                             ArrayRef<LLVM::GEPArg>{stage});
}

void GpuKernel::initStages() {
  int64_t offset = 0;
  int64_t size = program.getDims()[program.getVectorDim()].size;
  for (OpOperand *read : RowReads::find(program).own) {
    staged.push_back({equalRead.lookup(read), offset});
    offset +=
        size *
        getElementTypeOrSelf(read->get().getType()).getIntOrFloatBitWidth() / 8;
  }
  rowsDone = makeSlot(builder.getI32Type());
  LLVM::StoreOp::create(builder, loc, i32(0), rowsDone);
  Value isFirst = arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::eq,
                                        threadInBlock, i32(0));
  emitIf(isFirst, [&] {
    for (unsigned i = 0; i < shape.stages; ++i)
      NVVM::MBarrierInitOp::create(builder, loc, barrierOf(i32(i)), i32(1),
                                   /*predicate=*/Value());
    // The copies, which are of another proxy, see them.
    NVVM::FenceProxyOp::create(
        builder, loc,
        NVVM::ProxyKindAttr::get(builder.getContext(),
                                 NVVM::ProxyKind::async_shared),
        NVVM::SharedSpaceAttr::get(builder.getContext(),
                                   NVVM::SharedSpace::shared_cta));
  });
}

/// Starts the copies of row `row`, the `number`th of this block.
void GpuKernel::issueRow(Value row, Value number) {
  unsigned dim = program.getTaskDims().back().dim;
  Value before = indices[dim];
  indices[dim] = inOrder(row, extent(dim));
  indices[program.getVectorDim()] = integer(0);
  llvm::SaveAndRestore restore(width, 1u);
  Value barrier = barrierOf(number), stage = stageOf(number);
  NVVM::MBarrierArriveExpectTxOp::create(
      builder, loc, TypeRange(), barrier, i32(getStageBytes(shape)),
      NVVM::MemScopeKind::CTA, /*relaxed=*/false, /*predicate=*/Value());
  int64_t size = program.getDims()[program.getVectorDim()].size;
  for (auto [read, offset] : staged) {
    auto op = cast<linalg::GenericOp>(read->getOwner());
    unsigned operand =
        program.getOperandIndex(cast<BlockArgument>(read->get()));
    SmallVector<Lanes> at;
    for (AffineExpr expr : op.getMatchingIndexingMap(read).getResults())
      at.push_back(evaluateAffine(expr, program.getLoops(op)));
    Type element = lower(program.getOperands()[operand].type.getElementType());
    Value source =
        pointer(pointers[operand], element, offsetOf(operand, at).first.value);
    Value target =
        LLVM::GEPOp::create(builder, loc, stage.getType(), builder.getI8Type(),
                            stage, ArrayRef<LLVM::GEPArg>{int32_t(offset)});
    // The form that PTX had first names the memory of a cluster.
    target = LLVM::AddrSpaceCastOp::create(
        builder, loc, LLVM::LLVMPointerType::get(builder.getContext(), 7),
        target);
    int64_t bytes = size * element.getIntOrFloatBitWidth() / 8;
    NVVM::CpAsyncBulkGlobalToSharedClusterOp::create(
        builder, loc, target, source, barrier, i32(bytes),
        /*multicastMask=*/Value(), /*l2CacheHint=*/Value());
    vectorOperands.insert(operand);
  }
  indices[dim] = before;
  indices[program.getVectorDim()] = nullptr;
}

/// Until the row that is done next is there.
void GpuKernel::awaitRow() {
  Value number =
      LLVM::LoadOp::create(builder, loc, builder.getI32Type(), rowsDone);
  Value phase = arith::ShRUIOp::create(builder, loc, number,
                                       i32(llvm::Log2_32(shape.stages)));
  phase = arith::AndIOp::create(builder, loc, phase, i32(1));
  awaitPhase(barrierOf(number), phase);
}

void GpuKernel::awaitPhase(Value barrier, Value phase) {
  scf::WhileOp::create(
      builder, loc, TypeRange(), ValueRange(),
      [&](OpBuilder &before, Location at, ValueRange) {
        Value isThere = NVVM::MBarrierTryWaitOp::create(
            before, at, before.getI1Type(), barrier, phase, /*ticks=*/Value(),
            NVVM::MemScopeKind::CTA, /*relaxed=*/false);
        Value yes =
            arith::ConstantOp::create(before, at, before.getBoolAttr(true));
        Value isNot = arith::XOrIOp::create(before, at, isThere, yes);
        scf::ConditionOp::create(before, at, isNot, ValueRange());
      },
      [&](OpBuilder &after, Location at, ValueRange) {
        scf::YieldOp::create(after, at);
      });
}

/// After a barrier: this row's place for a later one.
void GpuKernel::issueNext() {
  if (!mustIssue)
    return;
  mustIssue = false;
  Value number =
      LLVM::LoadOp::create(builder, loc, builder.getI32Type(), rowsDone);
  Value ahead =
      arith::MulIOp::create(builder, loc, sizes.back(), integer(shape.stages));
  Value next = arith::AddIOp::create(builder, loc, rowIndex, ahead);
  Value isFirst = arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::eq,
                                        threadInBlock, i32(0));
  Value isRow = arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::slt,
                                      next, rowEnd);
  emitIf(arith::AndIOp::create(builder, loc, isFirst, isRow), [&] {
    // The stage is the same; the barrier's phase follows by itself.
    issueRow(next, number);
  });
}

std::optional<Lanes> GpuKernel::readStaged(OpOperand *read) {
  if (std::optional<Lanes> value = readGiven(read))
    return value;
  const auto *found =
      llvm::find_if(staged, [&](auto &entry) { return entry.first == read; });
  if (found == staged.end() || !isUnrolled || !rowIndex)
    return std::nullopt;
  Value number =
      LLVM::LoadOp::create(builder, loc, builder.getI32Type(), rowsDone);
  Value stage = stageOf(number);
  Value row = LLVM::GEPOp::create(
      builder, loc, stage.getType(), builder.getI8Type(), stage,
      ArrayRef<LLVM::GEPArg>{int32_t(found->second)});
  Type element = lower(getElementTypeOrSelf(read->get().getType()));
  Value address = pointer(row, element, indices[program.getVectorDim()]);
  return Lanes{loadMemory(address, element, width), Lanes::Varying};
}

/// What does not depend on the row: read, and computed, once a task.
void GpuKernel::readCommon(DimSet bound) {
  unsigned dim = program.getVectorDim();
  llvm::SaveAndRestore restore(width, mainWidth);
  SmallVector<Value> starts = getStarts(integer(0));
  common.assign(shape.vectors, Frame());
  for (unsigned i = 0; i < shape.vectors; ++i) {
    indices[dim] = starts[i];
    frames.emplace_back();
    hoist(program.getActions(), bound | DimSet(1) << dim);
    for (auto [entryKey, lanes] : frames.back())
      if (keepable.contains(entryKey))
        common[i][entryKey] = lanes;
    frames.pop_back();
    indices[dim] = nullptr;
  }
}

/// Starts the loads of row `row`.
void GpuKernel::readAhead(Value row) {
  unsigned dim = program.getTaskDims().back().dim;
  llvm::SaveAndRestore restoreRow(indices[dim], inOrder(row, extent(dim)));
  llvm::SaveAndRestore restoreWidth(width, mainWidth);
  SmallVector<Value> starts = getStarts(integer(0));
  next.resize(shape.vectors);
  for (unsigned i = 0; i < shape.vectors; ++i) {
    indices[program.getVectorDim()] = starts[i];
    frames.emplace_back();
    for (OpOperand *read : RowReads::find(program).own) {
      read = equalRead.lookup(read);
      Value value =
          spread(readOperand(cast<linalg::GenericOp>(read->getOwner()), *read));
      Value &slot = next[i][read];
      if (!slot)
        slot = makeSlot(value.getType());
      LLVM::StoreOp::create(builder, loc, value, slot);
    }
    frames.pop_back();
  }
  indices[program.getVectorDim()] = nullptr;
}

/// The row that has been read ahead becomes the one that is done, and the next
/// one is read.
void GpuKernel::takeRow(Value row, Value end) {
  llvm::SaveAndRestore restore(width, mainWidth);
  kept.assign(shape.vectors, Frame());
  keptAt = indices;
  for (unsigned i = 0; i < shape.vectors; ++i)
    for (auto [read, slot] : next[i]) {
      Type element = lower(getElementTypeOrSelf(read->get().getType()));
      Value value = LLVM::LoadOp::create(builder, loc, vectorOf(element), slot);
      kept[i][read] = {value, Lanes::Varying};
    }
  Value later = arith::AddIOp::create(builder, loc, row, sizes.back());
  Value isRow = arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::slt,
                                      later, end);
  emitIf(isRow, [&] { readAhead(later); });
}

void GpuKernel::emitRow(Value row, Value end, DimSet bound) {
  unsigned dim = program.getTaskDims().back().dim;
  indices[dim] = inOrder(row, extent(dim));
  frames.emplace_back();
  kept.clear();
  if (usesStages) {
    awaitRow();
    rowIndex = row;
    rowEnd = end;
    mustIssue = true;
  }
  if (!next.empty())
    takeRow(row, end);
  emitActions(program.getActions(), bound | DimSet(1) << dim);
  writeZeros();
  if (usesStages) {
    if (mustIssue) {
      NVVM::Barrier0Op::create(builder, loc);
      issueNext();
    }
    Value done =
        LLVM::LoadOp::create(builder, loc, builder.getI32Type(), rowsDone);
    LLVM::StoreOp::create(builder, loc,
                          arith::AddIOp::create(builder, loc, done, i32(1)),
                          rowsDone);
    rowIndex = nullptr;
  }
  kept.clear();
  frames.pop_back();
  indices[dim] = nullptr;
}

void GpuKernel::emitBody(DimSet bound) {
  // Scalars come early: who waits for memory waits once.
  if (mainWidth > 1 && (shape.rows > 1 || shape.readsAhead))
    hoist(program.getActions(), bound, /*readsOnly=*/true);
  if (shape.rows == 1) {
    KernelBuilder::emitBody(bound);
    return writeZeros();
  }
  unsigned dim = program.getTaskDims().back().dim;
  auto [from, to] = pieces[dim];
  if (isSingle) {
    pieces[dim] = {};
    indices[dim] = from;
    KernelBuilder::emitBody(bound | DimSet(1) << dim);
    writeZeros();
    indices[dim] = nullptr;
    return;
  }
  if (usesStages) {
    Value isFirst = arith::CmpIOp::create(
        builder, loc, arith::CmpIPredicate::eq, threadInBlock, i32(0));
    Value done =
        LLVM::LoadOp::create(builder, loc, builder.getI32Type(), rowsDone);
    emitIf(isFirst, [&, first = from, end = to] {
      for (unsigned i = 0; i < shape.stages; ++i) {
        Value ahead =
            arith::MulIOp::create(builder, loc, sizes.back(), integer(i));
        Value row = arith::AddIOp::create(builder, loc, first, ahead);
        Value isRow = arith::CmpIOp::create(
            builder, loc, arith::CmpIPredicate::slt, row, end);
        emitIf(isRow, [&] {
          issueRow(row, arith::AddIOp::create(builder, loc, done, i32(i)));
        });
      }
    });
  }
  bool readsRows =
      mainWidth > 1 && !usesStages && shape.vectors > 0 &&
      shape.getCovered() == program.getDims()[program.getVectorDim()].size;
  if (readsRows)
    readAhead(from);
  if (mainWidth > 1)
    readCommon(bound);
  // The barriers are there for all.
  if (usesStages)
    NVVM::Barrier0Op::create(builder, loc);
  auto loop =
      scf::ForOp::create(builder, loc, from, to, sizes.back(), ValueRange{});
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPoint(loop.getBody()->getTerminator());
  emitRow(loop.getInductionVar(), to, bound);
  common.clear();
  next.clear();
}
