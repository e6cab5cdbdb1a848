//===- JoinProducts.cpp - Launches that run as one with a product ---------===//
//
// Part of fp8c, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "fp8c/Conversion/KernelsToPlan/Passes.h"

#include "fp8c/Codegen/TakenResult.h"
#include "fp8c/Dialect/Plan/Plan.h"
#include "fp8c/Target/Target.h"

#include "mlir/IR/Remarks.h"

namespace fp8c {
#define GEN_PASS_DEF_JOINPRODUCTSPASS
#include "fp8c/Conversion/KernelsToPlan/Passes.h.inc"
} // namespace fp8c

using namespace mlir;
using namespace fp8c;

static bool isCommand(Operation &op) {
  return isa<plan::LaunchOp, plan::MatmulOp, plan::AttentionOp, plan::CopyOp,
             plan::FillOp>(op);
}

static Value getRoot(Value buffer) {
  while (auto view = buffer.getDefiningOp<plan::ViewOp>())
    buffer = view.getSource();
  return buffer;
}

/// Whether no other commands use the buffer or a view of it.
static bool isUsedByBoth(Value buffer, Operation *product, Operation *launch) {
  return llvm::all_of(buffer.getUsers(), [&](Operation *user) {
    if (auto view = dyn_cast<plan::ViewOp>(user))
      return isUsedByBoth(view.getResult(), product, launch);
    return user == product || user == launch;
  });
}

/// Why no kernel takes the product's result as it comes, or "".
static StringRef whyNoFrame(plan::MatmulOp op) {
  auto element = [](Value buffer) { return getElementTypeOrSelf(buffer); };
  auto rank = [](Value buffer) {
    return cast<MemRefType>(buffer.getType()).getRank();
  };
  auto isWhole = [](ArrayRef<int64_t> block) {
    return llvm::all_of(block, [](int64_t extent) { return extent == 0; });
  };
  if (!isa<Float8E4M3FNType>(element(op.getA())) ||
      !isa<Float8E4M3FNType>(element(op.getB())) ||
      !element(op.getD()).isBF16())
    return "operands and result are not f8E4M3FN and bf16";
  if (rank(op.getA()) != 2 || rank(op.getB()) != 2)
    return "it has batches";
  if (!op.getAScale() || !op.getBScale() || !isWhole(op.getABlock()) ||
      !isWhole(op.getBBlock()))
    return "its scales are not one each";
  if (!op.getFastAccum())
    return "its sums are more than the tensor core's own";
  if (op.getResultScale() || op.getAmax() || op.getBDecode() || op.getAPadded())
    return "it does more than to multiply";
  if (op.getBias() &&
      (rank(op.getBias()) != 1 || !element(op.getBias()).isBF16()))
    return "its bias is not one row of bf16";
  return "";
}

/// All operands of the product.
static SmallVector<Value> getOperands(plan::MatmulOp op) {
  SmallVector<Value> operands = {op.getA(), op.getB(), op.getAScale(),
                                 op.getBScale()};
  if (op.getBias())
    operands.push_back(op.getBias());
  return operands;
}

/// Whether the launch writes to state that the product reads. All other memory
/// that both have is no element of both.
static bool overwritesState(plan::LaunchOp launch,
                            ArrayRef<Value> productOperands) {
  auto getState = [](Value buffer) {
    auto global = getRoot(buffer).getDefiningOp<plan::GlobalOp>();
    return global ? global.getGlobalAttr() : FlatSymbolRefAttr();
  };
  return llvm::any_of(launch.getWrites(), [&](Value write) {
    FlatSymbolRefAttr state = getState(write);
    return state && llvm::any_of(productOperands, [&](Value operand) {
             return getState(operand) == state;
           });
  });
}

static void join(plan::MatmulOp product, plan::LaunchOp launch,
                 SymbolTable &symbols) {
  Value result = getRoot(product.getD());
  if (!result.getDefiningOp<plan::AllocOp>() || !launch.getZeros().empty() ||
      !isUsedByBoth(result, product, launch))
    return;
  SmallVector<unsigned> reads;
  for (auto [i, read] : llvm::enumerate(launch.getReads()))
    if (getRoot(read) == result)
      reads.push_back(i);
  if (reads.size() != 1)
    return;
  auto options =
      remark::RemarkOpts::name("joined-product")
          .category("fp8-join-products")
          .function(product->getParentOfType<plan::EntryOp>().getSymName());
  auto kernel = symbols.lookup<plan::KernelOp>(launch.getKernel());
  auto refuse = [&](StringRef why) {
    remark::missed(launch.getLoc(), options)
        << remark::add("the launch and the product before it are two")
        << remark::reason("{0}", why);
  };
  if (StringRef why = whyNoFrame(product); !why.empty())
    return refuse(why);
  const SmallVector<Value> operands = getOperands(product);
  // Tiles are written while others are multiplied.
  if (overwritesState(launch, operands))
    return refuse("the kernel writes to state that the product reads");
  if (int32_t known = int32_t(kernel.getProduct());
      known >= 0 && unsigned(known) != reads[0])
    return refuse("another product's result is another operand of the kernel");
  std::string ignored;
  auto program = codegen::RowProgram::analyze(kernel.getBody().front(),
                                              kernel.getUnitDims(), ignored);
  if (StringRef why = codegen::whyNotTaken(*program, reads[0]); !why.empty())
    return refuse(why);
  // Such as the heads of a token.
  if (cast<MemRefType>(product.getD().getType()).getShape().back() !=
      program->getDims().back().size)
    return refuse("the kernel takes rows of the result in pieces");
  kernel.setProduct(reads[0]);
  launch.getJoinsMutable().assign(operands);
  remark::passed(launch.getLoc(), options)
      << remark::add("the launch and the product before it may run as one");
}

namespace {

struct JoinProductsPass
    : public fp8c::impl::JoinProductsPassBase<JoinProductsPass> {
  using JoinProductsPassBase::JoinProductsPassBase;

  void runOnOperation() override {
    ModuleOp module = getOperation();
    const Target *where = findTarget(target);
    if (!where) {
      module.emitError() << "'" << target << "' is not a target";
      return signalPassFailure();
    }
    if (!where->joinsProducts)
      return;
    SymbolTable symbols(module);
    for (auto entry : module.getOps<plan::EntryOp>()) {
      Operation *before = nullptr;
      for (Operation &op : entry.getBody().front()) {
        if (!isCommand(op))
          continue;
        auto product = dyn_cast_if_present<plan::MatmulOp>(before);
        auto launch = dyn_cast<plan::LaunchOp>(op);
        if (product && launch)
          join(product, launch, symbols);
        before = &op;
      }
    }
  }
};

} // namespace
