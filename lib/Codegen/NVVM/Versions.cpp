//===- Versions.cpp - One kernel for a GPU: its versions ------------------===//
//
// Part of fp8c, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A kernel begins by looking at where its operands lie: what they allow decides
// how it goes on.
//
//===----------------------------------------------------------------------===//

#include "GpuKernel.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;
using namespace fp8c;
using namespace fp8c::codegen;

/// The versions of the kernel: vectors of all elements as one row, vectors (of
/// a row that a cluster shares, of several rows a task, or one), single
/// elements. Those with vectors have task numbers of 32 bits; the last is for
/// more, too.
void GpuKernel::emitVersions() {
  auto emitPlain = [&] {
    llvm::SaveAndRestore restoreMoves(movesElements, true);
    llvm::SaveAndRestore restoreWidth(mainWidth,
                                      shape.sameSums ? mainWidth : 1u);
    emitTasks(buildTasks());
  };
  auto emitStaged = [&] {
    llvm::SaveAndRestore restore(usesStages, true);
    initStages();
    emitTasks(buildTasks());
  };
  // A task that is one row needs nothing ahead.
  auto emitSingle = [&] {
    llvm::SaveAndRestore restore(isSingle, true);
    emitTasks(buildTasks());
  };
  auto emitAlone = [&] {
    if (shape.stages == 0)
      return emitTasks(buildTasks());
    emitGuarded(
        emitStaged,
        [&] {
          Value rows = extent(program.getTaskDims().back().dim);
          return Value(arith::CmpIOp::create(
              builder, loc, arith::CmpIPredicate::slt, sizes.back(), rows));
        },
        emitSingle);
  };
  auto emitAligned = [&] {
    if (shape.cluster == 1)
      return emitAlone();
    emitGuarded([&] { emitShared(); },
                [&] {
                  Value blocks = NVVM::ClusterDimBlocksXOp::create(
                      builder, loc, builder.getI32Type());
                  return Value(arith::CmpIOp::create(
                      builder, loc, arith::CmpIPredicate::eq, blocks,
                      i32(shape.cluster)));
                },
                emitAlone);
  };
  auto emitVectors = [&] {
    emitGuarded(
        emitAligned,
        [&] {
          return Value(arith::AndIOp::create(builder, loc, buildIsNarrow(),
                                             buildAlignment(/*ofRows=*/true)));
        },
        emitPlain);
  };
  if (shape.width == 1)
    return emitPlain();
  if (!shape.flat)
    return emitVectors();
  emitGuarded([&] { emitFlat(); },
              [&] {
                return Value(
                    arith::AndIOp::create(builder, loc, buildDense(),
                                          buildAlignment(/*ofRows=*/false)));
              },
              emitVectors);
}

/// `condition` may depend on what `emit` has emitted.
void GpuKernel::emitGuarded(function_ref<void()> emit,
                            function_ref<Value()> condition,
                            function_ref<void()> otherwise) {
  auto choice = scf::IfOp::create(
      builder, loc,
      arith::ConstantOp::create(builder, loc, builder.getBoolAttr(true)),
      /*withElseRegion=*/true);
  OpBuilder::InsertionGuard inner(builder);
  builder.setInsertionPoint(choice.thenYield());
  emit();
  builder.setInsertionPoint(choice);
  choice.getConditionMutable().assign(condition());
  builder.setInsertionPoint(choice.elseYield());
  otherwise();
}

//===----------------------------------------------------------------------===//
// Conditions
//===----------------------------------------------------------------------===//

/// Whether 32 bits hold the number of tasks, and with it every count of them.
Value GpuKernel::buildIsNarrow() {
  return arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::sle,
                               buildTasks(), integer(INT32_MAX));
}

/// The lower half of an index that 32 bits hold.
Value GpuKernel::narrow(Value value) {
  return arith::TruncIOp::create(builder, loc, builder.getI32Type(), value);
}

/// The number of elements.
Value GpuKernel::buildTotal() {
  Value total = integer(1);
  for (unsigned dim = 0; dim < program.getDims().size(); ++dim)
    total = arith::MulIOp::create(builder, loc, total, extent(dim));
  return total;
}

/// Whether the elements of every operand that has dims lie one after the other.
Value GpuKernel::buildDense() {
  Value bits = integer(0);
  for (const Operand &operand : program.getOperands()) {
    unsigned dim = program.getDims().size();
    Value expected = integer(1);
    ArrayRef<int64_t> extents = operand.type.getShape();
    if (llvm::all_of(extents, [](int64_t size) { return size == 1; }))
      continue;
    for (int64_t i = operand.type.getRank() - 1; i >= 0; --i) {
      if (extents[i] == 1)
        continue;
      if (i != operand.unitDim)
        bits = arith::OrIOp::create(
            builder, loc, bits,
            arith::XOrIOp::create(builder, loc, sizes[operand.firstStride + i],
                                  expected));
      expected = arith::MulIOp::create(builder, loc, expected, extent(--dim));
    }
  }
  return arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::eq, bits,
                               integer(0));
}

/// Whether every operand that is moved in vectors begins, or has its rows, at
/// multiples of a vector.
Value GpuKernel::buildAlignment(bool ofRows) {
  Value bits = integer(0);
  auto add = [&](Value value, uint64_t multiple, unsigned unit) {
    // All low bits that must be 0, in one number.
    Value low = arith::AndIOp::create(builder, loc, value,
                                      integer(multiple / unit - 1));
    bits = arith::OrIOp::create(builder, loc, bits, low);
  };
  for (unsigned position : vectorOperands) {
    const Operand &operand = program.getOperands()[position];
    Type element = lower(operand.type.getElementType());
    unsigned bytes = llvm::divideCeil(element.getIntOrFloatBitWidth(), 8);
    // Bulk copies move as much as the largest vectors.
    bool isStaged = llvm::any_of(staged, [&](auto &entry) {
      auto argument = cast<BlockArgument>(entry.first->get());
      return program.getOperandIndex(argument) == position;
    });
    uint64_t multiple =
        isStaged ? 16 : std::min<uint64_t>(16, uint64_t(bytes) * shape.width);
    Value address = LLVM::PtrToIntOp::create(builder, loc, builder.getI64Type(),
                                             pointers[position]);
    add(address, multiple, 1);
    for (int64_t dim = 0; ofRows && dim < operand.type.getRank(); ++dim)
      if (dim != operand.unitDim && operand.type.getDimSize(dim) != 1)
        add(sizes[operand.firstStride + dim], multiple, bytes);
  }
  return arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::eq, bits,
                               integer(0));
}

//===----------------------------------------------------------------------===//
// All elements as one row
//===----------------------------------------------------------------------===//

/// All pieces: several vectors a thread, or fewer of few elements.
void GpuKernel::emitFlat() {
  llvm::SaveAndRestore restore(isFlat, true);
  auto emitChunks = [&](auto &self, unsigned vectors,
                        ArrayRef<std::pair<unsigned, int64_t>> fewer) -> void {
    llvm::SaveAndRestore restoreVectors(shape.vectors, vectors);
    llvm::SaveAndRestore restoreChunk(shape.chunk, int64_t(shape.group) *
                                                       vectors * shape.width);
    auto emit = [&] {
      emitTasks(countChunks(buildTotal(), integer(shape.chunk)));
    };
    if (fewer.empty())
      return emit();
    auto [few, most] = fewer.front();
    emitGuarded(
        emit,
        [&, most = most] {
          return Value(arith::CmpIOp::create(builder, loc,
                                             arith::CmpIPredicate::sgt,
                                             buildTotal(), integer(most)));
        },
        [&, few = few] { self(self, few, fewer.drop_front()); });
  };
  emitChunks(emitChunks, shape.vectors, shape.fewer);
}

/// A piece of all elements, as one row of the last dim.
void GpuKernel::emitFlatTask(Value task) {
  unsigned last = program.getDims().size() - 1;
  llvm::SaveAndRestore restore(readsFirst, true);
  for (unsigned dim = 0; dim < last; ++dim)
    indices[dim] = integer(0);
  Value chunk = integer(shape.chunk);
  Value from = arith::MulIOp::create(builder, loc, task, chunk);
  Value to = arith::AddIOp::create(builder, loc, from, chunk);
  pieces[last] = {from, arith::MinUIOp::create(builder, loc, to, buildTotal())};
  emitActions(program.getActions(), (DimSet(1) << last) - 1);
  raiseFloors();
  indices.assign(indices.size(), nullptr);
  pieces[last] = {};
}
