//===- HistoryStep.cpp - The step of delayed scaling ----------------------===//
//
// Part of fp8c, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "HistoryStep.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/Matchers.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;
using namespace fp8c;

/// Longer histories are not evaluated index by index.
static constexpr int64_t kLongestHistory = 1 << 16;

/// An index that a body computes at a point of its one loop.
static std::optional<int64_t> evaluate(Value value, int64_t loop) {
  APInt number;
  if (matchPattern(value, m_ConstantInt(&number)))
    return number.getSExtValue();
  Operation *op = value.getDefiningOp();
  if (isa_and_nonnull<linalg::IndexOp>(op))
    return loop;
  if (!op || op->getNumOperands() < 2)
    return std::nullopt;
  std::optional<int64_t> a = evaluate(op->getOperand(0), loop);
  if (auto select = dyn_cast<arith::SelectOp>(op))
    return a ? evaluate(*a ? select.getTrueValue() : select.getFalseValue(),
                        loop)
             : std::nullopt;
  std::optional<int64_t> b = evaluate(op->getOperand(1), loop);
  if (!a || !b)
    return std::nullopt;
  if (isa<arith::AddIOp>(op))
    return *a + *b;
  if (isa<arith::SubIOp>(op))
    return *a - *b;
  if (isa<arith::RemSIOp>(op) && *b > 0)
    return *a % *b;
  auto compare = dyn_cast<arith::CmpIOp>(op);
  if (compare && compare.getPredicate() == arith::CmpIPredicate::slt)
    return *a < *b;
  return std::nullopt;
}

/// The history that `rolled` is by one, but for its element 0; null if it is
/// something else.
static Value matchRoll(Value rolled) {
  auto type = cast<RankedTensorType>(rolled.getType());
  auto op = rolled.getDefiningOp<linalg::GenericOp>();
  if (!op || op->getNumResults() != 1 || op.getNumLoops() != 1 ||
      op.getNumReductionLoops() > 0 || type.getRank() != 1 ||
      !type.getElementType().isF32() || type.isDynamicDim(0) ||
      type.getDimSize(0) > kLongestHistory)
    return {};
  auto extract = op.getBody()
                     ->getTerminator()
                     ->getOperand(0)
                     .getDefiningOp<tensor::ExtractOp>();
  if (!extract || extract.getTensor().getType() != type)
    return {};
  for (int64_t i = 1; i < type.getDimSize(0); ++i)
    if (evaluate(extract.getIndices()[0], i) != i - 1)
      return {};
  return extract.getTensor();
}

/// The maximum, NaN-propagating, of all elements.
static linalg::GenericOp findMaximum(Value history) {
  for (Operation *user : history.getUsers()) {
    auto op = dyn_cast<linalg::GenericOp>(user);
    if (!op || op->getNumResults() != 1 || op.getNumLoops() != 1 ||
        op.getNumReductionLoops() != 1 || op.getNumDpsInputs() != 1 ||
        op.getDpsInputs()[0] != history)
      continue;
    auto maximum = op.getBody()
                       ->getTerminator()
                       ->getOperand(0)
                       .getDefiningOp<arith::MaximumFOp>();
    Value element = op.getRegionInputArgs()[0];
    Value accumulator = op.getRegionOutputArgs()[0];
    auto fill = op.getDpsInits()[0].getDefiningOp<linalg::FillOp>();
    FloatAttr start;
    if (maximum && fill && accumulator.getType().isF32() &&
        ((maximum.getLhs() == accumulator && maximum.getRhs() == element) ||
         (maximum.getRhs() == accumulator && maximum.getLhs() == element)) &&
        matchPattern(fill.getInputs()[0], m_Constant(&start)) &&
        start.getValue().isInfinity() && start.getValue().isNegative())
      return op;
  }
  return {};
}

std::optional<HistoryStep> fp8c::matchHistoryStep(tensor::InsertSliceOp op) {
  Value history = matchRoll(op.getDest());
  auto amax = cast<RankedTensorType>(op.getSource().getType());
  if (!history || !amax.hasStaticShape() || amax.getNumElements() != 1 ||
      !isConstantIntValue(op.getMixedOffsets()[0], 0))
    return std::nullopt;
  return HistoryStep{history, op.getSource(), findMaximum(history)};
}

bool fp8c::moveBefore(Value value, Operation *before) {
  llvm::SetVector<Operation *> slice;
  SmallVector<Operation *> stack;
  auto push = [&](Value operand) {
    Operation *made = operand.getDefiningOp();
    if (made && made->getBlock() == before->getBlock() &&
        !made->isBeforeInBlock(before) && slice.insert(made))
      stack.push_back(made);
  };
  push(value);
  while (!stack.empty()) {
    Operation *op = stack.pop_back_val();
    if (op == before || !isMemoryEffectFree(op))
      return false;
    op->walk([&](Operation *inner) {
      for (Value operand : inner->getOperands())
        push(operand);
    });
  }
  SmallVector<Operation *> ops = slice.takeVector();
  llvm::sort(ops,
             [](Operation *a, Operation *b) { return a->isBeforeInBlock(b); });
  for (Operation *op : ops)
    op->moveBefore(before);
  return true;
}
