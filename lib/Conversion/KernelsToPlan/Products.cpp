//===- Products.cpp - Products and attention of a plan entry --------------===//
//
// Part of fp8c, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "BackEnd.h"
#include "Entry.h"

#include "mlir/Dialect/Utils/IndexingUtils.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"

using namespace mlir;
using namespace fp8c;
using namespace fp8c::toplan;

/// The block extents of the last two dims, 0 for a whole dim.
static SmallVector<int64_t> getBlocks(ArrayRef<int64_t> blocks) {
  SmallVector<int64_t> result;
  for (int64_t block : blocks.take_back(2))
    result.push_back(ShapedType::isDynamic(block) ? 0 : block);
  return result;
}

/// The fp8.dequantize that makes the operand of a product, through transposes.
static fp8::DequantizeOp getDecoded(Value operand,
                                    SmallVectorImpl<Operation *> &views) {
  while (Operation *op = operand.getDefiningOp()) {
    if (auto dequantize = dyn_cast<fp8::DequantizeOp>(op))
      return dequantize;
    if (!isa<linalg::TransposeOp>(op))
      return {};
    views.push_back(op);
    operand = op->getOperand(0);
  }
  return {};
}

LogicalResult Entry::checkDecoded(fp8::DequantizeOp op) {
  SmallVector<Operation *> users(op->getUsers());
  while (!users.empty()) {
    Operation *user = users.pop_back_val();
    auto matmul = dyn_cast<fp8::MatmulOp>(user);
    SmallVector<Operation *> views;
    if (isa<linalg::TransposeOp>(user))
      users.append(user->user_begin(), user->user_end());
    else if (!matmul || getDecoded(matmul.getRhs(), views) != op ||
             getDecoded(matmul.getLhs(), views) == op)
      return op.emitError("is neither in a kernel nor decoded by a product");
  }
  return success();
}

LogicalResult Entry::convertMatmul(fp8::MatmulOp op) {
  SmallVector<int64_t> blocks = {0, 0};
  Value rhs, decode;
  SmallVector<Operation *> views;
  if (fp8::DequantizeOp decoded = getDecoded(op.getRhs(), views)) {
    Layout data = layouts.find(decoded.getInput())->second;
    Layout scale = layouts.find(decoded.getScale())->second;
    SmallVector<int64_t> block(decoded.getScaling().getBlock());
    for (Operation *view : llvm::reverse(views)) {
      ArrayRef<int64_t> permutation =
          cast<linalg::TransposeOp>(view).getPermutation();
      data = data.transpose(permutation);
      scale = scale.transpose(permutation);
      applyPermutationToVector(block, permutation);
    }
    rhs = getBuffer(data, getElementTypeOrSelf(decoded.getInput()));
    decode = getBuffer(scale, getElementTypeOrSelf(decoded.getScale()));
    blocks = getBlocks(block);
  } else {
    rhs = getBuffer(op.getRhs());
  }
  Value lhs = getBuffer(op.getLhs());
  Value bias = op.getBias() ? getBuffer(op.getBias()) : Value();
  define(op.getResult());
  Value result = getBuffer(op.getResult());
  explainBackEnd(op, decode ? "product with a decoded f8 weight" : "product",
                 getProductBackEnd(target));
  nameCommand(
      plan::MatmulOp::create(builder, op.getLoc(), lhs, rhs, result, bias,
                             /*a_scale=*/Value(), /*b_scale=*/Value(),
                             /*result_scale=*/Value(), /*amax=*/Value(), decode,
                             /*a_padded=*/Value(),
                             /*a_block=*/ArrayRef<int64_t>{0, 0}, blocks,
                             /*fast_accum=*/false),
      op);
  return success();
}

Value Entry::getPadded(fp8::ScaledMatmulOp op) {
  if (!wantsPadding(op))
    return {};
  Layout rows = layouts.find(op.getLhs())->second;
  const int64_t size =
      cast<RankedTensorType>(op.getLhs().getType()).getDimSize(1);
  const int64_t wide = llvm::alignTo(size, target.libraryAlignment);
  // All of the rows, or some of them; other views have no zeros after theirs.
  auto it = padded.find(rows.root);
  const bool isPadded = it != padded.end() && it->second.size == size &&
                        isConstantIntValue(rows.strides[0], wide) &&
                        isConstantIntValue(rows.strides[1], 1);
  auto options = remark::RemarkOpts::name("padded-rows")
                     .category("fp8-convert-to-plan")
                     .function(func.getName());
  auto describe = [&](remark::detail::InFlightRemark &&remark)
      -> remark::detail::InFlightRemark {
    auto node = op->getAttrOfType<StringAttr>(fp8::kNodeAttr);
    remark << remark::metric("Node", node ? node.getValue() : StringRef())
           << remark::metric("K", size) << remark::metric("Padded", wide);
    return std::move(remark);
  };
  if (!isPadded) {
    describe(remark::missed(op.getLoc(), options))
        << remark::add("the left operand is copied to longer rows at each call")
        << remark::reason("what makes it writes elsewhere, or is outside");
    return {};
  }
  describe(remark::passed(op.getLoc(), options))
      << remark::add("the left operand's rows of {0} lie {1} apart, with "
                     "zeros between",
                     size, wide)
      << remark::reason("the library takes rows of multiples of {0}",
                        target.libraryAlignment);
  rows.sizes[1] = shapes.arith.constant(wide);
  return getBuffer(rows, getElementTypeOrSelf(op.getLhs()));
}

void Entry::convertScaledMatmul(fp8::ScaledMatmulOp op) {
  auto optional = [&](Value value) {
    return value ? getBuffer(value) : Value();
  };
  for (Value result : op->getResults())
    define(result);
  Value lhs = getBuffer(op.getLhs()), rhs = getBuffer(op.getRhs());
  Value lhsScale = getBuffer(op.getLhsScale());
  Value rhsScale = getBuffer(op.getRhsScale());
  Value bias = optional(op.getBias());
  Value resultScale = optional(op.getResultScale());
  Value result = getBuffer(op.getResult()), amax = optional(op.getAmax());
  explainBackEnd(op, "scaled product", getProductBackEnd(target));
  nameCommand(plan::MatmulOp::create(
                  builder, op.getLoc(), lhs, rhs, result, bias, lhsScale,
                  rhsScale, resultScale, amax, /*b_decode=*/Value(),
                  getPadded(op), getBlocks(op.getLhsScaling().getBlock()),
                  getBlocks(op.getRhsScaling().getBlock()), op.getFastAccum()),
              op);
}

void Entry::convertAttention(fp8::AttentionOp op) {
  explainBackEnd(op, "attention", getAttentionBackEnd(target));
  SizeArith &arith = shapes.arith;
  Value query = getBuffer(op.getQuery()), key = getBuffer(op.getKey()),
        value = getBuffer(op.getValue()), mask;
  if (op.getMask()) {
    // Dims of size 1 repeat: stride 0 at the scores' sizes.
    const Layout &given = layouts.find(op.getMask())->second;
    Layout layout = given;
    layout.sizes = shapes.sizes(op.getQuery());
    layout.sizes[3] = shapes.sizes(op.getKey())[2];
    layout.strides.assign(4, arith.constant(0));
    size_t missing = 4 - given.sizes.size();
    for (size_t i = 0; i < given.sizes.size(); ++i)
      if (!isConstantIntValue(given.sizes[i], 1))
        layout.strides[missing + i] = given.strides[i];
    mask = getBuffer(layout, getElementTypeOrSelf(op.getMask()));
  }
  define(op.getResult());
  Value result = getBuffer(op.getResult());
  nameCommand(plan::AttentionOp::create(builder, op.getLoc(), query, key, value,
                                        result, mask, op.getScaleAttr(),
                                        op.getCausalAttr()),
              op);
}
