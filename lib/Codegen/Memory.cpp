//===- Memory.cpp - One kernel as a function: loads and stores ------------===//
//
// Part of fp8c, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "KernelBuilder.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;
using namespace fp8c;
using namespace fp8c::codegen;

/// The bytes of an element in memory.
static unsigned getBytes(Type lowered) {
  return llvm::divideCeil(lowered.getIntOrFloatBitWidth(), 8);
}

Value KernelBuilder::pointer(Value base, Type element, Value offset) {
  if (element.isInteger(1))
    element = builder.getI8Type();
  return LLVM::GEPOp::create(builder, loc, base.getType(), element, base,
                             ArrayRef<LLVM::GEPArg>{offset});
}

Value KernelBuilder::loadMemory(Value address, Type element, unsigned lanes) {
  Type stored = element.isInteger(1) ? builder.getI8Type() : element;
  Type type = lanes == 1 ? stored : Type(VectorType::get(lanes, stored));
  Value value = LLVM::LoadOp::create(builder, loc, type, address,
                                     /*alignment=*/getBytes(stored));
  if (stored == element)
    return value;
  Value zero = constantOf(type, builder.getI8IntegerAttr(0));
  return arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::ne, value,
                               zero);
}

void KernelBuilder::storeMemory(Value address, Type element, Value value) {
  Type stored = element;
  if (element.isInteger(1)) {
    stored = builder.getI8Type();
    Type type = stored;
    if (auto vector = dyn_cast<VectorType>(value.getType()))
      type = vector.clone(stored);
    value = arith::ExtUIOp::create(builder, loc, type, value);
  }
  LLVM::StoreOp::create(builder, loc, value, address,
                        /*alignment=*/getBytes(stored));
}

/// Memory of the function for one value; LLVM keeps it in registers.
Value KernelBuilder::makeSlot(Type type) {
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToStart(entry);
  auto element = getElementTypeOrSelf(type);
  if (element.isInteger(1)) {
    Type byte = builder.getI8Type();
    auto vector = dyn_cast<VectorType>(type);
    type = vector ? Type(vector.clone(byte)) : byte;
  }
  return LLVM::AllocaOp::create(
      builder, loc, LLVM::LLVMPointerType::get(builder.getContext()), type,
      integer(1));
}

//===----------------------------------------------------------------------===//
// Addresses
//===----------------------------------------------------------------------===//

/// The offset of an element, in elements. Linear: the stride between lanes is
/// the second value, 1 if that is null.
std::pair<Lanes, Value> KernelBuilder::offsetOf(unsigned position,
                                                ArrayRef<Lanes> at) {
  const Operand &operand = program.getOperands()[position];
  Value fixed = integer(0), laneStride, vector;
  bool unitLanes = false;
  for (auto [dim, index] : llvm::enumerate(at)) {
    // The only index of a dim of one element is 0.
    if (operand.type.getDimSize(dim) == 1)
      continue;
    bool unit = int64_t(dim) == operand.unitDim;
    Value stride = unit ? integer(1) : sizes[operand.firstStride + dim];
    auto scale = [&](Value value, Value by) {
      return unit ? value : arith::MulIOp::create(builder, loc, value, by);
    };
    if (index.kind == Lanes::Varying) {
      Value part = scale(index.value, spread({stride}));
      vector =
          vector ? arith::AddIOp::create(builder, loc, vector, part) : part;
      continue;
    }
    fixed =
        arith::AddIOp::create(builder, loc, fixed, scale(index.value, stride));
    if (index.kind != Lanes::Linear)
      continue;
    unitLanes = unit && !laneStride;
    laneStride = laneStride
                     ? arith::AddIOp::create(builder, loc, laneStride, stride)
                     : stride;
  }
  if (!vector)
    return {{fixed, laneStride ? Lanes::Linear : Lanes::Uniform},
            unitLanes ? Value() : laneStride};
  vector = arith::AddIOp::create(builder, loc, vector, spread({fixed}));
  if (laneStride) {
    Value lanes = spread({integer(0), Lanes::Linear});
    lanes = arith::MulIOp::create(builder, loc, lanes, spread({laneStride}));
    vector = arith::AddIOp::create(builder, loc, vector, lanes);
  }
  return {{vector, Lanes::Varying}, nullptr};
}

Lanes KernelBuilder::loadAt(Value base, Type element, Lanes offset,
                            Value laneStride) {
  if (offset.kind == Lanes::Uniform)
    return {loadMemory(pointer(base, element, offset.value), element, 1),
            Lanes::Uniform};
  if (offset.kind == Lanes::Linear && !laneStride)
    return {loadMemory(pointer(base, element, offset.value), element, width),
            Lanes::Varying};
  SmallVector<Value> elements;
  Value at = offset.value;
  for (unsigned lane = 0; lane < width; ++lane) {
    if (offset.kind == Lanes::Varying)
      at = vector::ExtractOp::create(builder, loc, offset.value, lane);
    else if (lane > 0)
      at = arith::AddIOp::create(builder, loc, at, laneStride);
    elements.push_back(loadMemory(pointer(base, element, at), element, 1));
  }
  return {
      vector::FromElementsOp::create(builder, loc, vectorOf(element), elements),
      Lanes::Varying};
}

void KernelBuilder::storeAt(Value base, Type element, Lanes offset,
                            Value laneStride, Lanes value) {
  if (offset.kind == Lanes::Uniform)
    return storeMemory(pointer(base, element, offset.value), element,
                       value.value);
  Value vector = spread(value);
  if (offset.kind == Lanes::Linear && !laneStride)
    return storeMemory(pointer(base, element, offset.value), element, vector);
  Value at = offset.value;
  for (unsigned lane = 0; lane < width; ++lane) {
    if (lane > 0)
      at = arith::AddIOp::create(builder, loc, at, laneStride);
    storeMemory(pointer(base, element, at), element,
                vector::ExtractOp::create(builder, loc, vector, lane));
  }
}

Lanes KernelBuilder::load(unsigned operand, ArrayRef<Lanes> at) {
  auto [offset, laneStride] = offsetOf(operand, at);
  Type element = lower(program.getOperands()[operand].type.getElementType());
  if (offset.kind == Lanes::Linear && !laneStride &&
      !canMoveVector(operand, at))
    laneStride = integer(1);
  return loadAt(pointers[operand], element, offset, laneStride);
}

void KernelBuilder::store(unsigned result) {
  unsigned operand = program.getNumInputs() + result;
  SmallVector<Lanes> at;
  for (int64_t dim : program.getResultLoops(result))
    at.push_back(indexOf(dim));
  Lanes value;
  Value tensor = program.getResult(result);
  if (auto argument = dyn_cast<BlockArgument>(tensor))
    value = load(program.getOperandIndex(argument), at);
  else
    value = evaluate(tensor);
  auto [offset, laneStride] = offsetOf(operand, at);
  Type element = lower(program.getOperands()[operand].type.getElementType());
  if (offset.kind == Lanes::Linear && !laneStride &&
      !canMoveVector(operand, at))
    laneStride = integer(1);
  storeAt(pointers[operand], element, offset, laneStride, value);
}
