//===- ExpandScaledOps.cpp - fp8-expand-scaled-ops ------------------------===//
//
// Part of fp8c, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "fp8c/Dialect/FP8/Decoding.h"
#include "fp8c/Dialect/FP8/Transforms/Passes.h"
#include "fp8c/Support/FP8Rounding.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Utils/StructuredOpsUtils.h"
#include "mlir/IR/Matchers.h"
#include "mlir/IR/PatternMatch.h"
#include "llvm/ADT/TypeSwitch.h"

#include <cfloat>
#include <cmath>

namespace fp8c::fp8 {
#define GEN_PASS_DEF_EXPANDSCALEDOPSPASS
#include "fp8c/Dialect/FP8/Transforms/Passes.h.inc"
} // namespace fp8c::fp8

using namespace mlir;
using namespace fp8c;
using namespace fp8c::fp8;

namespace {

using utils::IteratorType;

/// Builds the replacement of one op.
class Expander {
public:
  Expander(RewriterBase &rewriter, Operation *op)
      : rewriter(rewriter), loc(op->getLoc()), op(op) {}

  void expand(QuantizeOp quantize);
  void expand(DequantizeOp dequantize);
  void expand(AmaxOp amax);
  void expand(ComputeScaleOp scale);
  void expand(UpdateHistoryOp history);

private:
  //===--------------------------------------------------------------------===//
  // Scalars
  //===--------------------------------------------------------------------===//

  Value constant(float value) {
    return arith::ConstantOp::create(rewriter, loc,
                                     rewriter.getF32FloatAttr(value));
  }
  /// A number of a type that f32 holds, as f32.
  Value constant(APFloat value) {
    bool losesInfo;
    value.convert(APFloat::IEEEsingle(), APFloat::rmNearestTiesToEven,
                  &losesInfo);
    return constant(value.convertToFloat());
  }
  Value constant(uint32_t value) {
    return arith::ConstantOp::create(rewriter, loc,
                                     rewriter.getI32IntegerAttr(value));
  }
  Value bits(Value f32) {
    return arith::BitcastOp::create(rewriter, loc, rewriter.getI32Type(), f32);
  }
  Value fromBits(Value i32) {
    return arith::BitcastOp::create(rewriter, loc, rewriter.getF32Type(), i32);
  }
  Value compare(arith::CmpIPredicate predicate, Value left, uint32_t right) {
    return arith::CmpIOp::create(rewriter, loc, predicate, left,
                                 constant(right));
  }
  Value select(Value condition, Value yes, Value no) {
    return arith::SelectOp::create(rewriter, loc, condition, yes, no);
  }

  /// The value as f32, exactly.
  Value widen(Value value);
  /// A wide value rounded to `type`, f32 or a 16-bit type.
  Value narrow(Value f32, Type type);

  //===--------------------------------------------------------------------===//
  // Tensors
  //===--------------------------------------------------------------------===//

  /// The sizes of a tensor, its dynamic ones from the tensor.empty that it was
  /// written into where there is one.
  SmallVector<OpFoldResult> getSizes(Value tensor);
  /// A tensor.empty.
  Value empty(ArrayRef<OpFoldResult> sizes, Type element) {
    return tensor::EmptyOp::create(rewriter, loc, sizes, element);
  }
  AffineMap identity(int64_t rank) {
    return rewriter.getMultiDimIdentityMap(rank);
  }
  AffineMap map(unsigned dims, ArrayRef<AffineExpr> results) {
    return AffineMap::get(dims, 0, results, rewriter.getContext());
  }
  /// Where the scale of an element of data is.
  AffineMap scaleMap(Value scale, ScalingAttr scaling);
  /// A linalg.generic that keeps the name of the node of result `result` of the
  /// op (-1: of none, -2: of all).
  linalg::GenericOp generic(ValueRange inputs, ValueRange inits,
                            ArrayRef<AffineMap> maps,
                            ArrayRef<IteratorType> iterators, int64_t result,
                            function_ref<SmallVector<Value>(ValueRange)> body);

  /// The amax in f32 where each block is a dim of its own (or one element).
  Value amaxOfDims(AmaxOp amax, ArrayRef<bool> reduced, Value init,
                   int64_t result);
  /// The amax in f32 where blocks cut dims.
  Value amaxOfBlocks(AmaxOp amax, ArrayRef<bool> reduced, Value init,
                     int64_t result);

  RewriterBase &rewriter;
  Location loc;
  Operation *op;
};

} // namespace

Value Expander::widen(Value value) {
  Type type = value.getType();
  if (type.isF32())
    return value;
  Type f32 = rewriter.getF32Type();
  if (isF8Type(type))
    return CastOp::create(rewriter, loc, f32, value, Overflow::Saturate);
  if (!isa<Float8E8M0FNUType>(type))
    return arith::ExtFOp::create(rewriter, loc, f32, value);
  // The code is an f32's exponent, but for 2^-127, which is subnormal, and NaN.
  Value byte =
      arith::BitcastOp::create(rewriter, loc, rewriter.getI8Type(), value);
  Value code =
      arith::ExtUIOp::create(rewriter, loc, rewriter.getI32Type(), byte);
  Value shifted =
      arith::ShLIOp::create(rewriter, loc, code, constant(uint32_t(23)));
  Value isLeast = compare(arith::CmpIPredicate::eq, code, 0);
  Value isNaN = compare(arith::CmpIPredicate::eq, code, 0xFF);
  shifted = select(isLeast, constant(uint32_t(0x00400000)), shifted);
  return fromBits(select(isNaN, constant(uint32_t(0x7FC00000)), shifted));
}

Value Expander::narrow(Value f32, Type type) {
  if (type == f32.getType())
    return f32;
  return arith::TruncFOp::create(rewriter, loc, type, f32);
}

SmallVector<OpFoldResult> Expander::getSizes(Value tensor) {
  Value source = tensor;
  while (auto result = dyn_cast<OpResult>(source)) {
    if (auto made = dyn_cast<tensor::EmptyOp>(result.getOwner()))
      return made.getMixedSizes();
    auto structured = dyn_cast<DestinationStyleOpInterface>(result.getOwner());
    if (!structured)
      break;
    source = structured.getTiedOpOperand(result)->get();
  }
  return tensor::getMixedSizes(rewriter, loc, tensor);
}

AffineMap Expander::scaleMap(Value scale, ScalingAttr scaling) {
  auto type = cast<RankedTensorType>(scale.getType());
  SmallVector<AffineExpr> results;
  for (auto [i, block] : llvm::enumerate(scaling.getBlock())) {
    AffineExpr dim = rewriter.getAffineDimExpr(i);
    if (ShapedType::isDynamic(block) || (block > 1 && type.getDimSize(i) == 1))
      dim = rewriter.getAffineConstantExpr(0);
    else if (block > 1)
      dim = dim.floorDiv(block);
    results.push_back(dim);
  }
  return map(type.getRank(), results);
}

linalg::GenericOp
Expander::generic(ValueRange inputs, ValueRange inits, ArrayRef<AffineMap> maps,
                  ArrayRef<IteratorType> iterators, int64_t result,
                  function_ref<SmallVector<Value>(ValueRange)> body) {
  auto made = linalg::GenericOp::create(
      rewriter, loc, inits.getTypes(), inputs, inits, maps, iterators,
      [&](OpBuilder &, Location, ValueRange arguments) {
        linalg::YieldOp::create(rewriter, loc, body(arguments));
      });
  Attribute node = op->getAttr(kNodeAttr);
  if (auto names = dyn_cast_if_present<ArrayAttr>(node); names && result >= 0)
    node = static_cast<size_t>(result) < names.size() ? names[result] : nullptr;
  auto name = dyn_cast_if_present<StringAttr>(node);
  if (node && result != -1 && !(name && name.empty()))
    made->setAttr(kNodeAttr, node);
  return made;
}

//===----------------------------------------------------------------------===//
// Scaled casts
//===----------------------------------------------------------------------===//

void Expander::expand(QuantizeOp quantize) {
  auto type = quantize.getResult().getType();
  int64_t rank = type.getRank();
  SmallVector<Value> inputs = {quantize.getInput()};
  SmallVector<AffineMap> maps = {identity(rank)};
  // A number stays one: bodies compute with constants, kernels read tensors.
  DenseElementsAttr number;
  if (!matchPattern(quantize.getScale(), m_Constant(&number)) ||
      !number.isSplat()) {
    number = {};
    inputs.push_back(quantize.getScale());
    maps.push_back(scaleMap(quantize.getScale(), quantize.getScaling()));
  }
  maps.push_back(identity(rank));
  auto made = generic(
      inputs, empty(getSizes(quantize.getInput()), type.getElementType()), maps,
      SmallVector<IteratorType>(rank, IteratorType::parallel), 0,
      [&](ValueRange arguments) -> SmallVector<Value> {
        Value scale = number ? constant(number.getSplatValue<APFloat>())
                             : widen(arguments[1]);
        Value value = widen(arguments[0]);
        if (quantize.getMode() == ScaleMode::Divide)
          value = arith::DivFOp::create(rewriter, loc, value, scale);
        else
          value = arith::MulFOp::create(rewriter, loc, value, scale);
        return {CastOp::create(rewriter, loc, type.getElementType(), value,
                               quantize.getOverflow())};
      });
  rewriter.replaceOp(op, made);
}

void Expander::expand(DequantizeOp dequantize) {
  auto type = dequantize.getResult().getType();
  int64_t rank = type.getRank();
  Type element = type.getElementType();
  Type scaleElement = dequantize.getScale().getType().getElementType();
  auto made = generic(
      {dequantize.getInput(), dequantize.getScale()},
      empty(getSizes(dequantize.getInput()), element),
      {identity(rank), scaleMap(dequantize.getScale(), dequantize.getScaling()),
       identity(rank)},
      SmallVector<IteratorType>(rank, IteratorType::parallel), 0,
      [&](ValueRange arguments) -> SmallVector<Value> {
        Value product = arith::MulFOp::create(
            rewriter, loc, widen(arguments[0]), widen(arguments[1]));
        if (scaleElement.isBF16() && element != scaleElement)
          product = widen(narrow(product, scaleElement));
        return {narrow(product, element)};
      });
  rewriter.replaceOp(op, made);
}

//===----------------------------------------------------------------------===//
// Amax
//===----------------------------------------------------------------------===//

Value Expander::amaxOfDims(AmaxOp amax, ArrayRef<bool> reduced, Value init,
                           int64_t result) {
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
Value Expander::amaxOfBlocks(AmaxOp amax, ArrayRef<bool> reduced, Value init,
                             int64_t result) {
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

void Expander::expand(AmaxOp amax) {
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

//===----------------------------------------------------------------------===//
// Scales
//===----------------------------------------------------------------------===//

void Expander::expand(ComputeScaleOp scale) {
  ScaleRule rule = scale.getRule();
  auto type = scale.getScale().getType();
  int64_t rank = type.getRank();
  SmallVector<OpFoldResult> sizes = getSizes(scale.getAmax());
  auto body = [&](ValueRange arguments) -> SmallVector<Value> {
    Value amax = arguments[0];
    if (rule.eps > 0.0f) {
      Value eps = constant(rule.eps);
      Value isLess = arith::CmpFOp::create(
          rewriter, loc, arith::CmpFPredicate::OLT, amax, eps);
      amax = select(isLess, eps, amax);
    }
    Value result =
        arith::DivFOp::create(rewriter, loc, constant(rule.max), amax);
    if (rule.margin != 0)
      result = arith::DivFOp::create(rewriter, loc, result,
                                     constant(std::ldexp(1.0f, rule.margin)));
    auto magnitude = [&](Value value) -> Value {
      return arith::AndIOp::create(rewriter, loc, bits(value),
                                   constant(uint32_t(0x7FFFFFFF)));
    };
    Value isInf =
        compare(arith::CmpIPredicate::eq, magnitude(result), 0x7F800000);
    result = select(isInf, constant(FLT_MAX), result);
    if (rule.pow2)
      result = fromBits(arith::AndIOp::create(rewriter, loc, bits(result),
                                              constant(uint32_t(0xFF800000))));
    // 0, Inf and NaN give 1.
    Value size = magnitude(amax);
    Value isZero = compare(arith::CmpIPredicate::eq, size, 0);
    Value isSpecial = compare(arith::CmpIPredicate::uge, size, 0x7F800000);
    Value one = constant(1.0f);
    result = select(arith::OrIOp::create(rewriter, loc, isZero, isSpecial), one,
                    result);
    Value inverse = arith::DivFOp::create(rewriter, loc, one, result);
    return {result, inverse};
  };
  Type f32 = rewriter.getF32Type();
  auto made = generic(scale.getAmax(), {empty(sizes, f32), empty(sizes, f32)},
                      SmallVector<AffineMap>(3, identity(rank)),
                      SmallVector<IteratorType>(rank, IteratorType::parallel),
                      -2, body);
  rewriter.replaceOp(op, made);
}

//===----------------------------------------------------------------------===//
// Delayed scaling
//===----------------------------------------------------------------------===//

void Expander::expand(UpdateHistoryOp history) {
  int64_t rank = history.getUsed().getType().getRank();
  AffineExpr zero = rewriter.getAffineConstantExpr(0);
  AffineExpr first = rewriter.getAffineDimExpr(0);
  SmallVector<AffineExpr> zeros(rank, zero);
  SmallVector<OpFoldResult> ones(rank, rewriter.getIndexAttr(1));
  Type f32 = rewriter.getF32Type();

  Value used;
  if (history.getReduce() == HistoryReduce::Max) {
    Value init = linalg::FillOp::create(rewriter, loc, constant(-INFINITY),
                                        empty(ones, f32))
                     .getResult(0);
    used = generic(history.getHistory(), init, {identity(1), map(1, zeros)},
                   IteratorType::reduction, 0,
                   [&](ValueRange arguments) -> SmallVector<Value> {
                     return {arith::MaximumFOp::create(
                         rewriter, loc, arguments[1], arguments[0])};
                   })
               .getResult(0);
  } else {
    used = generic(history.getHistory(), empty(ones, f32),
                   {map(rank, zero), identity(rank)},
                   SmallVector<IteratorType>(rank, IteratorType::parallel), 0,
                   [&](ValueRange arguments) -> SmallVector<Value> {
                     return {arguments[0]};
                   })
               .getResult(0);
  }

  int64_t amaxRank = history.getAmax().getType().getRank();
  Value updated =
      generic(history.getAmax(), empty(getSizes(history.getHistory()), f32),
              {map(1, SmallVector<AffineExpr>(amaxRank, zero)), map(1, first)},
              IteratorType::parallel, 1,
              [&](ValueRange arguments) -> SmallVector<Value> {
                Value index = linalg::IndexOp::create(rewriter, loc, 0);
                Value origin = arith::ConstantIndexOp::create(rewriter, loc, 0);
                Value one = arith::ConstantIndexOp::create(rewriter, loc, 1);
                Value isFirst = arith::CmpIOp::create(
                    rewriter, loc, arith::CmpIPredicate::eq, index, origin);
                Value before = arith::SubIOp::create(rewriter, loc, index, one);
                Value value = tensor::ExtractOp::create(
                    rewriter, loc, history.getHistory(),
                    select(isFirst, origin, before));
                return {select(isFirst, arguments[0], value)};
              })
          .getResult(0);
  rewriter.replaceOp(op, {used, updated});
}

//===----------------------------------------------------------------------===//
// The pass
//===----------------------------------------------------------------------===//

void fp8c::fp8::expandScaledOps(Operation *root,
                                const ExpandScaledOptions &options) {
  SmallVector<Operation *> ops;
  root->walk([&](Operation *op) {
    if (auto amax = dyn_cast<AmaxOp>(op);
        amax && options.keepTensorAmax && amax.getScaling().isTensor())
      return;
    if (auto dequantize = dyn_cast<DequantizeOp>(op);
        dequantize && options.keepDecoded && isDecodedByProduct(dequantize))
      return;
    if (op != root &&
        isa<QuantizeOp, DequantizeOp, AmaxOp, ComputeScaleOp, UpdateHistoryOp>(
            op))
      ops.push_back(op);
  });
  IRRewriter rewriter(root->getContext());
  for (Operation *op : ops) {
    rewriter.setInsertionPoint(op);
    Expander expander(rewriter, op);
    TypeSwitch<Operation *>(op)
        .Case<QuantizeOp, DequantizeOp, AmaxOp, ComputeScaleOp,
              UpdateHistoryOp>([&](auto scaled) { expander.expand(scaled); });
  }
}

namespace {

struct ExpandScaledOpsPass
    : public fp8::impl::ExpandScaledOpsPassBase<ExpandScaledOpsPass> {
  using Base::Base;

  void runOnOperation() override {
    ExpandScaledOptions options;
    options.keepTensorAmax = keepTensorAmax;
    options.keepDecoded = keepDecoded;
    expandScaledOps(getOperation(), options);
  }
};

} // namespace
