//===- ExpandAmax.cpp - The expansion of fp8.amax -------------------------===//
//
// Part of fp8c, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ScaledOpExpander.h"

#include "mlir/Dialect/Math/IR/Math.h"

using namespace mlir;
using namespace fp8c;
using namespace fp8c::fp8;

using utils::IteratorType;

Value ScaledOpExpander::amaxOfDims(AmaxOp amax, ArrayRef<bool> reduced,
                                   Value init, int64_t result) {
  int64_t rank = reduced.size();
  SmallVector<AffineExpr> kept;
  SmallVector<IteratorType> iterators;
  for (int64_t i = 0; i < rank; ++i) {
    kept.push_back(reduced[i] ? rewriter.getAffineConstantExpr(0)
                              : rewriter.getAffineDimExpr(i));
    iterators.push_back(reduced[i] ? IteratorType::reduction
                                   : IteratorType::parallel);
  }
  return generic(amax.getInput(), init, {identity(rank), map(rank, kept)},
                 iterators, result,
                 [&](ValueRange arguments) -> SmallVector<Value> {
                   Value value =
                       math::AbsFOp::create(rewriter, loc, widen(arguments[0]));
                   return {arith::MaximumFOp::create(rewriter, loc,
                                                     arguments[1], value)};
                 })
      .getResult(0);
}

/// Runs over the blocks, and within a block over an extra dim for each dim
/// that is cut; what lies beyond the data counts as 0.
Value ScaledOpExpander::amaxOfBlocks(AmaxOp amax, ArrayRef<bool> reduced,
                                     Value init, int64_t result) {
  int64_t rank = reduced.size();
  ArrayRef<int64_t> block = amax.getScaling().getBlock();
  SmallVector<OpFoldResult> sizes = getSizes(amax.getInput());
  SmallVector<IteratorType> iterators(rank, IteratorType::parallel);
  SmallVector<AffineExpr> inner;
  SmallVector<OpFoldResult> innerSizes;
  for (int64_t i = 0; i < rank; ++i)
    if (reduced[i] || block[i] > 1) {
      inner.push_back(rewriter.getAffineDimExpr(rank + inner.size()));
      innerSizes.push_back(reduced[i]
                               ? sizes[i]
                               : OpFoldResult(rewriter.getIndexAttr(block[i])));
      iterators.push_back(IteratorType::reduction);
    }
  // An operand that gives the loops within a block their extents.
  Value extents = empty(innerSizes, rewriter.getF32Type());
  unsigned loops = iterators.size();
  SmallVector<AffineExpr> outer;
  for (int64_t i = 0; i < rank; ++i)
    outer.push_back(rewriter.getAffineDimExpr(i));
  SmallVector<Value> bounds(rank);
  for (int64_t i = 0; i < rank; ++i)
    bounds[i] = getValueOrCreateConstantIndexOp(rewriter, loc, sizes[i]);

  auto body = [&](ValueRange arguments) -> SmallVector<Value> {
    SmallVector<Value> indices;
    Value inside;
    unsigned next = rank;
    for (int64_t i = 0; i < rank; ++i) {
      Value index = linalg::IndexOp::create(rewriter, loc, i);
      if (reduced[i]) {
        index = linalg::IndexOp::create(rewriter, loc, next++);
      } else if (block[i] > 1) {
        Value extent = arith::ConstantIndexOp::create(rewriter, loc, block[i]);
        index = arith::MulIOp::create(rewriter, loc, index, extent);
        index = arith::AddIOp::create(
            rewriter, loc, index,
            linalg::IndexOp::create(rewriter, loc, next++));
        Value isIn = arith::CmpIOp::create(
            rewriter, loc, arith::CmpIPredicate::slt, index, bounds[i]);
        inside =
            inside
                ? arith::AndIOp::create(rewriter, loc, inside, isIn).getResult()
                : isIn;
        Value zero = arith::ConstantIndexOp::create(rewriter, loc, 0);
        index = select(isIn, index, zero);
      }
      indices.push_back(index);
    }
    Value value =
        tensor::ExtractOp::create(rewriter, loc, amax.getInput(), indices);
    value = math::AbsFOp::create(rewriter, loc, widen(value));
    value = select(inside, value, constant(0.0f));
    return {arith::MaximumFOp::create(rewriter, loc, arguments[1], value)};
  };
  return generic(extents, init, {map(loops, inner), map(loops, outer)},
                 iterators, result, body)
      .getResult(0);
}

void ScaledOpExpander::expand(AmaxOp amax) {
  auto type = amax.getResult().getType();
  int64_t rank = type.getRank();
  SmallVector<OpFoldResult> sizes = getSizes(amax.getInput());
  SmallVector<bool> reduced;
  bool cut = false;
  for (auto [i, block] : llvm::enumerate(amax.getScaling().getBlock())) {
    bool whole =
        ShapedType::isDynamic(block) || (block > 1 && type.getDimSize(i) == 1);
    reduced.push_back(whole);
    if (whole) {
      sizes[i] = rewriter.getIndexAttr(1);
    } else if (block > 1) {
      cut = true;
      if (!type.isDynamicDim(i)) {
        sizes[i] = rewriter.getIndexAttr(type.getDimSize(i));
        continue;
      }
      Value size = getValueOrCreateConstantIndexOp(rewriter, loc, sizes[i]);
      Value extent = arith::ConstantIndexOp::create(rewriter, loc, block);
      sizes[i] =
          arith::CeilDivSIOp::create(rewriter, loc, size, extent).getResult();
    }
  }
  bool isF32 = type.getElementType().isF32();
  Value init = linalg::FillOp::create(rewriter, loc, constant(0.0f),
                                      empty(sizes, rewriter.getF32Type()))
                   .getResult(0);
  int64_t name = isF32 ? 0 : -1;
  Value result = cut ? amaxOfBlocks(amax, reduced, init, name)
                     : amaxOfDims(amax, reduced, init, name);
  if (!isF32)
    result = generic(result, empty(sizes, type.getElementType()),
                     {identity(rank), identity(rank)},
                     SmallVector<IteratorType>(rank, IteratorType::parallel), 0,
                     [&](ValueRange arguments) -> SmallVector<Value> {
                       return {narrow(arguments[0], type.getElementType())};
                     })
                 .getResult(0);
  rewriter.replaceOp(op, result);
}
