//===- RecognizeAttention.cpp - Attention as core ATen spells it ----------===//
//
// Part of fp8c, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Not bit-exact: fp8.attention is a declared exception. Core ATen widens q, k
// and v to f32, scales q and k each with the root of the scale, and puts zeros
// into rows whose keys are all masked.
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
#include "mlir/IR/Remarks.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"

#include <cmath>
#include <limits>

namespace fp8c {
#define GEN_PASS_DEF_RECOGNIZEATTENTIONPASS
#include "fp8c/Transforms/Passes.h.inc"
} // namespace fp8c

using namespace mlir;
using namespace fp8c;

static constexpr int64_t kRank = 4;

//===----------------------------------------------------------------------===//
// Elementwise ops and reductions over (batch, heads, queries, keys)
//===----------------------------------------------------------------------===//

/// The one value that a generic yields.
static Value getYield(linalg::GenericOp op) {
  return cast<linalg::YieldOp>(op.getBody()->getTerminator()).getOperand(0);
}

/// An elementwise op of rank 4 with this number of inputs, the first of them
/// not broadcast; null if `value` is from another.
static linalg::GenericOp getElementwise(Value value, int64_t inputs) {
  auto op = value.getDefiningOp<linalg::GenericOp>();
  if (!op || op.getNumResults() != 1 || op.getNumLoops() != kRank ||
      op.getNumReductionLoops() != 0 || op.getNumDpsInputs() != inputs ||
      !op.getIndexingMapsArray().front().isIdentity() ||
      !op.getIndexingMapsArray().back().isIdentity())
    return {};
  return op;
}

/// Whether `map` is (d0, d1, d2, 0), that of a number a row.
static bool isRowMap(AffineMap map) {
  MLIRContext *context = map.getContext();
  return map ==
         AffineMap::get(
             kRank, 0,
             {getAffineDimExpr(0, context), getAffineDimExpr(1, context),
              getAffineDimExpr(2, context), getAffineConstantExpr(0, context)},
             context);
}

static bool isFloat(Value value, double number) {
  FloatAttr constant;
  return matchPattern(value, m_Constant(&constant)) &&
         constant.getValueAsDouble() == number;
}

static bool isFalse(Value value) { return matchPattern(value, m_Zero()); }

static const double kMasked = -std::numeric_limits<double>::infinity();

/// The input of an elementwise `OpTy`.
template <typename OpTy> static Value matchUnary(Value value) {
  auto op = getElementwise(value, 1);
  auto inner = op ? getYield(op).getDefiningOp<OpTy>() : OpTy();
  if (!inner || inner->getOperand(0) != op.getRegionInputArgs()[0])
    return {};
  return op.getDpsInputs()[0];
}

/// The input of an elementwise product with a constant.
static Value matchScaled(Value value, double &factor) {
  auto op = getElementwise(value, 1);
  auto inner = op ? getYield(op).getDefiningOp<arith::MulFOp>() : nullptr;
  FloatAttr constant;
  if (!inner || inner.getLhs() != op.getRegionInputArgs()[0] ||
      !matchPattern(inner.getRhs(), m_Constant(&constant)))
    return {};
  factor *= constant.getValueAsDouble();
  return op.getDpsInputs()[0];
}

/// The input of an elementwise negation of bools.
static Value matchNot(Value value) {
  auto op = getElementwise(value, 1);
  auto inner = op ? getYield(op).getDefiningOp<arith::CmpIOp>() : nullptr;
  if (!inner || inner.getPredicate() != arith::CmpIPredicate::eq ||
      inner.getLhs() != op.getRegionInputArgs()[0] || !isFalse(inner.getRhs()))
    return {};
  return op.getDpsInputs()[0];
}

/// The input of a reduction with `OpTy` over the last dim, which is kept as one
/// of size 1; `isStart` says what it may start with.
template <typename OpTy>
static Value matchRowReduction(Value value,
                               llvm::function_ref<bool(Value)> isStart) {
  auto expand = value.getDefiningOp<tensor::ExpandShapeOp>();
  auto op =
      expand ? expand.getSrc().getDefiningOp<linalg::GenericOp>() : nullptr;
  if (!op || op.getNumResults() != 1 || op.getNumDpsInputs() != 1 ||
      op.getNumLoops() != kRank || op.getNumReductionLoops() != 1 ||
      expand.getResultType().getRank() != kRank ||
      expand.getResultType().getDimSize(kRank - 1) != 1 ||
      !op.getIndexingMapsArray()[0].isIdentity() ||
      op.getIndexingMapsArray()[1] !=
          AffineMap::getMultiDimIdentityMap(kRank, value.getContext())
              .getMajorSubMap(kRank - 1))
    return {};
  auto start = op.getDpsInits()[0].getDefiningOp<linalg::FillOp>();
  auto inner = getYield(op).getDefiningOp<OpTy>();
  if (!start || !isStart(start.getInputs()[0]) || !inner ||
      inner->getOperand(0) != op.getRegionOutputArgs()[0] ||
      inner->getOperand(1) != op.getRegionInputArgs()[0])
    return {};
  return op.getDpsInputs()[0];
}

/// The body's `OpTy` of an element and a number of its row; `row` is the
/// latter's tensor.
template <typename OpTy>
static Value matchWithRow(linalg::GenericOp op, Value inner, Value &row) {
  auto matched = inner.getDefiningOp<OpTy>();
  if (!matched || matched.getLhs() != op.getRegionInputArgs()[0] ||
      matched.getRhs() != op.getRegionInputArgs()[1] ||
      !isRowMap(op.getIndexingMapsArray()[1]))
    return {};
  row = op.getDpsInputs()[1];
  return op.getDpsInputs()[0];
}

//===----------------------------------------------------------------------===//
// Parts of attention
//===----------------------------------------------------------------------===//

/// (batch, heads, m, n) of (batch * heads, m, n), where a reshape makes that.
template <typename OpTy> static OpTy getHeadReshape(Value value) {
  auto reshape = value.getDefiningOp<OpTy>();
  const SmallVector<ReassociationIndices> groups = {{0, 1}, {2}, {3}};
  if (!reshape || reshape.getReassociationIndices() != groups)
    return {};
  return reshape;
}

/// A product of matrices a head, as 4-dim operands.
static fp8::MatmulOp matchHeadProduct(Value value, Value &a, Value &b) {
  auto expand = getHeadReshape<tensor::ExpandShapeOp>(value);
  auto product =
      expand ? expand.getSrc().getDefiningOp<fp8::MatmulOp>() : nullptr;
  if (!product || product.getBias() || !product.getResult().hasOneUse())
    return {};
  auto left = getHeadReshape<tensor::CollapseShapeOp>(product.getLhs());
  auto right = getHeadReshape<tensor::CollapseShapeOp>(product.getRhs());
  if (!left || !right)
    return {};
  // Batch and heads are those of the operands.
  const int64_t heads = left.getSrcType().getDimSize(1);
  if (ShapedType::isDynamic(heads) ||
      right.getSrcType().getDimSize(1) != heads ||
      expand.getResultType().getDimSize(1) != heads)
    return {};
  a = left.getSrc();
  b = right.getSrc();
  return product;
}

namespace {
/// A tensor before it was widened, scaled and its last dims exchanged.
struct Operand {
  Value source;
  double factor = 1;
  bool transposed = false;
};
} // namespace

static Operand traceOperand(Value value) {
  Operand operand;
  while (true) {
    if (Value scaled = matchScaled(value, operand.factor)) {
      value = scaled;
    } else if (auto transpose = value.getDefiningOp<linalg::TransposeOp>();
               transpose &&
               transpose.getPermutation() == ArrayRef<int64_t>{0, 1, 3, 2}) {
      operand.transposed = !operand.transposed;
      value = transpose.getInput();
    } else {
      operand.source = matchUnary<arith::ExtFOp>(value);
      return operand;
    }
  }
}

/// The scores whose softmax over the last dim `value` is.
static Value matchSoftmax(Value value) {
  Value sum, max;
  auto division = getElementwise(value, 2);
  Value exps =
      division ? matchWithRow<arith::DivFOp>(division, getYield(division), sum)
               : Value();
  auto isZero = [](Value start) { return isFloat(start, 0); };
  if (!exps || matchRowReduction<arith::AddFOp>(sum, isZero) != exps)
    return {};
  auto exponential = getElementwise(exps, 2);
  auto exp = exponential ? getYield(exponential).getDefiningOp<math::ExpOp>()
                         : nullptr;
  Value scores =
      exp ? matchWithRow<arith::SubFOp>(exponential, exp.getOperand(), max)
          : Value();
  auto isMasked = [](Value start) { return isFloat(start, kMasked); };
  if (!scores || matchRowReduction<arith::MaximumFOp>(max, isMasked) != scores)
    return {};
  return scores;
}

/// Whether `value` says of each row that all its scores are -Inf.
static bool isEmptyRow(Value value, Value scores) {
  Value any = matchNot(value);
  Value isSeen = any ? matchRowReduction<arith::OrIOp>(any, isFalse) : Value();
  Value isHidden = isSeen ? matchNot(isSeen) : Value();
  auto compare = isHidden ? getElementwise(isHidden, 1) : linalg::GenericOp();
  auto inner =
      compare ? getYield(compare).getDefiningOp<arith::CmpFOp>() : nullptr;
  return inner && inner.getPredicate() == arith::CmpFPredicate::OEQ &&
         inner.getLhs() == compare.getRegionInputArgs()[0] &&
         isFloat(inner.getRhs(), kMasked) &&
         compare.getDpsInputs()[0] == scores;
}

/// The scores of probabilities that are 0 in rows with every key masked.
static Value matchProbabilities(Value value) {
  auto op = value.getDefiningOp<linalg::GenericOp>();
  if (!op || op.getNumResults() != 1 || op.getNumLoops() != kRank ||
      op.getNumReductionLoops() != 0 || op.getNumDpsInputs() != 3)
    return {};
  SmallVector<AffineMap> maps = op.getIndexingMapsArray();
  auto select = getYield(op).getDefiningOp<arith::SelectOp>();
  auto zeros = op.getDpsInputs()[1].getDefiningOp<linalg::FillOp>();
  if (!select || !zeros || !isFloat(zeros.getInputs()[0], 0) ||
      !isRowMap(maps[0]) || !maps[2].isIdentity() || !maps[3].isIdentity() ||
      !llvm::equal(select->getOperands(), op.getRegionInputArgs()))
    return {};
  Value scores = matchSoftmax(op.getDpsInputs()[2]);
  if (!scores || !isEmptyRow(op.getDpsInputs()[0], scores))
    return {};
  return scores;
}

/// The products of scores that a mask is added to, and the mask; the scores
/// themselves if there is none.
static Value matchMask(Value scores, Value &mask) {
  auto op = getElementwise(scores, 2);
  auto sum = op ? getYield(op).getDefiningOp<arith::AddFOp>() : nullptr;
  if (!sum || sum.getLhs() != op.getRegionInputArgs()[0])
    return scores;
  Value added = sum.getRhs();
  if (auto widen = added.getDefiningOp<arith::ExtFOp>())
    added = widen.getIn();
  AffineMap map = op.getIndexingMapsArray()[1];
  if (added != op.getRegionInputArgs()[1] || map.getNumResults() != kRank)
    return scores;
  for (auto [i, expr] : llvm::enumerate(map.getResults())) {
    auto dim = dyn_cast<AffineDimExpr>(expr);
    if (dim ? dim.getPosition() != i
            : cast<RankedTensorType>(op.getDpsInputs()[1].getType())
                      .getDimSize(i) != 1)
      return scores;
  }
  mask = op.getDpsInputs()[1];
  return op.getDpsInputs()[0];
}

namespace {

/// Starts at the rounding of the result.
struct RecognizeAttention : OpRewritePattern<linalg::GenericOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(linalg::GenericOp op,
                                PatternRewriter &rewriter) const override {
    if (op.getNumResults() != 1)
      return failure();
    auto type = cast<RankedTensorType>(op.getResultTypes()[0]);
    Value rounded = matchUnary<arith::TruncFOp>(op.getResult(0));
    Value probabilities, widened, left, right, mask;
    if (!rounded || !matchHeadProduct(rounded, probabilities, widened))
      return rewriter.notifyMatchFailure(op, "not a rounded product");
    Value scores = matchProbabilities(probabilities);
    if (!scores || !matchHeadProduct(matchMask(scores, mask), left, right))
      return rewriter.notifyMatchFailure(op, "no softmax of a product");
    Operand query = traceOperand(left), key = traceOperand(right),
            value = traceOperand(widened);
    if (!query.source || !key.source || !value.source || query.transposed ||
        !key.transposed || value.transposed || value.factor != 1)
      return rewriter.notifyMatchFailure(op, "operands are not q, k^T and v");
    for (Value source : {query.source, key.source, value.source})
      if (getElementTypeOrSelf(source) != type.getElementType())
        return rewriter.notifyMatchFailure(op, "operands of several types");
    // 1 / sqrt(D), of whose root both factors are the f32.
    double scale = query.factor * key.factor;
    const double usual =
        1 / std::sqrt(double(
                cast<RankedTensorType>(query.source.getType()).getDimSize(3)));
    if (std::abs(scale / usual - 1) < 0x1p-22)
      scale = usual;
    auto attention = fp8::AttentionOp::create(
        rewriter, op.getLoc(), type, query.source, key.source, value.source,
        mask, rewriter.getF64FloatAttr(scale), /*causal=*/UnitAttr());
    if (Attribute name = op->getAttr(fp8::kNodeAttr))
      attention->setAttr(fp8::kNodeAttr, name);
    remark::passed(op->getLoc(), remark::RemarkOpts::name("recognized")
                                     .category("fp8-recognize-attention"))
        << remark::add(
               "attention in f32 became fp8.attention, which rounds its "
               "exponentials to the type of v");
    rewriter.replaceOp(op, attention);
    return success();
  }
};

struct RecognizeAttentionPass
    : public fp8c::impl::RecognizeAttentionPassBase<RecognizeAttentionPass> {
  void runOnOperation() override {
    KeptSymbols symbols(getOperation());
    RewritePatternSet patterns(&getContext());
    patterns.add<RecognizeAttention>(&getContext());
    GreedyRewriteConfig config;
    config.enableFolding(false);
    config.setRegionSimplificationLevel(GreedySimplifyRegionLevel::Disabled);
    if (failed(
            applyPatternsGreedily(getOperation(), std::move(patterns), config)))
      signalPassFailure();
  }
};
} // namespace
