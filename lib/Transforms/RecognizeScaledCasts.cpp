//===- RecognizeScaledCasts.cpp - Scaled casts by structure and dtype -----===//
//
// Part of fp8c, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Bit-exact: each rule gives the same bytes for every input, NaN, Inf and -0
// included.
//
// - An op has the arithmetic that the graph spells: the same operation, in f32,
//   with the same operands, and no rounding more or less. Else the graph stays
//   as it is.
// - A clamp to the largest finite values before a cast is the cast's
//   saturation: what is beyond becomes the largest value, and so does what is
//   cast beyond it; NaN stays NaN in both.
// - A maximum of absolute values cannot be below its start, and is exact in the
//   type of what it is taken of.
//
//===----------------------------------------------------------------------===//

#include "BlockScale.h"
#include "CastTrace.h"
#include "HistoryStep.h"
#include "KeptSymbols.h"
#include "UnitDims.h"

#include "fp8c/Dialect/FP8/FP8.h"
#include "fp8c/Support/FP8Rounding.h"
#include "fp8c/Transforms/Passes.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/Matchers.h"
#include "mlir/IR/Remarks.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

namespace fp8c {
#define GEN_PASS_DEF_RECOGNIZESCALEDCASTSPASS
#include "fp8c/Transforms/Passes.h.inc"
} // namespace fp8c

using namespace mlir;
using namespace fp8c;

namespace {

struct RecognizeScaledCastsPass
    : public fp8c::impl::RecognizeScaledCastsPassBase<
          RecognizeScaledCastsPass> {
  void runOnOperation() override;

private:
  bool recognizeCast(linalg::GenericOp op);
  bool recognizeAmax(linalg::GenericOp op);
  bool recognizeDequantize(linalg::GenericOp op);
  void recognizeHistory(tensor::InsertSliceOp op);

  void replace(RewriterBase &rewriter, Operation *op, Value value);
  remark::RemarkOpts getOptions(StringRef name) {
    return remark::RemarkOpts::name(name)
        .category("fp8-recognize-scaled-casts")
        .function(getOperation().getName());
  }
};
} // namespace

/// The fact of a remark that says whose value it is about.
static remark::detail::LazyTextBuild getNodeFact(Operation *op) {
  auto node = op->getAttrOfType<StringAttr>(fp8::kNodeAttr);
  return remark::metric("Node", node ? node.getValue() : StringRef());
}

/// True for the types that scaled casts and amax take.
static bool isWide(Type type) {
  return isa<Float32Type, BFloat16Type, Float16Type>(type);
}

static std::string toString(Type type) {
  std::string text;
  llvm::raw_string_ostream(text) << type;
  return text;
}

//===----------------------------------------------------------------------===//
// Casts
//===----------------------------------------------------------------------===//

bool RecognizeScaledCastsPass::recognizeCast(linalg::GenericOp op) {
  if (!isElementwise(op))
    return false;
  TracedScalar yield = traceYield(op);
  auto cast = yield.getDefiningOp<fp8::CastOp>();
  if (!cast || !fp8::isF8Type(cast.getType()))
    return false;
  double largest = getF8Max(fp8::getF8Format(cast.getType()));
  CastInput input = traceCast(yield.getOperand(cast.getInput()), largest);
  fp8::Overflow overflow = cast.getOverflow();
  bool isClamped = input.below || input.above;
  bool isRepresented = true;
  if (input.below && input.above && input.atLargest)
    overflow = fp8::Overflow::Saturate;
  else if (isClamped)
    isRepresented = overflow == fp8::Overflow::Saturate;

  IRRewriter rewriter(op);
  auto divide = input.value.getDefiningOp<arith::DivFOp>();
  auto multiply = input.value.getDefiningOp<arith::MulFOp>();
  Operation *scaled = divide ? divide.getOperation() : multiply.getOperation();
  for (unsigned side = 0; scaled && side < (divide ? 1 : 2); ++side) {
    TracedScalar data =
        stripWidening(input.value.getOperand(scaled->getOperand(side)));
    if (!data.isSameElement() || !isWide(data.getType()))
      continue;
    BlockScale scale = getBlockScale(
        rewriter, input.value.getOperand(scaled->getOperand(1 - side)),
        op.getNumLoops());
    if (!scale.tensor ||
        (op.getNumLoops() > 0 &&
         llvm::all_of(scale.scaling.getBlock(),
                      [](int64_t block) { return block == 1; })))
      continue;
    std::string reason;
    if (input.rounding)
      reason = "what is scaled is rounded to " + toString(input.rounding) +
               " before the cast";
    else if (!input.value.getType().isF32())
      reason = "it is scaled in " + toString(input.value.getType()) +
               ", fp8.quantize scales in f32";
    else if (!isRepresented)
      reason = "its clamp is not that of a saturating cast";
    if (!reason.empty()) {
      remark::missed(op.getLoc(), getOptions("spelled"))
          << remark::add("scaled cast is computed as the graph spells it")
          << remark::reason("{0}", reason) << getNodeFact(op);
      break;
    }
    auto made = fp8::QuantizeOp::create(
        rewriter, op.getLoc(), op.getResultTypes()[0], data.tensor,
        scale.tensor, scale.scaling,
        divide ? fp8::ScaleMode::Divide : fp8::ScaleMode::Multiply, overflow);
    remark::passed(op.getLoc(), getOptions("quantize"))
        << remark::add("scaled cast is fp8.quantize") << getNodeFact(op);
    replace(rewriter, op, made);
    return true;
  }
  if (!isClamped || !isRepresented || !input.tensor.isSameElement() ||
      !isWide(input.tensor.getType()))
    return false;
  AffineMap identity = rewriter.getMultiDimIdentityMap(op.getNumLoops());
  auto made = linalg::GenericOp::create(
      rewriter, op.getLoc(), op.getResultTypes(), input.tensor.tensor,
      op.getDpsInits(), ArrayRef<AffineMap>{identity, identity},
      op.getIteratorTypesArray(),
      [&](OpBuilder &builder, Location loc, ValueRange values) {
        Value code = fp8::CastOp::create(builder, loc, cast.getType(),
                                         values[0], overflow);
        linalg::YieldOp::create(builder, loc, code);
      });
  replace(rewriter, op, made.getResult(0));
  return true;
}

//===----------------------------------------------------------------------===//
// Amax
//===----------------------------------------------------------------------===//

/// The element that `value` is the absolute value of, in any width.
static TracedScalar traceAbs(TracedScalar value) {
  bool hasAbs = false;
  Type rounding;
  while (true) {
    // The tensor is the first that the absolute value is taken of: what makes
    // it is no business of the amax.
    value = enterProducers(
        value, [&](linalg::GenericOp) { return !hasAbs || rounding; });
    if (value.tensor)
      break;
    Operation *op = value.value.getDefiningOp();
    if (auto widen = dyn_cast_or_null<arith::ExtFOp>(op)) {
      if (rounding && rounding != widen.getIn().getType())
        return {};
      rounding = {};
    } else if (auto narrow = dyn_cast_or_null<arith::TruncFOp>(op)) {
      if (rounding)
        return {};
      rounding = narrow.getType();
    } else if (isa_and_nonnull<math::AbsFOp>(op)) {
      hasAbs = true;
    } else {
      return {};
    }
    value = value.getOperand(op->getOperand(0));
  }
  return hasAbs && !rounding ? stripWidening(value) : TracedScalar();
}

bool RecognizeScaledCastsPass::recognizeAmax(linalg::GenericOp op) {
  if (op->getNumResults() != 1 || op.getNumReductionLoops() == 0)
    return false;
  // max(accumulator, |element|).
  TracedScalar yield = traceYield(op);
  auto maximum = yield.getDefiningOp<arith::MaximumFOp>();
  Value accumulator = op.getRegionOutputArgs()[0];
  if (!maximum || !llvm::is_contained(maximum->getOperands(), accumulator))
    return false;
  TracedScalar element = traceAbs(yield.getOperand(
      maximum.getLhs() == accumulator ? maximum.getRhs() : maximum.getLhs()));
  Type type = accumulator.getType();
  if (!element.tensor || !element.isSameElement() ||
      !isWide(element.getType()) ||
      (!type.isF32() && type != element.getType()))
    return false;
  auto fill = op.getDpsInits()[0].getDefiningOp<linalg::FillOp>();
  FloatAttr start;
  if (!fill || !matchPattern(fill.getInputs()[0], m_Constant(&start)) ||
      start.getValue().isNaN() ||
      (!start.getValue().isNegative() && !start.getValue().isZero()))
    return false;
  // The result has the dims that are not reduced, in order.
  auto data = cast<RankedTensorType>(element.tensor.getType());
  SmallVector<int64_t> shape(data.getRank(), 1);
  SmallVector<int64_t> blocks(data.getRank(), ShapedType::kDynamic);
  SmallVector<bool> isUnit(data.getRank(), true);
  int64_t last = -1;
  for (AffineExpr expr :
       op.getMatchingIndexingMap(op.getDpsInitOperand(0)).getResults()) {
    auto dim = dyn_cast<AffineDimExpr>(expr);
    if (!dim || int64_t(dim.getPosition()) <= last)
      return false;
    last = dim.getPosition();
    shape[last] = data.getDimSize(last);
    blocks[last] = 1;
    isUnit[last] = false;
  }
  if (llvm::count(isUnit, true) != op.getNumReductionLoops())
    return false;
  IRRewriter rewriter(op);
  auto made = fp8::AmaxOp::create(
      rewriter, op.getLoc(), RankedTensorType::get(shape, type), element.tensor,
      fp8::ScalingAttr::get(&getContext(), blocks));
  Value amax = tensor::CollapseShapeOp::create(
      rewriter, op.getLoc(), cast<RankedTensorType>(op.getResultTypes()[0]),
      made, groupUnits(isUnit));
  replace(rewriter, op, amax);
  return true;
}

//===----------------------------------------------------------------------===//
// Dequantization
//===----------------------------------------------------------------------===//

/// The f8 element that `value` is, widened: no conversion of one is inexact.
static TracedScalar traceDecoded(TracedScalar value) {
  while (true) {
    value = enterProducers(value, [](linalg::GenericOp made) {
      return !fp8::isF8Type(getElementTypeOrSelf(made.getResultTypes()[0]));
    });
    if (value.tensor)
      return fp8::isF8Type(value.getType()) ? value : TracedScalar();
    Operation *op = value.value.getDefiningOp();
    if (!isa_and_nonnull<arith::ExtFOp, arith::TruncFOp, fp8::CastOp>(op))
      return {};
    value = value.getOperand(op->getOperand(0));
  }
}

bool RecognizeScaledCastsPass::recognizeDequantize(linalg::GenericOp op) {
  if (!isElementwise(op))
    return false;
  TracedScalar value = traceYield(op);
  Type result = value.getType();
  if (auto narrow = value.getDefiningOp<arith::TruncFOp>())
    value = enterProducers(
        value.getOperand(narrow.getIn()),
        [](linalg::GenericOp made) { return made->hasOneUse(); });
  auto multiply = value.getDefiningOp<arith::MulFOp>();
  if (!multiply || !multiply.getType().isF32() || !isWide(result))
    return false;
  IRRewriter rewriter(op);
  for (unsigned side : {0u, 1u}) {
    TracedScalar data =
        traceDecoded(value.getOperand(multiply->getOperand(side)));
    if (!data.isSameElement())
      continue;
    BlockScale scale = getBlockScale(
        rewriter, value.getOperand(multiply->getOperand(1 - side)),
        op.getNumLoops());
    // The op rounds the product to the scale's type first. The graph does so
    // where that is f32, or what it rounds to: with a bf16 scale the product is
    // exact in f32.
    Type type =
        scale.tensor ? getElementTypeOrSelf(scale.tensor.getType()) : Type();
    if (!type || (!type.isF32() && type != result))
      continue;
    auto made =
        fp8::DequantizeOp::create(rewriter, op.getLoc(), op.getResultTypes()[0],
                                  data.tensor, scale.tensor, scale.scaling);
    remark::passed(op.getLoc(), getOptions("dequantize"))
        << remark::add("scaled f8 value is fp8.dequantize") << getNodeFact(op);
    replace(rewriter, op, made);
    return true;
  }
  return false;
}

//===----------------------------------------------------------------------===//
// Delayed scaling
//===----------------------------------------------------------------------===//

void RecognizeScaledCastsPass::recognizeHistory(tensor::InsertSliceOp op) {
  std::optional<HistoryStep> step = matchHistoryStep(op);
  if (!step)
    return;
  // The op reads before it writes, so the new amax comes before the maximum.
  if (step->used && !moveBefore(step->amax, step->used)) {
    remark::missed(op.getLoc(), getOptions("spelled"))
        << remark::add("step of a history is computed as the graph spells it")
        << remark::reason("{0}", "its new amax needs its maximum")
        << getNodeFact(op);
    return;
  }
  IRRewriter rewriter(&getContext());
  rewriter.setInsertionPoint(step->used ? step->used.getOperation()
                                        : op.getOperation());
  auto one = RankedTensorType::get({}, rewriter.getF32Type());
  auto made = fp8::UpdateHistoryOp::create(
      rewriter, op.getLoc(), step->used ? step->used.getResultTypes()[0] : one,
      step->history.getType(), step->history, step->amax,
      fp8::HistoryReduce::Max);
  auto getName = [&](Operation *named) {
    auto name =
        named ? named->getAttrOfType<StringAttr>(fp8::kNodeAttr) : StringAttr();
    return name ? name : rewriter.getStringAttr("");
  };
  made->setAttr(fp8::kNodeAttr,
                rewriter.getArrayAttr({getName(step->used), getName(op)}));
  remark::passed(op.getLoc(), getOptions("update-history"))
      << remark::add("step of a history is fp8.update_history")
      << getNodeFact(op);
  rewriter.replaceOp(op, made.getUpdated());
  if (step->used)
    rewriter.replaceAllUsesWith(step->used.getResult(0), made.getUsed());
}

//===----------------------------------------------------------------------===//
// The pass
//===----------------------------------------------------------------------===//

void RecognizeScaledCastsPass::replace(RewriterBase &rewriter, Operation *op,
                                       Value value) {
  if (Attribute name = op->getAttr(fp8::kNodeAttr))
    value.getDefiningOp()->setAttr(fp8::kNodeAttr, name);
  rewriter.replaceOp(op, value);
}

void RecognizeScaledCastsPass::runOnOperation() {
  KeptSymbols symbols(getOperation());
  // Users first: what only a cast needed of its producers is gone by then.
  SmallVector<Operation *> ops;
  for (Block &block : getOperation().getBody())
    for (Operation &op : block)
      ops.push_back(&op);
  for (Operation *op : llvm::reverse(ops)) {
    if (isOpTriviallyDead(op)) {
      op->erase();
      continue;
    }
    auto generic = dyn_cast<linalg::GenericOp>(op);
    if (auto insert = dyn_cast<tensor::InsertSliceOp>(op))
      recognizeHistory(insert);
    if (generic && !recognizeCast(generic) && !recognizeAmax(generic))
      recognizeDequantize(generic);
  }
  // Scales that were tried and did not fit.
  for (Block &block : getOperation().getBody())
    for (Operation &op : llvm::make_early_inc_range(llvm::reverse(block)))
      if (isOpTriviallyDead(&op))
        op.erase();
}
