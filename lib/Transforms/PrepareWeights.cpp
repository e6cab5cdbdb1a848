//===- PrepareWeights.cpp - Move what depends on weights to @prepare ------===//
//
// Part of fp8c, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Bit-exact: the same ops run, once instead of at each call.
//
//===----------------------------------------------------------------------===//

#include "fp8c/Dialect/FP8/FP8.h"
#include "fp8c/Transforms/Passes.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/Remarks.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "llvm/ADT/SetVector.h"

namespace fp8c {
#define GEN_PASS_DEF_PREPAREWEIGHTSPASS
#include "fp8c/Transforms/Passes.h.inc"
} // namespace fp8c

using namespace mlir;
using namespace fp8c;

/// Results up to this many bytes move even if they are larger than what they
/// are made from.
static constexpr int64_t kSmallBytes = 64 * 1024;

/// The bytes of a tensor; none if its size is dynamic.
static std::optional<int64_t> getBytes(Type type) {
  auto tensor = dyn_cast<RankedTensorType>(type);
  if (!tensor || !tensor.hasStaticShape() ||
      !tensor.getElementType().isIntOrFloat())
    return std::nullopt;
  int64_t bits = tensor.getElementType().getIntOrFloatBitWidth();
  return tensor.getNumElements() * std::max<int64_t>(1, bits / 8);
}

/// True for an op that only looks at the same elements in another way, so that
/// it is free in @forward.
static bool isView(Operation *op) {
  return isa<tensor::CollapseShapeOp, tensor::ExpandShapeOp, tensor::CastOp,
             tensor::ExtractSliceOp, linalg::TransposeOp>(op);
}

namespace {
struct PrepareWeightsPass
    : public fp8c::impl::PrepareWeightsPassBase<PrepareWeightsPass> {
  void runOnOperation() override;

private:
  void prepare(func::FuncOp forward);
};

/// What is known of an op whose result depends on weights alone.
struct Prepared {
  /// The bytes of the weights that it is made from.
  int64_t bytes = 0;
  /// The weights that it is made from.
  DenseSet<StringAttr> weights;
};
} // namespace

void PrepareWeightsPass::prepare(func::FuncOp forward) {
  Block &block = forward.getBody().front();
  DenseMap<Operation *, Prepared> prepared;
  llvm::SetVector<Operation *> constants;
  for (Operation &op : block) {
    if (auto load = dyn_cast<fp8::GlobalLoadOp>(op)) {
      if (load.getConstant()) {
        prepared[&op].weights.insert(load.getGlobalAttr().getAttr());
        prepared[&op].bytes = getBytes(load.getType()).value_or(0);
      }
      continue;
    }
    if (isa<fp8::SymbolOp>(op) || op.hasTrait<OpTrait::IsTerminator>() ||
        !isMemoryEffectFree(&op) || isa<fp8::KernelOp>(op))
      continue;
    Prepared known;
    bool depends = false, onlyWeights = true;
    op.walk([&](Operation *inner) {
      for (Value operand : inner->getOperands()) {
        if (op.isAncestor(operand.getParentBlock()->getParentOp()))
          continue;
        Operation *made = operand.getDefiningOp();
        if (!made || (!prepared.contains(made) && !constants.contains(made))) {
          onlyWeights = false;
          continue;
        }
        auto it = prepared.find(made);
        if (it == prepared.end())
          continue;
        depends = true;
        for (StringAttr weight : it->second.weights)
          if (known.weights.insert(weight).second)
            known.bytes += it->second.bytes;
      }
    });
    if (!onlyWeights)
      continue;
    if (depends)
      prepared[&op] = std::move(known);
    else
      constants.insert(&op);
  }

  // The results that @forward still needs.
  SmallVector<Value> results;
  for (Operation &op : block) {
    auto it = prepared.find(&op);
    if (it == prepared.end() || isa<fp8::GlobalLoadOp>(op) || isView(&op) ||
        op.getNumResults() != 1 || isa<fp8::DequantizeOp>(op))
      continue;
    // What has users that are not prepared, seen through views.
    bool isNeeded = false;
    SmallVector<Operation *> users(op.user_begin(), op.user_end());
    while (!users.empty()) {
      Operation *user = users.pop_back_val();
      while (user->getBlock() != &block)
        user = user->getParentOp();
      if (!prepared.contains(user) || isa<fp8::DequantizeOp>(user))
        isNeeded = true;
      else if (isView(user))
        users.append(user->user_begin(), user->user_end());
    }
    std::optional<int64_t> bytes = getBytes(op.getResult(0).getType());
    if (!isNeeded || !bytes)
      continue;
    auto options = [&](StringRef name) {
      return remark::RemarkOpts::name(name)
          .category("fp8-prepare-weights")
          .function(forward.getName());
    };
    auto name = op.getAttrOfType<StringAttr>(fp8::kNodeAttr);
    auto node = remark::metric("Node", name ? name.getValue() : StringRef());
    if (*bytes > it->second.bytes && *bytes > kSmallBytes) {
      remark::missed(op.getLoc(), options("not-prepared"))
          << remark::add("stays in @forward")
          << remark::reason("{0} bytes would be made from {1}", *bytes,
                            it->second.bytes)
          << node;
      continue;
    }
    remark::passed(op.getLoc(), options("prepared"))
        << remark::add("moved to @prepare: {0} bytes from {1}", *bytes,
                       it->second.bytes)
        << node;
    results.push_back(op.getResult(0));
  }
  if (results.empty())
    return;

  // What @prepare computes, in order.
  llvm::SetVector<Operation *> needed;
  SmallVector<Operation *> stack;
  for (Value result : results)
    stack.push_back(result.getDefiningOp());
  while (!stack.empty()) {
    Operation *op = stack.pop_back_val();
    if (!needed.insert(op))
      continue;
    op->walk([&](Operation *inner) {
      for (Value operand : inner->getOperands())
        if (Operation *made = operand.getDefiningOp();
            made && made->getBlock() == &block)
          stack.push_back(made);
    });
  }
  ModuleOp module = getOperation();
  SymbolTable symbols(module);
  OpBuilder builder(forward);
  auto function = func::FuncOp::create(builder, forward.getLoc(), "prepare",
                                       builder.getFunctionType({}, {}));
  OpBuilder body = OpBuilder::atBlockBegin(function.addEntryBlock());
  IRMapping mapping;
  for (Operation &op : block)
    if (needed.contains(&op))
      body.clone(op, mapping);
  for (Value result : results) {
    Operation *op = result.getDefiningOp();
    auto name = op->getAttrOfType<StringAttr>(fp8::kNodeAttr);
    builder.setInsertionPoint(function);
    auto global = fp8::GlobalOp::create(
        builder, result.getLoc(),
        builder.getStringAttr("prepared." + (name ? name.str() : "weight")),
        /*sym_visibility=*/StringAttr(), fp8::GlobalKind::Weight,
        cast<RankedTensorType>(result.getType()),
        /*source=*/StringAttr(), /*offset=*/0);
    symbols.insert(global);
    fp8::GlobalStoreOp::create(body, result.getLoc(), mapping.lookup(result),
                               global.getSymName());
    builder.setInsertionPoint(op);
    auto load = fp8::GlobalLoadOp::create(builder, result.getLoc(),
                                          result.getType(), global.getSymName(),
                                          /*constant=*/true);
    if (name)
      load->setAttr(fp8::kNodeAttr, name);
    result.replaceAllUsesWith(load);
  }
  func::ReturnOp::create(body, forward.getLoc());
  for (Operation &op : llvm::make_early_inc_range(llvm::reverse(block)))
    if (needed.contains(&op) && op.use_empty())
      op.erase();
}

void PrepareWeightsPass::runOnOperation() {
  auto forward = getOperation().lookupSymbol<func::FuncOp>("forward");
  if (!forward || forward.isExternal() ||
      getOperation().lookupSymbol("prepare"))
    return;
  prepare(forward);
}
