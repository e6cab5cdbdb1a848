//===- RecognizeScaledCasts.cpp - Scaled casts by structure and dtype -----===//
//
// Part of fp8c, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Bit-exact: each rule gives the same bytes for every input, NaN, Inf and -0
// included; a maximum of absolute values cannot be below its start.
//
//===----------------------------------------------------------------------===//

#include "KeptSymbols.h"

#include "fp8c/Dialect/FP8/FP8.h"
#include "fp8c/Transforms/Passes.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/Matchers.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"

namespace fp8c {
#define GEN_PASS_DEF_RECOGNIZESCALEDCASTSPASS
#include "fp8c/Transforms/Passes.h.inc"
} // namespace fp8c

using namespace mlir;
using namespace fp8c;

//===----------------------------------------------------------------------===//
// Bodies
//===----------------------------------------------------------------------===//

/// The one value that a generic yields; null if it yields several.
static Value getYield(linalg::GenericOp op) {
  auto yield = cast<linalg::YieldOp>(op.getBody()->getTerminator());
  return yield->getNumOperands() == 1 ? yield->getOperand(0) : Value();
}

/// Looks through exact widenings.
static Value stripWidening(Value value) {
  while (Operation *op = value.getDefiningOp()) {
    auto cast = dyn_cast<fp8::CastOp>(op);
    if (!isa<arith::ExtFOp>(op) &&
        !(cast && fp8::isF8Type(cast.getInput().getType())))
      break;
    value = op->getOperand(0);
  }
  return value;
}

/// The operand of an elementwise op that is all parallel, with identity maps,
/// and takes the absolute value of its one input, in any width.
static Value matchAbs(Value value) {
  auto generic = value.getDefiningOp<linalg::GenericOp>();
  if (!generic || generic.getNumReductionLoops() > 0 ||
      generic.getNumDpsInputs() != 1 || generic.getNumResults() != 1 ||
      !llvm::all_of(generic.getIndexingMapsArray(),
                    [](AffineMap map) { return map.isIdentity(); }))
    return {};
  // A widened value's absolute value is rounded back exactly.
  Value result = getYield(generic);
  Type type = result.getType();
  if (auto truncate = result.getDefiningOp<arith::TruncFOp>())
    result = truncate.getIn();
  auto abs = result.getDefiningOp<math::AbsFOp>();
  if (!abs)
    return {};
  Value input = stripWidening(abs.getOperand());
  if (input != generic.getRegionInputArgs()[0] || input.getType() != type)
    return {};
  return generic.getDpsInputs()[0];
}

namespace {

//===----------------------------------------------------------------------===//
// amax
//===----------------------------------------------------------------------===//

/// A maximum over all elements of absolute values: `fp8.amax`.
struct RecognizeTensorAmax : public OpRewritePattern<linalg::GenericOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(linalg::GenericOp op,
                                PatternRewriter &rewriter) const override {
    auto type = op->getNumResults() == 1
                    ? dyn_cast<RankedTensorType>(op.getResultTypes()[0])
                    : RankedTensorType();
    if (!type || op.getNumLoops() == 0 ||
        op.getNumReductionLoops() != op.getNumLoops() ||
        op.getNumDpsInputs() != 1 ||
        !op.getMatchingIndexingMap(op.getDpsInputOperand(0)).isIdentity())
      return rewriter.notifyMatchFailure(op, "no reduction of all elements");
    // max(accumulator, widened input).
    auto maximum = getYield(op).getDefiningOp<arith::MaximumFOp>();
    if (!maximum)
      return rewriter.notifyMatchFailure(op, "no maximum");
    Value element = op.getRegionInputArgs()[0];
    Value accumulator = op.getRegionOutputArgs()[0];
    Value lhs = maximum.getLhs(), rhs = maximum.getRhs();
    if (rhs == accumulator)
      std::swap(lhs, rhs);
    if (lhs != accumulator)
      return rewriter.notifyMatchFailure(op, "no maximum with the accumulator");
    bool hasAbs = false;
    rhs = stripWidening(rhs);
    if (auto abs = rhs.getDefiningOp<math::AbsFOp>()) {
      hasAbs = true;
      rhs = stripWidening(abs.getOperand());
    }
    if (rhs != element)
      return rewriter.notifyMatchFailure(op, "computes more than a maximum");
    Value input = op.getDpsInputs()[0];
    if (!hasAbs)
      input = matchAbs(input);
    if (!input || !isa<Float32Type, BFloat16Type, Float16Type>(
                      getElementTypeOrSelf(input.getType())))
      return rewriter.notifyMatchFailure(op, "no absolute values");
    auto fill = op.getDpsInits()[0].getDefiningOp<linalg::FillOp>();
    FloatAttr start;
    if (!fill || !matchPattern(fill.getInputs()[0], m_Constant(&start)) ||
        start.getValue().isNaN() ||
        (!start.getValue().isNegative() && !start.getValue().isZero()))
      return rewriter.notifyMatchFailure(op, "starts above 0");
    // fp8.amax gives f32; a narrower accumulator only ever held its inputs.
    int64_t rank = cast<RankedTensorType>(input.getType()).getRank();
    Type f32 = rewriter.getF32Type();
    auto amaxType = RankedTensorType::get(SmallVector<int64_t>(rank, 1), f32);
    Value amax =
        fp8::AmaxOp::create(rewriter, op.getLoc(), amaxType, input,
                            fp8::ScalingAttr::tensor(op.getContext(), rank));
    Value scalar = tensor::CollapseShapeOp::create(
        rewriter, op.getLoc(), RankedTensorType::get({}, f32), amax,
        ArrayRef<ReassociationIndices>{});
    if (!type.getElementType().isF32()) {
      Value init = tensor::EmptyOp::create(
          rewriter, op.getLoc(), ArrayRef<int64_t>{}, type.getElementType());
      AffineMap map = AffineMap::get(0, 0, op.getContext());
      scalar =
          linalg::GenericOp::create(
              rewriter, op.getLoc(), init.getType(), scalar, init,
              ArrayRef<AffineMap>{map, map}, ArrayRef<utils::IteratorType>{},
              [&](OpBuilder &builder, Location loc, ValueRange args) {
                Value narrow = arith::TruncFOp::create(
                    builder, loc, type.getElementType(), args[0]);
                linalg::YieldOp::create(builder, loc, narrow);
              })
              .getResult(0);
    }
    if (Attribute name = op->getAttr(fp8::kNodeAttr))
      scalar.getDefiningOp()->setAttr(fp8::kNodeAttr, name);
    rewriter.replaceOp(op, scalar);
    return success();
  }
};

//===----------------------------------------------------------------------===//
// dequantize
//===----------------------------------------------------------------------===//

/// True if a product's right side reads the value, through views alone.
bool isOperandOfProduct(Value value) {
  SmallVector<Value> values = {value};
  bool found = false;
  while (!values.empty()) {
    for (OpOperand &use : values.pop_back_val().getUses()) {
      Operation *user = use.getOwner();
      if (isa<tensor::CollapseShapeOp, tensor::ExpandShapeOp, tensor::CastOp>(
              user) ||
          (isa<linalg::TransposeOp>(user) && use.getOperandNumber() == 0))
        values.push_back(user->getResult(0));
      else if (isa<fp8::MatmulOp>(user) && use.getOperandNumber() == 1)
        found = true;
      else
        return false;
    }
  }
  return found;
}

/// An f8 value that is widened exactly: the value.
Value matchDecode(Value value) {
  auto generic = value.getDefiningOp<linalg::GenericOp>();
  if (!generic || generic.getNumReductionLoops() > 0 ||
      generic.getNumDpsInputs() != 1 || generic.getNumResults() != 1 ||
      !llvm::all_of(generic.getIndexingMapsArray(),
                    [](AffineMap map) { return map.isIdentity(); }))
    return {};
  // To bf16 through f32: both steps are exact.
  Value result = getYield(generic);
  if (auto truncate = result.getDefiningOp<arith::TruncFOp>())
    result = truncate.getIn();
  if (stripWidening(result) != generic.getRegionInputArgs()[0])
    return {};
  Value input = generic.getDpsInputs()[0];
  return fp8::isF8Type(getElementTypeOrSelf(input.getType())) ? input : Value();
}

/// A widened f8 weight times its scale, on the way to a product.
struct RecognizeDequantize : public OpRewritePattern<linalg::GenericOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(linalg::GenericOp op,
                                PatternRewriter &rewriter) const override {
    if (op.getNumReductionLoops() > 0 || op.getNumDpsInputs() != 2 ||
        op.getNumResults() != 1 || !isOperandOfProduct(op.getResult(0)))
      return rewriter.notifyMatchFailure(op, "no operand of a product");
    // Both inputs widened to f32 and multiplied, one rounding to their type.
    Value result = getYield(op);
    Type type = result.getType();
    if (auto truncate = result.getDefiningOp<arith::TruncFOp>())
      result = truncate.getIn();
    auto product = result.getDefiningOp<arith::MulFOp>();
    if (!product)
      return rewriter.notifyMatchFailure(op, "no multiplication");
    Value arguments[2] = {stripWidening(product.getLhs()),
                          stripWidening(product.getRhs())};
    for (unsigned data : {0u, 1u}) {
      Value input = matchDecode(op.getDpsInputs()[data]);
      Value scale = op.getDpsInputs()[1 - data];
      Value block = op.getRegionInputArgs()[data];
      Value other = op.getRegionInputArgs()[1 - data];
      if (!input || other.getType() != type ||
          !((arguments[0] == block && arguments[1] == other) ||
            (arguments[1] == block && arguments[0] == other)) ||
          !op.getMatchingIndexingMap(op.getDpsInputOperand(data)).isIdentity())
        continue;
      // The product of an f8 value and a bf16 or f16 scale is exact in f32;
      // with an f32 scale the multiplication is the rounding.
      AffineMap map =
          op.getMatchingIndexingMap(op.getDpsInputOperand(1 - data));
      SmallVector<int64_t> blocks;
      auto scaleType = cast<RankedTensorType>(scale.getType());
      int64_t rank = op.getNumLoops(), skipped = rank - scaleType.getRank();
      if (skipped < 0 || !isa<Float32Type, BFloat16Type>(type))
        continue;
      blocks.assign(skipped, ShapedType::kDynamic);
      bool matches = true;
      for (auto [i, expr] : llvm::enumerate(map.getResults())) {
        auto dim = dyn_cast<AffineDimExpr>(expr);
        matches &= !dim || dim.getPosition() == i + skipped;
        blocks.push_back(
            dim && scaleType.getDimSize(i) != 1 ? 1 : ShapedType::kDynamic);
      }
      if (!matches)
        continue;
      if (skipped > 0) {
        // A scale has its data's rank.
        if (!scaleType.hasStaticShape())
          continue;
        SmallVector<int64_t> shape(skipped, 1);
        llvm::append_range(shape, scaleType.getShape());
        SmallVector<ReassociationIndices> groups(scaleType.getRank());
        for (int64_t i = 0; i < rank && !groups.empty(); ++i)
          groups[std::max<int64_t>(0, i - skipped)].push_back(i);
        scale = tensor::ExpandShapeOp::create(
            rewriter, op.getLoc(),
            RankedTensorType::get(shape, scaleType.getElementType()), scale,
            groups);
      }
      auto made = rewriter.replaceOpWithNewOp<fp8::DequantizeOp>(
          op, op.getResultTypes()[0], input, scale,
          fp8::ScalingAttr::get(op.getContext(), blocks));
      if (Attribute name = op->getAttr(fp8::kNodeAttr))
        made->setAttr(fp8::kNodeAttr, name);
      return success();
    }
    return rewriter.notifyMatchFailure(op, "no scaled f8 value");
  }
};

struct RecognizeScaledCastsPass
    : public fp8c::impl::RecognizeScaledCastsPassBase<
          RecognizeScaledCastsPass> {
  void runOnOperation() override {
    KeptSymbols symbols(getOperation());
    RewritePatternSet patterns(&getContext());
    patterns.add<RecognizeTensorAmax, RecognizeDequantize>(&getContext());
    GreedyRewriteConfig config;
    config.enableFolding(false);
    config.setRegionSimplificationLevel(GreedySimplifyRegionLevel::Disabled);
    if (failed(
            applyPatternsGreedily(getOperation(), std::move(patterns), config)))
      signalPassFailure();
  }
};
} // namespace
