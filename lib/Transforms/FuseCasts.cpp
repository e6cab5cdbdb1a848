//===- FuseCasts.cpp - Form kernels by iteration space --------------------===//
//
// Part of fp8c, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Bit-exact: ops are moved into regions, or computed again, and change nothing.
//
//===----------------------------------------------------------------------===//

#include "FusionGroups.h"
#include "KeptSymbols.h"

#include "fp8c/Dialect/FP8/FP8.h"
#include "fp8c/Transforms/Passes.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/Remarks.h"
#include "llvm/ADT/STLExtras.h"

namespace fp8c {
#define GEN_PASS_DEF_FUSECASTSPASS
#include "fp8c/Transforms/Passes.h.inc"
} // namespace fp8c

using namespace mlir;
using namespace fp8c;

/// True for an op that rounds to an f8 type.
static bool isCast(Operation *op) {
  auto generic = dyn_cast<linalg::GenericOp>(op);
  if (!generic)
    return isa<fp8::QuantizeOp>(op);
  return llvm::any_of(*generic.getBody(), [](Operation &inner) {
    auto cast = dyn_cast<fp8::CastOp>(inner);
    return cast && fp8::isF8Type(cast.getType());
  });
}

/// True for a maximum of absolute values: the op, or the loop that it becomes.
static bool isAmax(Operation *op) {
  auto generic = dyn_cast<linalg::GenericOp>(op);
  if (!generic)
    return isa<fp8::AmaxOp>(op);
  if (generic.getNumReductionLoops() == 0 || generic->getNumResults() != 1)
    return false;
  auto maximum = generic.getBody()
                     ->getTerminator()
                     ->getOperand(0)
                     .getDefiningOp<arith::MaximumFOp>();
  return maximum && llvm::any_of(maximum->getOperands(), [](Value value) {
           // What lies beyond the data counts as 0 in a block.
           if (auto select = value.getDefiningOp<arith::SelectOp>())
             value = select.getTrueValue();
           return value.getDefiningOp<math::AbsFOp>() != nullptr;
         });
}

/// The node whose value the op makes; of an f32 amax that its only user rounds
/// to a narrower type, that of the user.
static StringRef getNode(Operation *op) {
  auto node = op->getAttrOfType<StringAttr>(fp8::kNodeAttr);
  if (!node && isAmax(op) && op->hasOneUse())
    if (auto user = dyn_cast<linalg::GenericOp>(*op->user_begin());
        user && isa<arith::TruncFOp>(user.getBody()->front()))
      node = user->getAttrOfType<StringAttr>(fp8::kNodeAttr);
  return node ? node.getValue() : StringRef();
}

/// What makes a tensor, in words: looks through views.
static std::string describe(Value value) {
  while (Operation *op = value.getDefiningOp()) {
    if (!isa<tensor::CollapseShapeOp, tensor::ExpandShapeOp, tensor::CastOp,
             tensor::ExtractSliceOp, linalg::TransposeOp>(op))
      break;
    value = op->getOperand(0);
  }
  Operation *op = value.getDefiningOp();
  if (!op) {
    auto argument = cast<BlockArgument>(value);
    auto func = dyn_cast<func::FuncOp>(argument.getOwner()->getParentOp());
    auto name = func ? func.getArgAttrOfType<StringAttr>(
                           argument.getArgNumber(), fp8::kInputNameAttr)
                     : StringAttr();
    return name ? "graph input '" + name.str() + "'" : "graph input";
  }
  if (isa<fp8::GlobalLoadOp>(op))
    return "a weight or state";
  std::string text = "result of " + op->getName().getStringRef().str();
  if (auto name = op->getAttrOfType<StringAttr>(fp8::kNodeAttr))
    text += " '" + name.str() + "'";
  return text;
}

/// True for an elementwise op that may be part of a scaled cast: one tensor is
/// widened, scaled, clamped.
static bool isScaling(Operation *op) {
  auto generic = dyn_cast<linalg::GenericOp>(op);
  if (!generic || generic.getNumReductionLoops() > 0)
    return false;
  unsigned wide = 0;
  for (OpOperand *input : generic.getDpsInputOperands())
    wide += generic.getMatchingIndexingMap(input).getNumResults() ==
            generic.getNumLoops();
  return wide == 1 &&
         llvm::all_of(generic.getBody()->without_terminator(),
                      llvm::IsaPred<arith::ExtFOp, arith::DivFOp, arith::MulFOp,
                                    arith::MaximumFOp, arith::MinimumFOp,
                                    arith::ConstantOp, fp8::CastOp>);
}

namespace {
struct FuseCastsPass : public fp8c::impl::FuseCastsPassBase<FuseCastsPass> {
  void runOnOperation() override;

private:
  void explain(const FusionGroups &groups);
  void explainCast(const FusionGroups &groups, Operation *op, StringRef what);
};
} // namespace

/// The wide tensor that a cast or an amax looks at: the largest one it reads.
static Value getWideInput(Operation *op) {
  Value widest;
  int64_t most = -1;
  for (Value value : getTensorReads(op)) {
    auto type = cast<RankedTensorType>(value.getType());
    if (type.getRank() > most) {
      most = type.getRank();
      widest = value;
    }
  }
  return widest;
}

void FuseCastsPass::explainCast(const FusionGroups &groups, Operation *op,
                                StringRef what) {
  StringRef function = getOperation().getName();
  auto options = [&](StringRef name) {
    return remark::RemarkOpts::name(name)
        .category("fp8-fuse-casts")
        .function(function);
  };
  // The first value on the way from the cast that is more than the cast's own
  // scaling and clamping.
  Group *group = groups.getGroup(op);
  Operation *reader = op;
  Value value = getWideInput(op);
  while (value && value.getDefiningOp() && isScaling(value.getDefiningOp()) &&
         groups.getGroup(value.getDefiningOp()) == group) {
    reader = value.getDefiningOp();
    value = getWideInput(reader);
  }
  Operation *producer = value ? value.getDefiningOp() : nullptr;
  auto facts = [&](remark::detail::InFlightRemark &&remark)
      -> remark::detail::InFlightRemark {
    remark << remark::metric("What", what)
           << remark::metric("Node", getNode(op))
           << remark::metric("Input", value ? describe(value) : std::string());
    return std::move(remark);
  };
  Group *other = producer ? groups.getGroup(producer) : nullptr;
  if (other == group && group) {
    facts(remark::passed(op->getLoc(), options("fused")))
        << remark::add("{0} is in the kernel of its producer: {1} ops, {2} "
                       "reductions",
                       what, group->ops.size(), group->reduced.size())
        << remark::metric("ops", group->ops.size());
    return;
  }
  if (other) {
    StringRef reason = groups.getReason(reader, value);
    if (llvm::any_of(other->ops, llvm::IsaPred<fp8::AmaxOp>) &&
        groups.hasOtherPath(other, group))
      reason = "its scale needs the amax of the whole tensor first";
    facts(remark::missed(op->getLoc(), options("not-fused")))
        << remark::add("{0} is not in the kernel of its producer", what)
        << remark::reason("{0}",
                          reason.empty() ? "it was not tried" : reason.str());
  } else if (value) {
    facts(remark::missed(op->getLoc(), options("no-producer")))
        << remark::add("{0} has no producer to fuse with", what)
        << remark::reason("its input is the {0}", describe(value));
  }
}

void FuseCastsPass::explain(const FusionGroups &groups) {
  for (auto &group : groups.getGroups())
    for (Operation *op : group->ops) {
      if (isCast(op))
        explainCast(groups, op, "cast");
      else if (isAmax(op))
        explainCast(groups, op, "amax");
    }
}

void FuseCastsPass::runOnOperation() {
  func::FuncOp func = getOperation();
  if (func.isExternal())
    return;
  KeptSymbols symbols(func);
  for (Block &block : func.getBody()) {
    FusionGroups groups(block);
    groups.run();
    if (getContext().getRemarkEngine())
      explain(groups);
    buildKernels(block, groups);
  }
}
