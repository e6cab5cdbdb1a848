//===- Values.cpp - One kernel as a function: values ----------------------===//
//
// Part of fp8c, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "KernelBuilder.h"

#include "fp8c/Codegen/Casts.h"
#include "fp8c/Dialect/FP8/FP8.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/Matchers.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace fp8c;
using namespace fp8c::codegen;

//===----------------------------------------------------------------------===//
// Types and constants
//===----------------------------------------------------------------------===//

/// True for types whose arithmetic is done in f32 and rounded.
static bool isNarrow(Type type) {
  return isa<FloatType>(type) && type.getIntOrFloatBitWidth() < 32;
}

Type KernelBuilder::lower(Type element) const {
  if (element.isBF16())
    return builder.getI16Type();
  if (isa<IndexType>(element))
    return builder.getI64Type();
  if (isa<FloatType>(element) && element.getIntOrFloatBitWidth() == 8)
    return builder.getI8Type();
  return element;
}

Type KernelBuilder::vectorOf(Type element) const {
  return width == 1 ? element : Type(VectorType::get(width, element));
}

Value KernelBuilder::constantOf(Type type, TypedAttr attribute) {
  if (auto vector = dyn_cast<VectorType>(type))
    attribute = DenseElementsAttr::get(vector, Attribute(attribute));
  return arith::ConstantOp::create(builder, loc, attribute);
}

Lanes KernelBuilder::constant(Attribute attribute) {
  auto typed = cast<TypedAttr>(attribute);
  Type type = lower(typed.getType());
  if (auto real = dyn_cast<FloatAttr>(attribute);
      real && type != real.getType())
    typed = builder.getIntegerAttr(type, real.getValue().bitcastToAPInt());
  else if (auto index = dyn_cast<IntegerAttr>(attribute))
    typed = builder.getIntegerAttr(
        type, index.getValue().sextOrTrunc(type.getIntOrFloatBitWidth()));
  return {arith::ConstantOp::create(builder, loc, typed), Lanes::Uniform};
}

/// A value with one element a lane; a scalar where there is one lane.
Value KernelBuilder::spread(Lanes lanes) {
  if (width == 1 || lanes.kind == Lanes::Varying)
    return lanes.value;
  auto type = VectorType::get(width, lanes.value.getType());
  Value value = vector::BroadcastOp::create(builder, loc, type, lanes.value);
  if (lanes.kind == Lanes::Uniform)
    return value;
  SmallVector<Attribute> steps;
  for (unsigned i = 0; i < width; ++i)
    steps.push_back(builder.getIntegerAttr(type.getElementType(), i));
  Value step = arith::ConstantOp::create(builder, loc,
                                         DenseElementsAttr::get(type, steps));
  return arith::AddIOp::create(builder, loc, value, step);
}

Value KernelBuilder::toF32(Value value, Type element) {
  if (element.isBF16())
    return emitBF16ToF32(builder, loc, value);
  if (fp8::isF8Type(element) || isa<Float8E8M0FNUType>(element))
    return emitF8ToF32(builder, loc, value, element);
  if (element.isF16())
    return arith::ExtFOp::create(
        builder, loc, withElement(value.getType(), builder.getF32Type()),
        value);
  return value;
}

Value KernelBuilder::fromF32(Value value, Type element) {
  if (element.isBF16())
    return emitF32ToBF16(builder, loc, value);
  if (fp8::isF8Type(element))
    return toF8(value, element, fp8::Overflow::IEEE);
  if (isa<Float8E8M0FNUType>(element))
    return emitF32ToF8(builder, loc, value, element, fp8::Overflow::IEEE);
  Type type = withElement(value.getType(), element);
  if (element.isF16())
    return arith::TruncFOp::create(builder, loc, type, value);
  if (element.isF64())
    return arith::ExtFOp::create(builder, loc, type, value);
  return value;
}

Value KernelBuilder::toF8(Value value, Type element, fp8::Overflow overflow) {
  return emitF32ToF8(builder, loc, value, element, overflow);
}

//===----------------------------------------------------------------------===//
// Indices
//===----------------------------------------------------------------------===//

Lanes KernelBuilder::indexOf(int64_t dim) {
  if (dim < 0)
    return {integer(0), Lanes::Uniform};
  bool vector = dim == program.getVectorDim() && width > 1;
  return {indices[dim], vector ? Lanes::Linear : Lanes::Uniform};
}

Lanes KernelBuilder::addIndex(Lanes left, Lanes right) {
  if (left.kind == Lanes::Uniform)
    std::swap(left, right);
  if (right.kind == Lanes::Uniform && left.kind != Lanes::Varying)
    return {arith::AddIOp::create(builder, loc, left.value, right.value),
            left.kind};
  return {arith::AddIOp::create(builder, loc, spread(left), spread(right)),
          Lanes::Varying};
}

Lanes KernelBuilder::evaluateAffine(AffineExpr expr, ArrayRef<int64_t> loops) {
  if (auto dim = dyn_cast<AffineDimExpr>(expr))
    return indexOf(loops[dim.getPosition()]);
  if (auto value = dyn_cast<AffineConstantExpr>(expr))
    return {integer(value.getValue()), Lanes::Uniform};
  auto binary = cast<AffineBinaryOpExpr>(expr);
  Lanes left = evaluateAffine(binary.getLHS(), loops);
  Lanes right = evaluateAffine(binary.getRHS(), loops);
  if (expr.getKind() == AffineExprKind::Add)
    return addIndex(left, right);
  bool uniform = left.kind == Lanes::Uniform && right.kind == Lanes::Uniform;
  Value a = uniform ? left.value : spread(left);
  Value b = uniform ? right.value : spread(right);
  Value result;
  // Indices are not negative.
  switch (expr.getKind()) {
  case AffineExprKind::Mul:
    result = arith::MulIOp::create(builder, loc, a, b);
    break;
  case AffineExprKind::Mod:
    result = arith::RemUIOp::create(builder, loc, a, b);
    break;
  case AffineExprKind::FloorDiv:
    result = arith::DivUIOp::create(builder, loc, a, b);
    break;
  default:
    result = arith::CeilDivUIOp::create(builder, loc, a, b);
    break;
  }
  return {result, uniform ? Lanes::Uniform : Lanes::Varying};
}

//===----------------------------------------------------------------------===//
// Tensors
//===----------------------------------------------------------------------===//

Lanes KernelBuilder::evaluate(Value tensor) {
  if (Lanes *memo = findMemo(key(tensor)))
    return *memo;
  if (isa<BlockArgument>(tensor))
    return {};
  auto saved = savedOf.find(tensor);
  if (saved != savedOf.end() && isSaved.contains(saved->second)) {
    Lanes value = loadSaved(saved->second);
    setMemo(key(tensor), value);
    return value;
  }
  Operation *op = tensor.getDefiningOp();
  DenseElementsAttr elements;
  if (matchPattern(tensor, m_Constant(&elements)))
    return constant(elements.getSplatValue<Attribute>());
  if (auto fill = dyn_cast<linalg::FillOp>(op))
    return evaluateOutside(fill.value());
  if (isa<tensor::EmptyOp>(op))
    return constant(builder.getZeroAttr(
        cast<RankedTensorType>(tensor.getType()).getElementType()));
  auto generic = cast<linalg::GenericOp>(op);
  SmallVector<Lanes> results = evaluateRegion(generic, {});
  for (auto [result, value] : llvm::zip(generic.getResults(), results))
    setMemo(key(result), value);
  return *findMemo(key(tensor));
}

/// The element that an op reads from an operand here.
Lanes KernelBuilder::readOperand(linalg::GenericOp op, OpOperand &operand) {
  auto argument = dyn_cast<BlockArgument>(operand.get());
  if (!argument)
    return evaluate(operand.get());
  OpOperand *read = equalRead.lookup(&operand);
  if (Lanes *memo = findMemo(read))
    return *memo;
  Lanes value;
  if (std::optional<Lanes> staged = readStaged(read)) {
    value = *staged;
  } else {
    SmallVector<Lanes> at;
    for (AffineExpr expr : op.getMatchingIndexingMap(&operand).getResults())
      at.push_back(evaluateAffine(expr, program.getLoops(op)));
    value = load(program.getOperandIndex(argument), at);
  }
  setMemo(read, value);
  return value;
}

/// What the body of `op` yields here; `before` are its accumulators.
SmallVector<Lanes> KernelBuilder::evaluateRegion(linalg::GenericOp op,
                                                 ArrayRef<Lanes> before) {
  DenseMap<Value, Lanes> values;
  for (OpOperand &operand : op->getOpOperands()) {
    BlockArgument argument = op.getMatchingBlockArgument(&operand);
    if (argument.use_empty())
      continue;
    bool isInit = op.isDpsInit(&operand);
    values[argument] =
        isInit && !before.empty()
            ? before[operand.getOperandNumber() - op.getNumDpsInputs()]
            : readOperand(op, operand);
  }
  auto lookup = [&](Value value) {
    auto found = values.find(value);
    return found != values.end() ? found->second : evaluateOutside(value);
  };
  for (Operation &inner : op.getBody()->without_terminator())
    if (!inner.use_empty())
      values[inner.getResult(0)] =
          evaluateOp(&inner, program.getLoops(op), lookup);
  SmallVector<Lanes> results;
  for (Value value : op.getBody()->getTerminator()->getOperands())
    results.push_back(lookup(value));
  return results;
}

/// A scalar of the kernel's block.
Lanes KernelBuilder::evaluateOutside(Value scalar) {
  if (auto argument = dyn_cast<BlockArgument>(scalar))
    return {sizes[program.getCapturedIndex(argument)], Lanes::Uniform};
  if (Lanes *memo = findMemo(key(scalar)))
    return *memo;
  Lanes value;
  if (auto dim = scalar.getDefiningOp<tensor::DimOp>())
    value = evaluateDim(dim);
  else
    value = evaluateOp(scalar.getDefiningOp(), {},
                       [&](Value operand) { return evaluateOutside(operand); });
  setMemo(key(scalar), value);
  return value;
}

/// A dim of an operand, where it is one of the iteration space's.
Lanes KernelBuilder::evaluateDim(tensor::DimOp op) {
  int64_t dim = *op.getConstantIndex();
  auto type = cast<RankedTensorType>(op.getSource().getType());
  if (!type.isDynamicDim(dim))
    return {integer(type.getDimSize(dim)), Lanes::Uniform};
  unsigned operand =
      program.getOperandIndex(cast<BlockArgument>(op.getSource()));
  for (auto [i, entry] : llvm::enumerate(program.getDims()))
    if (entry.operand == operand && entry.operandDim == dim)
      return {sizes[i], Lanes::Uniform};
  llvm_unreachable("the analysis accepts only dims of the iteration space");
}

//===----------------------------------------------------------------------===//
// Operations
//===----------------------------------------------------------------------===//

Lanes KernelBuilder::evaluateCast(Operation *op, Lanes input) {
  Type from = op->getOperand(0).getType(), to = op->getResult(0).getType();
  Value value = input.value;
  auto cast = dyn_cast<fp8::CastOp>(op);
  if (from.isF64())
    value = arith::TruncFOp::create(
        builder, loc, withElement(value.getType(), builder.getF32Type()),
        value);
  else
    value = toF32(value, from);
  value = cast && fp8::isF8Type(to) ? toF8(value, to, cast.getOverflow())
                                    : fromF32(value, to);
  return {value, input.kind};
}

Lanes KernelBuilder::evaluateOp(Operation *op, ArrayRef<int64_t> loops,
                                Lookup lookup) {
  if (auto index = dyn_cast<linalg::IndexOp>(op))
    return indexOf(loops[index.getDim()]);
  if (auto value = dyn_cast<arith::ConstantOp>(op))
    return constant(value.getValue());
  SmallVector<Lanes> inputs;
  if (auto extract = dyn_cast<tensor::ExtractOp>(op)) {
    for (Value index : extract.getIndices())
      inputs.push_back(lookup(index));
    auto argument = cast<BlockArgument>(extract.getTensor());
    return load(program.getOperandIndex(argument), inputs);
  }
  if (std::optional<Lanes> special = evaluateSpecial(op, lookup))
    return *special;
  for (Value operand : op->getOperands())
    inputs.push_back(lookup(operand));
  if (isa<fp8::CastOp, arith::ExtFOp, arith::TruncFOp>(op))
    return evaluateCast(op, inputs[0]);
  Type type = lower(op->getResult(0).getType());

  // Indices along the lanes stay linear where they can.
  if (isa<arith::IndexCastOp, arith::IndexCastUIOp>(op) &&
      type == lower(op->getOperand(0).getType()))
    return inputs[0];
  if (isa<arith::AddIOp>(op) && isa<IndexType>(op->getOperand(0).getType()))
    return addIndex(inputs[0], inputs[1]);
  if (isa<arith::SubIOp>(op) && inputs[0].kind == Lanes::Linear &&
      inputs[1].kind == Lanes::Uniform)
    return {
        arith::SubIOp::create(builder, loc, inputs[0].value, inputs[1].value),
        Lanes::Linear};

  bool uniform = llvm::all_of(
      inputs, [](Lanes input) { return input.kind == Lanes::Uniform; });
  IRMapping mapping;
  bool moves = isa<arith::SelectOp, arith::BitcastOp>(op);
  SmallVector<Value> operands;
  for (auto [operand, input] : llvm::zip(op->getOperands(), inputs)) {
    Value value = uniform ? input.value : spread(input);
    if (isNarrow(operand.getType()) && !moves)
      value = toF32(value, operand.getType());
    operands.push_back(value);
  }
  bool narrow = isNarrow(op->getResult(0).getType()) && !moves;
  if (narrow)
    type = builder.getF32Type();
  if (!uniform)
    type = vectorOf(type);
  Lanes::Kind kind = uniform ? Lanes::Uniform : Lanes::Varying;
  if (isa<arith::BitcastOp>(op) && operands[0].getType() == type)
    return {operands[0], kind};
  if (isa<arith::IndexCastOp, arith::IndexCastUIOp>(op)) {
    unsigned from = getElementTypeOrSelf(operands[0]).getIntOrFloatBitWidth();
    unsigned to = getElementTypeOrSelf(type).getIntOrFloatBitWidth();
    if (to < from)
      return {arith::TruncIOp::create(builder, loc, type, operands[0]), kind};
    if (isa<arith::IndexCastOp>(op))
      return {arith::ExtSIOp::create(builder, loc, type, operands[0]), kind};
    return {arith::ExtUIOp::create(builder, loc, type, operands[0]), kind};
  }
  Operation *clone = op->clone();
  clone->setOperands(operands);
  clone->getResult(0).setType(type);
  clone->setLoc(loc);
  builder.insert(clone);
  Value value = clone->getResult(0);
  if (narrow)
    value = fromF32(value, op->getResult(0).getType());
  return {value, kind};
}
