//===- Conversions.cpp - One kernel for a GPU: conversions, memory --------===//
//
// Part of fp8c, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Narrow values come in pairs: the conversions of the hardware make two, and
// two bf16 are one register.
//
//===----------------------------------------------------------------------===//

#include "GpuKernel.h"

#include "fp8c/Codegen/Casts.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace fp8c;
using namespace fp8c::codegen;

Value GpuKernel::call(StringRef intrinsic, Type type, ValueRange arguments) {
  return LLVM::CallIntrinsicOp::create(
             builder, loc, type, builder.getStringAttr(intrinsic), arguments)
      .getResult(0);
}

Value GpuKernel::bitcast(Type type, Value value) {
  if (value.getType() == type)
    return value;
  return LLVM::BitcastOp::create(builder, loc, type, value);
}

/// `bits` as one integer, or as words where they are several.
Type GpuKernel::wordsOf(unsigned bits) {
  return bits <= 32 ? Type(builder.getIntegerType(bits))
                    : VectorType::get(bits / 32, builder.getI32Type());
}

/// The number of lanes; 1 for a scalar.
static unsigned getLanes(Value value) {
  auto vector = dyn_cast<VectorType>(value.getType());
  return vector ? vector.getNumElements() : 1;
}

/// Lane `i`, or 0 after the last.
Value GpuKernel::extractLane(Value value, unsigned i) {
  if (i >= getLanes(value))
    return constantOf(getElementTypeOrSelf(value),
                      builder.getZeroAttr(getElementTypeOrSelf(value)));
  if (!isa<VectorType>(value.getType()))
    return value;
  return vector::ExtractOp::create(builder, loc, value, i);
}

/// One value a pair of lanes as the lanes themselves, in `type`.
Value GpuKernel::joinPairs(ArrayRef<Value> pairs, Type type) {
  if (!isa<VectorType>(type))
    return arith::TruncIOp::create(builder, loc, type, pairs[0]);
  if (pairs.size() == 1)
    return bitcast(type, pairs[0]);
  auto vector = VectorType::get(pairs.size(), pairs[0].getType());
  return bitcast(type,
                 vector::FromElementsOp::create(builder, loc, vector, pairs));
}

Value GpuKernel::toF32(Value value, Type element) {
  unsigned lanes = getLanes(value);
  Type f32 = builder.getF32Type(), word = builder.getI32Type();
  if (element.isBF16() && lanes > 1) {
    Type words = lanes == 2 ? word : Type(VectorType::get(lanes / 2, word));
    Value pairs = bitcast(words, value);
    Value low = arith::ShLIOp::create(
        builder, loc, pairs, constantOf(words, builder.getI32IntegerAttr(16)));
    Value high = arith::AndIOp::create(
        builder, loc, pairs,
        constantOf(words, builder.getI32IntegerAttr(int32_t(0xffff0000))));
    SmallVector<Value> elements;
    for (unsigned i = 0; i < lanes; ++i) {
      Value half = extractLane(i % 2 ? high : low, i / 2);
      elements.push_back(bitcast(f32, half));
    }
    Value wide = vector::FromElementsOp::create(
        builder, loc, VectorType::get(lanes, f32), elements);
    widened[wide] = value;
    return wide;
  }
  if (element.isBF16()) {
    Value wide = KernelBuilder::toF32(value, element);
    widened[wide] = value;
    return wide;
  }
  if (fp8::isF8Type(element) && target.hasF8Conversions) {
    StringRef name = isa<Float8E5M2Type>(element)
                         ? "llvm.nvvm.e5m2x2.to.f16x2.rn"
                         : "llvm.nvvm.e4m3x2.to.f16x2.rn";
    Type half = builder.getI16Type(), f16 = builder.getF16Type();
    SmallVector<Value> elements;
    for (unsigned i = 0; i < lanes; i += 2) {
      Value pair;
      if (lanes == 1) {
        pair = arith::ExtUIOp::create(builder, loc, half, value);
      } else if (lanes == 2) {
        pair = bitcast(half, value);
      } else {
        Value pairs = bitcast(VectorType::get(lanes / 2, half), value);
        pair = extractLane(pairs, i / 2);
      }
      Value both = call(name, VectorType::get(2, f16), pair);
      for (unsigned j = 0; j < std::min(lanes, 2u); ++j)
        elements.push_back(
            arith::ExtFOp::create(builder, loc, f32, extractLane(both, j)));
    }
    if (lanes == 1)
      return elements[0];
    return vector::FromElementsOp::create(
        builder, loc, VectorType::get(lanes, f32), elements);
  }
  return KernelBuilder::toF32(value, element);
}

Value GpuKernel::fromF32(Value value, Type element) {
  if (!element.isBF16())
    return KernelBuilder::fromF32(value, element);
  if (Value pairs = emitPairwise(value))
    return pairs;
  if (Value activation = emitActivation(value))
    value = activation;
  unsigned lanes = getLanes(value);
  SmallVector<Value> pairs;
  for (unsigned i = 0; i < lanes; i += 2) {
    Value pair = call("llvm.nvvm.ff2bf16x2.rn",
                      VectorType::get(2, builder.getBF16Type()),
                      {extractLane(value, i + 1), extractLane(value, i)});
    pairs.push_back(bitcast(builder.getI32Type(), pair));
  }
  return joinPairs(pairs, withElement(value.getType(), builder.getI16Type()));
}

/// The hardware's conversion, which saturates.
Value GpuKernel::castToF8(Value value, Type element) {
  StringRef name = isa<Float8E5M2Type>(element) ? "llvm.nvvm.ff.to.e5m2x2.rn"
                                                : "llvm.nvvm.ff.to.e4m3x2.rn";
  SmallVector<Value> pairs;
  for (unsigned i = 0; i < getLanes(value); i += 2)
    pairs.push_back(call(name, builder.getI16Type(),
                         {extractLane(value, i + 1), extractLane(value, i)}));
  return joinPairs(pairs, withElement(value.getType(), builder.getI8Type()));
}

Value GpuKernel::toF8(Value value, Type element, fp8::Overflow overflow) {
  if (!target.hasF8Conversions)
    return KernelBuilder::toF8(value, element, overflow);
  bool isE5M2 = isa<Float8E5M2Type>(element);
  if (overflow == fp8::Overflow::Saturate) {
    value = stripClamp(value, isE5M2 ? 57344.0f : 448.0f);
    auto cast = [&](Value quotient) { return castToF8(quotient, element); };
    if (Value codes = isE5M2 ? Value() : emitQuotient(value, cast))
      return codes;
    return cast(value);
  }
  Value result = castToF8(value, element);
  Type codes = result.getType();
  // The hardware saturates: from here on it is NaN, or Inf. Half way to what
  // would be the next number is even in one format and odd in the other.
  Type type = value.getType();
  Value limit =
      constantOf(type, builder.getF32FloatAttr(isE5M2 ? 61440.0f : 464.0f));
  Value magnitude = math::AbsFOp::create(builder, loc, value);
  Value isBeyond = arith::CmpFOp::create(builder, loc,
                                         isE5M2 ? arith::CmpFPredicate::OGE
                                                : arith::CmpFPredicate::OGT,
                                         magnitude, limit);
  Value sign = arith::AndIOp::create(
      builder, loc, result,
      constantOf(codes, builder.getI8IntegerAttr(int8_t(0x80))));
  Value beyond = arith::OrIOp::create(
      builder, loc, sign,
      constantOf(codes, builder.getI8IntegerAttr(isE5M2 ? 0x7c : 0x7f)));
  return arith::SelectOp::create(builder, loc, isBeyond, beyond, result);
}

//===----------------------------------------------------------------------===//
// Memory
//===----------------------------------------------------------------------===//

/// True for the device's memory and a block's, where operands are.
static bool holdsOperands(Value address) {
  return cast<LLVM::LLVMPointerType>(address.getType()).getAddressSpace() != 0;
}

/// True if an index along the lanes is a multiple of `width` at the first.
static bool isWholeVector(Value index, Value first, unsigned width) {
  if (index == first)
    return true;
  auto add = index.getDefiningOp<arith::AddIOp>();
  IntegerAttr offset;
  return add && add.getLhs() == first &&
         matchPattern(add.getRhs(), m_Constant(&offset)) &&
         offset.getValue().urem(width) == 0;
}

bool GpuKernel::canMoveVector(unsigned operand, ArrayRef<Lanes> at) {
  unsigned unit = program.getOperands()[operand].unitDim;
  if (movesElements || (shape.byElements && at.size() > 1))
    return false;
  if (!isWholeVector(at[unit].value, indices[program.getVectorDim()], width))
    return false;
  vectorOperands.insert(operand);
  return true;
}

Value GpuKernel::loadMemory(Value address, Type element, unsigned lanes) {
  if (!holdsOperands(address) || lanes == 1) {
    Value value = KernelBuilder::loadMemory(address, element, lanes);
    // Scalars that nothing writes while a product runs are read once.
    if (auto load = value.getDefiningOp<LLVM::LoadOp>();
        load && givenOperand && holdsOperands(address))
      load.setInvariant(true);
    return value;
  }
  Type stored = element.isInteger(1) ? builder.getI8Type() : element;
  unsigned bits = lanes * stored.getIntOrFloatBitWidth();
  Type type = wordsOf(bits);
  Value words = LLVM::LoadOp::create(builder, loc, type, address,
                                     std::min(bits / 8, 16u));
  Value value = bitcast(VectorType::get(lanes, stored), words);
  if (stored == element)
    return value;
  Value zero = constantOf(value.getType(), builder.getI8IntegerAttr(0));
  return arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::ne, value,
                               zero);
}

void GpuKernel::storeMemory(Value address, Type element, Value value) {
  unsigned lanes = getLanes(value);
  if (!holdsOperands(address) || lanes == 1)
    return KernelBuilder::storeMemory(address, element, value);
  Type stored = element;
  if (element.isInteger(1)) {
    stored = builder.getI8Type();
    value = arith::ExtUIOp::create(builder, loc,
                                   withElement(value.getType(), stored), value);
  }
  unsigned bits = lanes * stored.getIntOrFloatBitWidth();
  Type type = wordsOf(bits);
  LLVM::StoreOp::create(builder, loc, bitcast(type, value), address,
                        std::min(bits / 8, 16u));
}

/// One thread writes what all have. It waits for the others where it may write
/// over an operand that they still read.
void GpuKernel::store(unsigned result) {
  int64_t dim = program.getVectorDim();
  if (shape.group == 1 ||
      llvm::is_contained(program.getResultLoops(result), dim))
    return KernelBuilder::store(result);
  Value tensor = program.getResult(result);
  evaluate(tensor);
  auto type = cast<RankedTensorType>(tensor.getType());
  auto mayShare = [&](const Operand &operand) {
    return operand.argument && operand.type.getRank() == type.getRank() &&
           operand.type.getElementTypeBitWidth() ==
               type.getElementTypeBitWidth();
  };
  if (llvm::any_of(program.getOperands(), mayShare))
    synchronise();
  Value isFirst = arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::eq,
                                        thread, i32(0));
  emitIf(isFirst, [&] { KernelBuilder::store(result); });
}
