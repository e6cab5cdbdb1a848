//===- GpuKernel.cpp - One kernel for a GPU: blocks and groups ------------===//
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

/// Numbers and addresses from the arrays that the first two parameters point
/// to. Of a kernel's own, LLVM knows that nothing writes them.
void GpuKernel::readParameters(unsigned numSizes, bool areOwn) {
  Type i64 = builder.getI64Type();
  auto global = LLVM::LLVMPointerType::get(builder.getContext(), 1);
  auto field = [&](unsigned array, unsigned i) -> Value {
    auto load = LLVM::LoadOp::create(
        builder, loc, i64, pointer(entry->getArgument(array), i64, integer(i)),
        /*alignment=*/8);
    load.setInvariant(!areOwn);
    return load;
  };
  for (unsigned i = 0; i < numSizes; ++i)
    sizes.push_back(field(1, i));
  for (unsigned i = 0; i < program.getOperands().size(); ++i)
    pointers.push_back(
        LLVM::IntToPtrOp::create(builder, loc, global, field(0, i)));
}

void GpuKernel::build(StringRef name) {
  MLIRContext *context = builder.getContext();
  Type i64 = builder.getI64Type();
  auto ptr = LLVM::LLVMPointerType::get(context);
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
  readParameters(numSizes, /*areOwn=*/true);

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
  if (!program.getSingleResults().empty()) {
    Value number = NVVM::BlockIdXOp::create(builder, loc, word);
    number = arith::OrIOp::create(builder, loc, number, threadInBlock);
    storeSingle(arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::eq,
                                      number, i32(0)));
  }
  beginAtomics();
  initFloors();
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
  if (shape.cluster > 1)
    LLVM::GlobalOp::create(builder, loc, LLVM::LLVMArrayType::get(i64, 2),
                           /*isConstant=*/false, LLVM::Linkage::Internal,
                           arrivalsName(), Attribute(), /*alignment=*/8,
                           /*addrSpace=*/3);
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
  if (mainWidth == 1 || movesElements)
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
  Value from, step;
  if (isShared) {
    from = widen(NVVM::ClusterIdXOp::create(builder, loc, word));
    step = widen(NVVM::ClusterDimXOp::create(builder, loc, word));
  } else {
    from = widen(NVVM::BlockIdXOp::create(builder, loc, word));
    step = widen(NVVM::GridDimXOp::create(builder, loc, word));
  }
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
  const size_t numResults =
      program.getOperands().size() - program.getNumInputs();
  if (!zeros || static_cast<size_t>(zeros.size()) != numResults)
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
