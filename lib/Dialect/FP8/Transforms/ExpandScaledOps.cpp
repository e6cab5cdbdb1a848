//===- ExpandScaledOps.cpp - fp8-expand-scaled-ops ------------------------===//
//
// Part of fp8c, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ScaledOpExpander.h"

#include "fp8c/Dialect/FP8/Decoding.h"
#include "fp8c/Dialect/FP8/Transforms/Passes.h"

#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/IR/Matchers.h"
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

using utils::IteratorType;

//===----------------------------------------------------------------------===//
// Scaled casts
//===----------------------------------------------------------------------===//

void ScaledOpExpander::expand(QuantizeOp quantize) {
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

void ScaledOpExpander::expand(DequantizeOp dequantize) {
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
// Scales
//===----------------------------------------------------------------------===//

void ScaledOpExpander::expand(ComputeScaleOp scale) {
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

void ScaledOpExpander::expand(UpdateHistoryOp history) {
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
    ScaledOpExpander expander(rewriter, op);
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
