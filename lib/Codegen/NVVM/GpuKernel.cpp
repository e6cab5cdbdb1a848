//===- GpuKernel.cpp - One kernel for a GPU: groups and loops -------------===//
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
#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace fp8c;
using namespace fp8c::codegen;

GpuKernel::GpuKernel(const RowProgram &program, const LaunchShape &shape,
                     const Target &target, OpBuilder &builder, Location loc)
    : KernelBuilder(program, builder, loc), shape(shape), target(target) {
  hasThreads = shape.group > 1;
  collectKept();
}

/// Reads of operands stay, and narrow results: what takes few registers.
void GpuKernel::collectKept() {
  for (auto [operand, first] : equalRead)
    keepable.insert(first);
  for (auto op : program.getBody()->getOps<linalg::GenericOp>())
    for (Value result : op->getResults()) {
      Type element = getElementTypeOrSelf(result.getType());
      if (savedOf.count(result) ||
          (element.isIntOrFloat() && element.getIntOrFloatBitWidth() <= 16))
        keepable.insert(key(result));
    }
}

//===----------------------------------------------------------------------===//
// The function
//===----------------------------------------------------------------------===//

void GpuKernel::build(StringRef name) {
  MLIRContext *context = builder.getContext();
  Type i64 = builder.getI64Type();
  auto ptr = LLVM::LLVMPointerType::get(context);
  auto global = LLVM::LLVMPointerType::get(context, 1);
  auto type =
      LLVM::LLVMFunctionType::get(LLVM::LLVMVoidType::get(context), {ptr, ptr});
  auto function = LLVM::LLVMFuncOp::create(builder, loc, name, type);
  function->setAttr(NVVM::NVVMDialect::getKernelFuncAttrName(),
                    builder.getUnitAttr());
  function->setAttr(NVVM::NVVMDialect::getMaxntidAttrName(),
                    builder.getDenseI32ArrayAttr({int(shape.getThreads())}));
  if (shape.minBlocks)
    function->setAttr(NVVM::NVVMDialect::getMinctasmAttrName(),
                      builder.getI32IntegerAttr(shape.minBlocks));
  unsigned numSizes = program.getNumSizes() + (shape.rows > 1);
  unsigned counts[] = {unsigned(program.getOperands().size()), numSizes};
  for (auto [i, count] : llvm::enumerate(counts)) {
    Type array = LLVM::LLVMArrayType::get(i64, std::max(count, 1u));
    function.setArgAttr(i, LLVM::LLVMDialect::getByValAttrName(),
                        TypeAttr::get(array));
    function.setArgAttr(i, LLVM::LLVMDialect::getAlignAttrName(),
                        builder.getI64IntegerAttr(8));
    function.setArgAttr(i, NVVM::NVVMDialect::getGridConstantAttrName(),
                        builder.getUnitAttr());
  }
  sharedName = (name + "_shared").str();

  OpBuilder::InsertionGuard guard(builder);
  entry = function.addEntryBlock(builder);
  builder.setInsertionPointToStart(entry);
  auto field = [&](unsigned array, unsigned i) {
    return LLVM::LoadOp::create(
        builder, loc, i64, pointer(entry->getArgument(array), i64, integer(i)),
        /*alignment=*/8);
  };
  for (unsigned i = 0; i < numSizes; ++i)
    sizes.push_back(field(1, i));
  for (unsigned i = 0; i < program.getOperands().size(); ++i)
    pointers.push_back(LLVM::IntToPtrOp::create(builder, loc, global,
                                                field(0, i).getResult()));

  Type word = builder.getI32Type();
  threadInBlock = NVVM::ThreadIdXOp::create(builder, loc, word);
  lane = arith::AndIOp::create(builder, loc, threadInBlock, i32(31));
  thread = threadInBlock;
  if (shape.groups > 1)
    thread = arith::AndIOp::create(builder, loc, threadInBlock,
                                   i32(shape.group - 1));
  if (shape.dependent) {
    NVVM::GriddepcontrolOp::create(builder, loc,
                                   NVVM::GridDepActionKind::launch_dependents);
    NVVM::GriddepcontrolOp::create(builder, loc, NVVM::GridDepActionKind::wait);
  }
  parity = makeSlot(word);
  LLVM::StoreOp::create(builder, loc, i32(0), parity);

  mainWidth = shape.width;
  beginAtomics();
  emitVersions();
  flushAtomics();
  LLVM::ReturnOp::create(builder, loc, ValueRange{});
  builder.setInsertionPoint(function);
  if (shape.stages > 0) {
    LLVM::GlobalOp::create(builder, loc,
                           LLVM::LLVMArrayType::get(i64, shape.stages),
                           /*isConstant=*/false, LLVM::Linkage::Internal,
                           barriersName(), Attribute(), /*alignment=*/8,
                           /*addrSpace=*/3);
    LLVM::GlobalOp::create(builder, loc,
                           LLVM::LLVMArrayType::get(builder.getI8Type(), 0),
                           /*isConstant=*/false, LLVM::Linkage::External,
                           rowsName(), Attribute(), /*alignment=*/128,
                           /*addrSpace=*/3);
  }
  if (sharedScalars == 0)
    return;
  LLVM::GlobalOp::create(builder, loc,
                         LLVM::LLVMArrayType::get(i64, 2 * sharedScalars),
                         /*isConstant=*/false, LLVM::Linkage::Internal,
                         sharedName, Attribute(), /*alignment=*/16,
                         /*addrSpace=*/3);
}

Value GpuKernel::getChunk(const TaskDim &dim) {
  return dim.chunk == 1 ? Value() : integer(shape.chunk);
}

/// In 32 bits where vectors are moved, which is done for as many tasks as they
/// hold.
std::pair<Value, Value> GpuKernel::divideTask(Value task, Value count) {
  if (mainWidth == 1)
    return KernelBuilder::divideTask(task, count);
  auto [quotient, rest] =
      KernelBuilder::divideTask(narrow(task), narrow(count));
  Type i64 = builder.getI64Type();
  return {arith::ExtUIOp::create(builder, loc, i64, quotient),
          arith::ExtUIOp::create(builder, loc, i64, rest)};
}

Value GpuKernel::getParts(const TaskDim &dim) {
  bool isRow = shape.rows > 1 && dim.dim == program.getTaskDims().back().dim;
  return isRow ? sizes.back() : Value();
}

Value GpuKernel::buildTasks() {
  Value tasks;
  for (TaskDim task : program.getTaskDims()) {
    Value count = getParts(task);
    if (!count)
      count = countChunks(extent(task.dim), getChunk(task));
    tasks = tasks ? arith::MulIOp::create(builder, loc, tasks, count) : count;
  }
  return tasks ? tasks : integer(1);
}

/// The task or row that is the `number`th of `count`.
Value GpuKernel::inOrder(Value number, Value count) {
  if (!shape.backwards)
    return number;
  number = arith::SubIOp::create(builder, loc, count, number);
  return arith::SubIOp::create(builder, loc, number, integer(1));
}

/// The tasks of this group, a grid apart.
void GpuKernel::emitTasks(Value tasks) {
  Type word = builder.getI32Type(), i64 = builder.getI64Type();
  auto widen = [&](Value value) -> Value {
    return arith::ExtUIOp::create(builder, loc, i64, value);
  };
  Value from = widen(NVVM::BlockIdXOp::create(builder, loc, word));
  Value step = widen(NVVM::GridDimXOp::create(builder, loc, word));
  if (shape.groups > 1) {
    Value group =
        arith::DivUIOp::create(builder, loc, threadInBlock, i32(shape.group));
    from = arith::MulIOp::create(builder, loc, from, integer(shape.groups));
    from = arith::AddIOp::create(builder, loc, from, widen(group));
    step = arith::MulIOp::create(builder, loc, step, integer(shape.groups));
  }
  auto loop = scf::ForOp::create(builder, loc, from, tasks, step, ValueRange{});
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPoint(loop.getBody()->getTerminator());
  frames.emplace_back();
  kept.clear();
  keptAt.clear();
  Value task = inOrder(loop.getInductionVar(), tasks);
  if (isFlat)
    emitFlatTask(task);
  else
    emitTask(task);
  frames.pop_back();
}

void GpuKernel::writeZeros() {
  auto zeros =
      program.getBody()->getParentOp()->getAttrOfType<DenseI64ArrayAttr>(
          kZerosAttr);
  if (!zeros)
    return;
  const unsigned dim = program.getVectorDim();
  for (unsigned result = 0; result < zeros.size(); ++result) {
    if (zeros[result] == 0 || !writesZeros(program, result))
      continue;
    const unsigned operand = program.getNumInputs() + result;
    Type element = lower(program.getOperands()[operand].type.getElementType());
    Value size = extent(dim);
    auto write = [&] {
      Value mine =
          arith::ExtUIOp::create(builder, loc, builder.getI64Type(), thread);
      Value from = arith::AddIOp::create(builder, loc, size, mine);
      Value to =
          arith::AddIOp::create(builder, loc, size, integer(zeros[result]));
      auto loop = scf::ForOp::create(builder, loc, from, to,
                                     integer(shape.group), ValueRange{});
      OpBuilder::InsertionGuard guard(builder);
      builder.setInsertionPoint(loop.getBody()->getTerminator());
      llvm::SaveAndRestore restoreWidth(width, 1u);
      llvm::SaveAndRestore restoreIndex(indices[dim], loop.getInductionVar());
      SmallVector<Lanes> at;
      for (int64_t index : program.getResultLoops(result))
        at.push_back({index < 0 ? integer(0) : indices[index], Lanes::Uniform});
      storeMemory(pointer(pointers[operand], element,
                          offsetOf(operand, at).first.value),
                  element,
                  arith::ConstantOp::create(builder, loc,
                                            builder.getZeroAttr(element)));
    };
    // A piece of a row that is not its last has no end.
    if (Value end = pieces[dim].second)
      emitIf(arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::eq, end,
                                   size),
             write);
    else
      write();
  }
}

//===----------------------------------------------------------------------===//
// The loop along the vector dim
//===----------------------------------------------------------------------===//

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
  for (unsigned i = 0; i < shape.vectors; ++i)
    inVector(i, [&] {
      hoist(action.body, bound | DimSet(1) << dim, /*readsOnly=*/true);
    });
  // A row in shared memory is read as a whole before its place is given back.
  if (isFirst && (shape.rows > 1 || shape.readsAhead))
    for (const Action &other : program.getActions())
      if (other.kind == Action::Kind::Loop && other.index == dim)
        for (unsigned i = 0; i < shape.vectors; ++i)
          inVector(i, [&] {
            hoist(other.body, bound | DimSet(1) << dim, /*readsOnly=*/true);
          });
  auto emitVectors = [&] {
    for (unsigned i = 0; i < shape.vectors; ++i)
      inVector(i, [&] {
        if (!isFirst)
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
