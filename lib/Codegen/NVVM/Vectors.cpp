//===- Vectors.cpp - One kernel for a GPU: loops along vectors ------------===//
//
// Part of fp8c, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "GpuKernel.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;
using namespace fp8c;
using namespace fp8c::codegen;

void GpuKernel::emitVectorLoop(const Action &action, DimSet bound, Value from,
                               Value to) {
  if (mainWidth != shape.width || shape.vectors == 0)
    return emitDealt(action, bound, from, to);
  unsigned dim = action.index;
  int64_t size = program.getDims()[dim].size;
  if (!pieces[dim].first) {
    emitUnrolled(action, bound, from);
    // The end of a row that threads do not share evenly.
    int64_t covered = shape.getCovered();
    if (covered < size)
      emitDealt(action, bound,
                arith::AddIOp::create(builder, loc, from, integer(covered)),
                to);
    return;
  }
  if (!isFlat && !ShapedType::isDynamic(size) && size % shape.chunk == 0)
    return emitUnrolled(action, bound, from);
  Value count = arith::SubIOp::create(builder, loc, to, from);
  Value isWhole = arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::eq,
                                        count, integer(shape.chunk));
  auto choice = scf::IfOp::create(builder, loc, isWhole, true);
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPoint(choice.thenYield());
  frames.emplace_back();
  emitUnrolled(action, bound, from);
  frames.back().clear();
  builder.setInsertionPoint(choice.elseYield());
  llvm::SaveAndRestore restore(isRare, isFlat);
  emitDealt(action, bound, from, to);
  frames.pop_back();
}

/// A loop in which each thread does every `group`th vector, then every
/// `group`th element of the rest.
void GpuKernel::emitDealt(const Action &action, DimSet bound, Value from,
                          Value to) {
  Value mine =
      arith::ExtUIOp::create(builder, loc, builder.getI64Type(), thread);
  if (mainWidth > 1) {
    Value count = arith::SubIOp::create(builder, loc, to, from);
    count = arith::AndIOp::create(builder, loc, count,
                                  integer(-int64_t(mainWidth)));
    Value end = arith::AddIOp::create(builder, loc, from, count);
    Value first = arith::MulIOp::create(builder, loc, mine, integer(mainWidth));
    emitLoopAt(mainWidth, action, bound,
               arith::AddIOp::create(builder, loc, from, first), end,
               integer(int64_t(shape.group) * mainWidth));
    int64_t size = program.getDims()[action.index].size;
    if (!ShapedType::isDynamic(size) && size % mainWidth == 0)
      return;
    from = end;
  }
  emitLoopAt(1, action, bound, arith::AddIOp::create(builder, loc, from, mine),
             to, integer(shape.group));
}

/// Where each of this thread's vectors begins.
SmallVector<Value> GpuKernel::getStarts(Value from) {
  Value mine =
      arith::ExtUIOp::create(builder, loc, builder.getI64Type(), thread);
  mine = arith::MulIOp::create(builder, loc, mine, integer(mainWidth));
  mine = arith::AddIOp::create(builder, loc, from, mine);
  SmallVector<Value> starts;
  for (unsigned i = 0; i < shape.vectors; ++i)
    starts.push_back(arith::AddIOp::create(
        builder, loc, mine, integer(int64_t(i) * shape.group * mainWidth)));
  return starts;
}

/// A division is a branch, which loads are not moved across: one that is the
/// same for all tasks stands behind the loads of the first.
bool GpuKernel::comesLate(linalg::GenericOp op) const {
  return program.getDomain(op.getResult(0)) == 0 &&
         !op.getBody()->getOps<arith::DivFOp>().empty();
}

/// All vectors of this thread one after the other, their loads first. What is
/// kept of them is there when the next loop over the same elements comes.
void GpuKernel::emitUnrolled(const Action &action, DimSet bound, Value from) {
  unsigned dim = action.index;
  llvm::SaveAndRestore restoreWidth(width, mainWidth);
  llvm::SaveAndRestore restoreUnrolled(isUnrolled, true);
  bool isFirst = kept.empty() || keptAt != indices;
  if (isFirst) {
    kept.assign(shape.vectors, Frame());
    keptAt = indices;
  }
  SmallVector<Value> starts = getStarts(from);
  auto inVector = [&](unsigned i, function_ref<void()> body) {
    indices[dim] = starts[i];
    if (!common.empty())
      frames.push_back(common[i]);
    frames.push_back(std::move(kept[i]));
    body();
    kept[i] = std::move(frames.back());
    frames.pop_back();
    if (!common.empty())
      frames.pop_back();
    indices[dim] = nullptr;
  };
  auto read = [&] {
    hoist(action.body, bound | DimSet(1) << dim, /*readsOnly=*/true);
  };
  // Elements take a register each until they are packed: a vector at a time.
  for (unsigned i = 0; i < shape.vectors && !movesElements; ++i)
    inVector(i, read);
  if (readsFirst && isFirst) {
    delayScalars();
    hoist(action.body, bound);
  }
  // All are on their way before the first choice of what is computed.
  if (!floors.empty())
    for (unsigned i = 0; i < shape.vectors; ++i)
      inVector(i, [&] {
        for (auto &entry : frames.back())
          entry.second = keepPacked(entry.second);
      });
  // A row in shared memory is read as a whole before its place is given back.
  if (isFirst && !movesElements && (shape.rows > 1 || shape.readsAhead))
    for (const Action &other : program.getActions())
      if (other.kind == Action::Kind::Loop && other.index == dim)
        for (unsigned i = 0; i < shape.vectors; ++i)
          inVector(i, [&] {
            hoist(other.body, bound | DimSet(1) << dim, /*readsOnly=*/true);
          });
  auto emitVectors = [&] {
    for (unsigned i = 0; i < shape.vectors; ++i)
      inVector(i, [&] {
        if (movesElements)
          read();
        if (!isFirst || movesElements)
          for (auto &entry : frames.back())
            entry.second = keepPacked(entry.second);
        Frame stays = frames.back();
        emitActions(action.body, bound | DimSet(1) << dim);
        // What follows from a mean that is not the graph's goes.
        for (auto [entryKey, lanes] : frames.back())
          if (keepable.contains(entryKey) && !inMoments)
            stays[entryKey] = lanes;
        frames.back() = std::move(stays);
      });
  };
  // One choice between divisions for all vectors, or one each.
  Value divisor = shape.sideBySide ? findDivisor(action.body) : Value();
  if (!divisor)
    return emitVectors();
  Division division = divideBy(divisor);
  auto choice = scf::IfOp::create(builder, loc, division.isUsual, true);
  SmallVector<Frame> before = kept;
  for (Block *block : {choice.thenBlock(), choice.elseBlock()}) {
    OpBuilder::InsertionGuard guard(builder);
    builder.setInsertionPointToStart(block);
    division.isChosen = true;
    division.isExact = block == choice.elseBlock();
    divisions[divisor] = division;
    emitVectors();
    kept = before;
  }
  divisions.erase(divisor);
}

/// Scalars that have been read are used only when the last vector is there: the
/// assembler would wait for one of them before it starts all loads. They get
/// that vector's bits by a mask that is 0, which it does not know.
void GpuKernel::delayScalars() {
  Value last;
  for (auto &entry : kept.back()) {
    auto vector = dyn_cast<VectorType>(entry.second.value.getType());
    unsigned bits =
        vector ? vector.getNumElements() * vector.getElementTypeBitWidth() : 0;
    if (bits == 0 || bits % 32)
      continue;
    Type words = VectorType::get(bits / 32, builder.getI32Type());
    last = extractLane(bitcast(words, entry.second.value), bits / 32 - 1);
  }
  if (!last)
    return;
  // Grids have one dim.
  Value none = NVVM::BlockIdZOp::create(builder, loc, builder.getI32Type());
  last = arith::AndIOp::create(builder, loc, last, none);
  SmallVector<std::pair<void *, LLVM::LoadOp>> scalars;
  for (Frame &frame : frames)
    for (auto &entry : frame) {
      auto read = entry.second.value.getDefiningOp<LLVM::LoadOp>();
      if (read && isa<IntegerType, FloatType>(read.getType()) &&
          read.getType().getIntOrFloatBitWidth() <= 32 &&
          cast<LLVM::LLVMPointerType>(read.getAddr().getType())
                  .getAddressSpace() == 1)
        scalars.push_back({entry.first, read});
    }
  for (auto [scalar, read] : scalars) {
    Value bits = arith::OrIOp::create(builder, loc, toBits(read), last);
    setMemo(scalar, {fromBits(bits, read.getType()), Lanes::Uniform});
  }
}

/// The same value, of which the compiler does not know that it has unpacked it
/// before: so that it keeps the pairs, half as many registers.
Lanes GpuKernel::keepPacked(Lanes lanes) {
  auto vector = dyn_cast<VectorType>(lanes.value.getType());
  if (!vector || vector.getElementTypeBitWidth() > 16)
    return lanes;
  unsigned bits = vector.getNumElements() * vector.getElementTypeBitWidth();
  if (bits % 32)
    return lanes;
  Type word = builder.getI32Type();
  auto words = VectorType::get(bits / 32, word);
  Value value = bitcast(words, lanes.value);
  SmallVector<Value> opaque;
  for (unsigned i = 0; i < bits / 32; ++i)
    opaque.push_back(
        LLVM::InlineAsmOp::create(
            builder, loc, word, extractLane(value, i), /*asm_string=*/"",
            /*constraints=*/"=r,0", /*has_side_effects=*/true,
            /*is_align_stack=*/false, LLVM::tailcallkind::TailCallKind::None,
            LLVM::AsmDialectAttr(), ArrayAttr())
            .getResult(0));
  value = vector::FromElementsOp::create(builder, loc, words, opaque);
  return {bitcast(vector, value), lanes.kind};
}

/// Registers hold what other loops need, where the loops are unrolled;
/// elsewhere it is computed again.
void GpuKernel::save(unsigned index) {
  if (isUnrolled)
    evaluate(program.getSaved()[index].value);
}

Lanes GpuKernel::loadSaved(unsigned index) {
  llvm_unreachable("nothing is saved to memory");
}
