//===- RowAnalysis.cpp - The loops of a body into one space ---------------===//
//
// Part of fp8c, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Loops are equal where one op writes and another reads a dim of a tensor of
// the body, and then where they run along the same dim of an operand. Classes
// of equal loops are the dims of the space.
//
//===----------------------------------------------------------------------===//

#include "RowAnalysis.h"

#include "fp8c/Codegen/FunctionOps.h"
#include "fp8c/Dialect/FP8/FP8.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/Matchers.h"
#include "mlir/Support/DebugStringHelper.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace fp8c;
using namespace fp8c::codegen;

LogicalResult RowAnalysis::fail(const Twine &reason) {
  why = reason.str();
  return failure();
}

LogicalResult RowAnalysis::run() {
  if (failed(collectOperands()) || failed(collectNests()) ||
      failed(alignByOperands()))
    return failure();
  findSingleResults();
  if (failed(makeDims()))
    return failure();
  return schedule();
}

LogicalResult RowAnalysis::collectOperands() {
  auto add = [&](Type type, BlockArgument argument) {
    auto tensor = cast<RankedTensorType>(type);
    unsigned position = program.operands.size();
    int64_t unit =
        position < unitDims.size() ? unitDims[position] : tensor.getRank() - 1;
    program.operands.push_back({tensor, unit, argument, 0});
  };
  if (body.empty() || !isa<fp8::YieldOp>(body.back()))
    return fail("expected a body that ends with fp8.yield");
  program.terminator = &body.back();
  for (BlockArgument argument : body.getArguments())
    if (isa<RankedTensorType>(argument.getType()))
      add(argument.getType(), argument);
    else if (!isa<IndexType>(argument.getType()))
      return fail("expected captures to be tensors and indices");
  program.numInputs = program.operands.size();
  for (Value result : program.terminator->getOperands())
    add(result.getType(), {});
  for (const Operand &operand : program.operands)
    if (Type element = operand.type.getElementType(); !element.isIntOrFloat())
      return fail("elements of type '" + debugString(element) + "'");
  return success();
}

//===----------------------------------------------------------------------===//
// Nests and their union
//===----------------------------------------------------------------------===//

int64_t RowAnalysis::find(int64_t element) {
  while (parents[element] != element)
    element = parents[element] = parents[parents[element]];
  return element;
}

LogicalResult RowAnalysis::unify(int64_t left, int64_t right) {
  left = find(left);
  right = find(right);
  if (left == right)
    return success();
  if (!ShapedType::isDynamic(sizes[left]) &&
      !ShapedType::isDynamic(sizes[right]) && sizes[left] != sizes[right])
    return fail("loops over " + Twine(sizes[left]) + " and " +
                Twine(sizes[right]) + " elements share a dim");
  if (ShapedType::isDynamic(sizes[left]))
    sizes[left] = sizes[right];
  parents[right] = left;
  return success();
}

LogicalResult RowAnalysis::addNest(Operation *op, int64_t result,
                                   ArrayRef<int64_t> extents) {
  Nest &nest = nests.emplace_back();
  nest.op = op;
  nest.result = result;
  for (int64_t extent : extents) {
    if (extent == 1) {
      nest.loops.push_back(-1);
      continue;
    }
    nest.loops.push_back(parents.size());
    parents.push_back(parents.size());
    sizes.push_back(extent);
  }
  return success();
}

/// True for a tensor without dims to run over: the same everywhere, or unset.
static bool isSplat(Value value) {
  Operation *op = value.getDefiningOp();
  DenseElementsAttr elements;
  if (matchPattern(value, m_Constant(&elements)))
    return elements.isSplat();
  return isa_and_nonnull<tensor::EmptyOp>(op);
}

LogicalResult RowAnalysis::readValue(unsigned nest, Value value,
                                     AffineMap map) {
  if (auto argument = dyn_cast<BlockArgument>(value)) {
    if (argument.getOwner() != &body)
      return fail("a read of a value from outside the body");
    accesses.push_back({nest, program.getOperandIndex(argument), map});
    return success();
  }
  if (isSplat(value))
    return success();
  auto made = valueLoops.find(value);
  if (made == valueLoops.end())
    return fail("a read of the result of '" +
                value.getDefiningOp()->getName().getStringRef() + "'");
  for (auto [loop, expr] : llvm::zip(made->second, map.getResults())) {
    if (loop < 0)
      continue;
    auto dim = dyn_cast<AffineDimExpr>(expr);
    if (!dim)
      return fail("a computed index into a tensor of the body");
    int64_t other = nests[nest].loops[dim.getPosition()];
    if (other >= 0 && failed(unify(loop, other)))
      return failure();
  }
  return success();
}

LogicalResult RowAnalysis::checkRegion(linalg::GenericOp op) {
  for (Operation &inner : *op.getBody()) {
    if (auto extract = dyn_cast<tensor::ExtractOp>(inner)) {
      auto argument = dyn_cast<BlockArgument>(extract.getTensor());
      if (!argument || argument.getOwner() != &body)
        return fail("tensor.extract from a tensor that is not captured");
      continue;
    }
    if (isFunction(&inner) && getElementTypeOrSelf(inner.getResult(0)).isF64())
      return fail("'" + inner.getName().getStringRef() +
                  "' of f64, which has no expansion");
    if (isa<linalg::IndexOp, linalg::YieldOp, fp8::CastOp>(inner) ||
        isa<arith::ArithDialect, math::MathDialect>(inner.getDialect()))
      continue;
    return fail("'" + inner.getName().getStringRef() +
                "' in the body of a linalg.generic");
  }
  return success();
}

LogicalResult RowAnalysis::collectNests() {
  for (Operation &op : body) {
    unsigned nest = nests.size();
    auto made = [&](Value value, AffineMap map) {
      SmallVector<int64_t> &dims = valueLoops[value];
      for (AffineExpr expr : map.getResults())
        dims.push_back(
            isa<AffineDimExpr>(expr)
                ? nests[nest].loops[cast<AffineDimExpr>(expr).getPosition()]
                : -1);
    };
    auto identity = [&](Value value) {
      return AffineMap::getMultiDimIdentityMap(
          cast<RankedTensorType>(value.getType()).getRank(), op.getContext());
    };
    if (auto generic = dyn_cast<linalg::GenericOp>(op)) {
      if (failed(checkRegion(generic)) ||
          failed(addNest(&op, -1, generic.getStaticLoopRanges())))
        return failure();
      for (OpOperand &operand : op.getOpOperands())
        if (generic.payloadUsesValueFromOperand(&operand) &&
            failed(readValue(nest, operand.get(),
                             generic.getMatchingIndexingMap(&operand))))
          return failure();
      for (auto [i, result] : llvm::enumerate(generic.getResults()))
        made(result,
             generic.getMatchingIndexingMap(generic.getDpsInitOperand(i)));
    } else if (auto fill = dyn_cast<linalg::FillOp>(op)) {
      auto type = cast<RankedTensorType>(fill.result().getType());
      if (failed(addNest(&op, -1, type.getShape())))
        return failure();
      made(fill.result(), identity(fill.result()));
    } else if (auto amax = dyn_cast<fp8::AmaxOp>(op)) {
      if (!amax.getScaling().isTensor() || !amax->hasOneUse() ||
          *amax->user_begin() != program.terminator)
        return fail("fp8.amax must be over the whole tensor and a result");
      if (!amax.getResult().getType().getElementType().isF32())
        return fail("a tensor-wide fp8.amax must give f32");
      if (failed(addNest(&op, -1, amax.getInput().getType().getShape())) ||
          failed(readValue(nest, amax.getInput(), identity(amax.getInput()))))
        return failure();
    } else if (!isa<tensor::EmptyOp, tensor::DimOp, fp8::YieldOp>(op) &&
               !isa<arith::ArithDialect>(op.getDialect())) {
      return fail("'" + op.getName().getStringRef() + "' in a kernel");
    }
  }
  for (auto [i, value] : llvm::enumerate(program.terminator->getOperands())) {
    if (value.getDefiningOp<fp8::AmaxOp>()) {
      program.atomicResults.push_back(i);
      continue;
    }
    unsigned nest = nests.size();
    auto type = cast<RankedTensorType>(value.getType());
    auto map = AffineMap::getMultiDimIdentityMap(
        type.getRank(), program.terminator->getContext());
    if (failed(addNest(program.terminator, i, type.getShape())) ||
        failed(readValue(nest, value, map)))
      return failure();
    accesses.push_back(
        {nest, program.numInputs + static_cast<unsigned>(i), map});
  }
  return success();
}

bool RowAnalysis::meetInANest(int64_t left, int64_t right) {
  for (Nest &nest : nests) {
    bool hasLeft = false, hasRight = false;
    for (int64_t loop : nest.loops) {
      hasLeft |= loop >= 0 && find(loop) == find(left);
      hasRight |= loop >= 0 && find(loop) == find(right);
    }
    if (hasLeft && hasRight)
      return true;
  }
  return false;
}

LogicalResult RowAnalysis::alignByOperands() {
  DenseMap<std::pair<unsigned, unsigned>, int64_t> seen;
  for (Access &access : accesses) {
    for (auto [i, expr] : llvm::enumerate(access.map.getResults())) {
      auto dim = dyn_cast<AffineDimExpr>(expr);
      int64_t loop = dim ? nests[access.nest].loops[dim.getPosition()] : -1;
      if (loop < 0)
        continue;
      auto [entry, inserted] = seen.try_emplace({access.operand, i}, loop);
      int64_t other = entry->second;
      if (inserted || find(other) == find(loop) || meetInANest(other, loop))
        continue;
      if (failed(unify(other, loop)))
        return failure();
    }
  }
  for (Nest &nest : nests)
    for (size_t i = 0; i < nest.loops.size(); ++i)
      for (size_t j = 0; j < i; ++j)
        if (nest.loops[i] >= 0 && nest.loops[j] >= 0 &&
            find(nest.loops[i]) == find(nest.loops[j]))
          return fail("a tensor of the body is used along two dims at once");
  return success();
}

/// True for a tensor that ops without loops compute.
bool RowAnalysis::isSingle(Value value) {
  Operation *op = value.getDefiningOp();
  if (!op)
    return llvm::all_of(cast<RankedTensorType>(value.getType()).getShape(),
                        [](int64_t extent) { return extent == 1; });
  auto nest = llvm::find_if(nests, [&](Nest &nest) { return nest.op == op; });
  if (nest == nests.end())
    return isSplat(value);
  return llvm::all_of(nest->loops, [](int64_t loop) { return loop < 0; }) &&
         llvm::all_of(op->getOperands(), [&](Value operand) {
           return !isa<RankedTensorType>(operand.getType()) ||
                  isSingle(operand);
         });
}

void RowAnalysis::findSingleResults() {
  auto hasLoops = [](const Nest &nest) {
    return llvm::any_of(nest.loops, [](int64_t loop) { return loop >= 0; });
  };
  if (llvm::none_of(nests, [&](Nest &nest) {
        return (nest.result >= 0 || isa<fp8::AmaxOp>(nest.op)) &&
               hasLoops(nest);
      }))
    return;
  for (Nest &nest : nests)
    if (nest.result >= 0 && !hasLoops(nest) &&
        isSingle(program.terminator->getOperand(nest.result)))
      program.singleResults.push_back(nest.result);
}
