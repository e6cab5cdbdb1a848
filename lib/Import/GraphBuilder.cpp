//===- GraphBuilder.cpp - Builds graph-level tensors ----------------------===//
//
// Part of fp8c, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "fp8c/Import/GraphBuilder.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "llvm/ADT/SmallBitVector.h"
#include "llvm/Support/CheckedArithmetic.h"

#include <utility>

using namespace mlir;
using namespace fp8c;
using namespace fp8c::import;

//===----------------------------------------------------------------------===//
// Errors
//===----------------------------------------------------------------------===//

void GraphBuilder::fail(const Twine &message) {
  if (!std::exchange(broken, true))
    emitError(loc) << message;
}

bool GraphBuilder::isBroken() {
  if (arith.isBroken())
    fail("sizes must be numbers of 64 bits and expressions of few terms");
  return broken;
}

//===----------------------------------------------------------------------===//
// Sizes
//===----------------------------------------------------------------------===//

/// What no memory holds; sizes in bytes stay far from an overflow.
static constexpr int64_t kMaxElements = int64_t(1) << 48;

void GraphBuilder::setSizes(Value tensor, Sizes sizes) {
  for (OpFoldResult &size : sizes)
    size = arith.canonical(size);
  knownSizes[tensor] = std::move(sizes);
}

Value GraphBuilder::remember(Value tensor, Sizes sizes) {
  knownSizes[tensor] = std::move(sizes);
  return tensor;
}

Sizes GraphBuilder::sizes(Value tensor) {
  auto it = knownSizes.find(tensor);
  if (it != knownSizes.end())
    return it->second;
  Sizes result;
  for (auto [dim, size] : llvm::enumerate(typeOf(tensor).getShape())) {
    if (!ShapedType::isDynamic(size))
      result.push_back(arith.constant(size));
    else
      result.push_back(
          tensor::DimOp::create(builder, loc, tensor, dim).getResult());
  }
  knownSizes[tensor] = result;
  return result;
}

OpFoldResult GraphBuilder::size(Value tensor, int64_t dim) {
  Sizes all = sizes(tensor);
  dim = wrapDim(dim, rankOf(tensor));
  if (dim >= 0 && dim < rankOf(tensor))
    return all[dim];
  fail("there is no dim " + Twine(dim) + " of a tensor with " +
       Twine(rankOf(tensor)));
  return arith.constant(1);
}

RankedTensorType GraphBuilder::getType(ArrayRef<OpFoldResult> sizes,
                                       Type element) {
  SmallVector<int64_t> shape;
  std::optional<int64_t> elements = 1;
  for (OpFoldResult size : sizes) {
    int64_t number = getConstantIntValue(size).value_or(ShapedType::kDynamic);
    if (number < 0 && !ShapedType::isDynamic(number)) {
      fail("a tensor's size must be at least 0, got " + Twine(number));
      number = 0;
    }
    if (elements && !ShapedType::isDynamic(number))
      elements =
          llvm::checkedMul<int64_t>(*elements, std::max<int64_t>(number, 1));
    shape.push_back(number);
  }
  if (!elements || *elements > kMaxElements)
    fail("a tensor must have fewer than 2^48 elements");
  return RankedTensorType::get(shape, element);
}

Sizes GraphBuilder::broadcastSizes(ArrayRef<Sizes> all) {
  size_t rank = 0;
  for (const Sizes &sizes : all)
    rank = std::max(rank, sizes.size());
  Sizes result(rank, arith.constant(1));
  for (const Sizes &sizes : all)
    for (size_t i = 0; i < sizes.size(); ++i) {
      OpFoldResult &known = result[rank - sizes.size() + i];
      OpFoldResult size = sizes[i];
      std::optional<int64_t> a = getConstantIntValue(known),
                             b = getConstantIntValue(size);
      if (a && b && *a != 1 && *b != 1 && *a != *b)
        fail("sizes " + Twine(*a) + " and " + Twine(*b) +
             " do not broadcast against each other");
      // A dynamic size is no 1 that broadcasts: torch.export has specialised
      // those. So the other one, if it is a number, is the size. What an
      // archive says without proof is checked, as nothing else guards reads.
      if (a != 1 && b != 1)
        checkEqual(known, size, "sizes that broadcast are equal");
      if (isConstantIntValue(known, 1) ||
          (isa<Value>(known) && isa<Attribute>(size) &&
           !isConstantIntValue(size, 1)))
        known = size;
    }
  return result;
}

Sizes GraphBuilder::inferSizes(ArrayRef<OpFoldResult> requested,
                               OpFoldResult elements) {
  Sizes result(requested);
  OpFoldResult known = arith.constant(1);
  OpFoldResult *unknown = nullptr;
  for (OpFoldResult &size : result) {
    if (isConstantIntValue(size, -1))
      unknown = &size;
    else
      known = arith.mul(known, size);
  }
  if (unknown)
    *unknown = isConstantIntValue(known, 0) ? arith.constant(0)
                                            : arith.floorDiv(elements, known);
  for (OpFoldResult &size : result)
    size = arith.canonical(size);
  return result;
}

void GraphBuilder::checkEqual(OpFoldResult a, OpFoldResult b,
                              const Twine &message) {
  if (arith.equal(a, b) ||
      !checked.insert({arith.value(a), arith.value(b)}).second)
    return;
  Value condition = arith::CmpIOp::create(
      builder, loc, arith::CmpIPredicate::eq, arith.value(a), arith.value(b));
  fp8::CheckOp::create(builder, loc, condition, message.str());
}

void GraphBuilder::checkLessEqual(OpFoldResult a, OpFoldResult b,
                                  const Twine &message) {
  if (arith.knownLessEqual(a, b))
    return;
  if (arith.knownLessEqual(arith.add(b, arith.constant(1)), a)) {
    std::optional<int64_t> left = arith.getConstant(a);
    std::optional<int64_t> right = arith.getConstant(b);
    if (left && right)
      return fail(message + ": expected at most " + Twine(*right) + ", got " +
                  Twine(*left));
    return fail(message + ": that never holds");
  }
  if (!ordered.insert({arith.value(a), arith.value(b)}).second)
    return;
  Value condition = arith::CmpIOp::create(
      builder, loc, arith::CmpIPredicate::sle, arith.value(a), arith.value(b));
  fp8::CheckOp::create(builder, loc, condition, message.str());
}

Value GraphBuilder::empty(ArrayRef<OpFoldResult> sizes, Type element) {
  return tensor::EmptyOp::create(builder, loc, sizes, element);
}

//===----------------------------------------------------------------------===//
// Elementwise
//===----------------------------------------------------------------------===//

Value GraphBuilder::compute(ArrayRef<OpFoldResult> sizes, Type element,
                            ValueRange inputs, SmallVector<AffineMap> maps,
                            Body body) {
  maps.push_back(builder.getMultiDimIdentityMap(sizes.size()));
  SmallVector<utils::IteratorType> iterators(sizes.size(),
                                             utils::IteratorType::parallel);
  Value init = empty(sizes, element);
  auto generic = linalg::GenericOp::create(
      builder, loc, TypeRange{init.getType()}, inputs, ValueRange{init}, maps,
      iterators, [&](OpBuilder &nested, Location nestedLoc, ValueRange args) {
        Scalars scalars(nested, nestedLoc);
        linalg::YieldOp::create(nested, nestedLoc,
                                body(scalars, args.drop_back()));
      });
  return remember(generic.getResult(0), Sizes(sizes));
}

Value GraphBuilder::elementwise(ValueRange inputs, Type element, Body body,
                                ArrayRef<OpFoldResult> minimum) {
  SmallVector<Sizes> all;
  for (Value input : inputs)
    all.push_back(sizes(input));
  all.push_back(Sizes(minimum));
  Sizes result = broadcastSizes(all);
  unsigned rank = result.size();

  SmallVector<Value> operands;
  SmallVector<AffineMap> maps;
  MLIRContext *context = builder.getContext();
  for (auto [input, inputSizes] : llvm::zip(inputs, all)) {
    SmallVector<AffineExpr> exprs;
    Sizes refined = inputSizes;
    for (unsigned i = 0; i < inputSizes.size(); ++i) {
      unsigned dim = rank - inputSizes.size() + i;
      bool repeats = isConstantIntValue(inputSizes[i], 1) &&
                     !isConstantIntValue(result[dim], 1);
      exprs.push_back(repeats ? getAffineConstantExpr(0, context)
                              : getAffineDimExpr(dim, context));
      if (!repeats)
        refined[i] = result[dim];
    }
    operands.push_back(refine(input, refined));
    maps.push_back(AffineMap::get(rank, 0, exprs, context));
  }
  return compute(result, element, operands, std::move(maps), body);
}

Value GraphBuilder::convert(Value tensor, Type element, bool isUnsigned,
                            std::optional<fp8::Overflow> overflow) {
  if (elementOf(tensor) == element)
    return tensor;
  return elementwise(tensor, element, [&](Scalars &s, ValueRange args) {
    return s.convert(args[0], element, isUnsigned, overflow);
  });
}

Value GraphBuilder::generate(ArrayRef<OpFoldResult> sizes, Type element,
                             Body body) {
  return generate(sizes, element, {}, {}, body);
}

Value GraphBuilder::generate(ArrayRef<OpFoldResult> sizes, Type element,
                             ValueRange inputs,
                             ArrayRef<SmallVector<int64_t>> dims, Body body) {
  unsigned rank = sizes.size();
  SmallVector<AffineMap> maps;
  for (auto [input, inputDims] : llvm::zip(inputs, dims)) {
    SmallVector<AffineExpr> exprs;
    Sizes inputSizes = this->sizes(input);
    for (auto [size, dim] : llvm::zip(inputSizes, inputDims))
      exprs.push_back(isConstantIntValue(size, 1) &&
                              !isConstantIntValue(sizes[dim], 1)
                          ? builder.getAffineConstantExpr(0)
                          : builder.getAffineDimExpr(dim));
    maps.push_back(AffineMap::get(rank, 0, exprs, builder.getContext()));
  }
  return compute(sizes, element, inputs, std::move(maps),
                 [&](Scalars &s, ValueRange elements) {
                   SmallVector<Value> values(elements);
                   for (unsigned dim = 0; dim < rank; ++dim)
                     values.push_back(linalg::IndexOp::create(s.getBuilder(),
                                                              s.getLoc(), dim));
                   return body(s, values);
                 });
}

Value GraphBuilder::extract(Scalars &s, Value tensor, ValueRange indices) {
  return tensor::ExtractOp::create(s.getBuilder(), s.getLoc(), tensor, indices);
}

Value GraphBuilder::full(ArrayRef<OpFoldResult> sizes, TypedAttr value) {
  Value init = empty(sizes, value.getType());
  Value number = arith::ConstantOp::create(builder, loc, value);
  auto fill = linalg::FillOp::create(builder, loc, number, init);
  return remember(fill.getResult(0), Sizes(sizes));
}

//===----------------------------------------------------------------------===//
// Reductions
//===----------------------------------------------------------------------===//

Value GraphBuilder::reduce(Value tensor, ArrayRef<int64_t> dims, bool keepDim,
                           TypedAttr init, Body map, Body combine) {
  unsigned rank = rankOf(tensor);
  llvm::SmallBitVector reduced(rank);
  for (int64_t dim : dims)
    if (rank)
      reduced.set(wrapDim(dim, rank));
  Sizes inputSizes = sizes(tensor), resultSizes, keptSizes;
  SmallVector<AffineExpr> exprs;
  SmallVector<utils::IteratorType> iterators;
  for (unsigned dim = 0; dim < rank; ++dim) {
    iterators.push_back(reduced[dim] ? utils::IteratorType::reduction
                                     : utils::IteratorType::parallel);
    keptSizes.push_back(reduced[dim] ? arith.constant(1) : inputSizes[dim]);
    if (reduced[dim])
      continue;
    exprs.push_back(builder.getAffineDimExpr(dim));
    resultSizes.push_back(inputSizes[dim]);
  }
  Type accumulator = init.getType();
  Value filled = full(resultSizes, init);
  AffineMap maps[] = {builder.getMultiDimIdentityMap(rank),
                      AffineMap::get(rank, 0, exprs, builder.getContext())};
  auto generic = linalg::GenericOp::create(
      builder, loc, TypeRange{filled.getType()}, ValueRange{tensor},
      ValueRange{filled}, maps, iterators,
      [&](OpBuilder &nested, Location nestedLoc, ValueRange args) {
        Scalars scalars(nested, nestedLoc);
        Value value = scalars.convert(args[0], accumulator);
        if (map)
          value = map(scalars, value);
        linalg::YieldOp::create(nested, nestedLoc,
                                combine(scalars, {value, args[1]}));
      });
  Value result = remember(generic.getResult(0), resultSizes);
  return keepDim ? reshape(result, keptSizes) : result;
}

Value GraphBuilder::sum(Value tensor, ArrayRef<int64_t> dims, bool keepDim,
                        Body map) {
  Type element = elementOf(tensor);
  Type accumulator = isa<FloatType>(element) ? getComputeType(element)
                                             : Type(builder.getI64Type());
  return reduce(
      tensor, dims, keepDim, cast<TypedAttr>(builder.getZeroAttr(accumulator)),
      map, [](Scalars &s, ValueRange args) { return s.add(args[1], args[0]); });
}

Value GraphBuilder::amax(Value tensor, ArrayRef<int64_t> dims, bool keepDim,
                         Type accumulator) {
  TypedAttr init;
  if (auto type = dyn_cast<FloatType>(accumulator))
    init = builder.getFloatAttr(
        type, APFloat::getInf(type.getFloatSemantics(), /*Negative=*/true));
  else if (accumulator.isInteger(1))
    init = builder.getBoolAttr(false);
  else
    init = builder.getIntegerAttr(
        accumulator,
        APInt::getSignedMinValue(accumulator.getIntOrFloatBitWidth()));
  return reduce(
      tensor, dims, keepDim, init, nullptr,
      [](Scalars &s, ValueRange args) { return s.max(args[1], args[0]); });
}

Value GraphBuilder::elementCount(Value tensor, ArrayRef<int64_t> dims,
                                 Type type) {
  OpFoldResult count = arith.constant(1);
  for (int64_t dim : dims)
    if (rankOf(tensor))
      count = arith.mul(count, size(tensor, dim));
  Scalars scalars(builder, loc);
  if (std::optional<int64_t> number = getConstantIntValue(count))
    return scalars.integer(type, *number);
  return scalars.convert(arith.value(count), type);
}
