//===- BlockScale.cpp - Scales of blocks of a tensor ----------------------===//
//
// Part of fp8c, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "BlockScale.h"

#include "UnitDims.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace fp8c;

/// The scale's arithmetic out of the body that it is spelled in, for each
/// element of the tensors that it reads; null if those are not of one shape.
static TracedScalar computeOutside(RewriterBase &rewriter, TracedScalar scale) {
  SmallVector<Value> slice = {scale.value};
  SmallVector<Value> inputs, arguments;
  SmallVector<Operation *> body;
  AffineMap map;
  for (unsigned i = 0; i < slice.size(); ++i) {
    if (auto argument = dyn_cast<BlockArgument>(slice[i])) {
      TracedScalar input = leaveBody(scale.getOperand(argument));
      if (!input.tensor || (map && input.map != map))
        return {};
      map = input.map;
      inputs.push_back(input.tensor);
      arguments.push_back(argument);
      continue;
    }
    Operation *op = slice[i].getDefiningOp();
    if (op->getBlock() != scale.op.getBody())
      continue;
    if (op->getNumResults() != 1 || op->getNumRegions() > 0)
      return {};
    body.push_back(op);
    for (Value operand : op->getOperands())
      if (!llvm::is_contained(slice, operand))
        slice.push_back(operand);
  }
  if (inputs.empty() || body.empty())
    return {};
  llvm::sort(body,
             [](Operation *a, Operation *b) { return a->isBeforeInBlock(b); });
  Location loc = scale.op.getLoc();
  auto type = cast<RankedTensorType>(inputs.front().getType());
  Value init = tensor::EmptyOp::create(
      rewriter, loc, tensor::getMixedSizes(rewriter, loc, inputs.front()),
      scale.getType());
  SmallVector<AffineMap> maps(inputs.size() + 1,
                              rewriter.getMultiDimIdentityMap(type.getRank()));
  SmallVector<utils::IteratorType> loops(type.getRank(),
                                         utils::IteratorType::parallel);
  auto made = linalg::GenericOp::create(
      rewriter, loc, init.getType(), inputs, init, maps, loops,
      [&](OpBuilder &builder, Location, ValueRange values) {
        IRMapping mapping;
        mapping.map(arguments, values.drop_back());
        for (Operation *op : body)
          builder.clone(*op, mapping);
        linalg::YieldOp::create(builder, loc, mapping.lookup(scale.value));
      });
  return {Value(), scale.op, made.getResult(0), map};
}

BlockScale fp8c::getBlockScale(RewriterBase &rewriter, TracedScalar scale,
                               int64_t rank) {
  MLIRContext *context = rewriter.getContext();
  while (auto widen = scale.getDefiningOp<arith::ExtFOp>())
    scale = scale.getOperand(widen.getIn());
  scale = leaveBody(scale);
  Location loc = scale.op.getLoc();
  FloatAttr number;
  if (scale.value && matchPattern(scale.value, m_Constant(&number))) {
    auto type =
        RankedTensorType::get(SmallVector<int64_t>(rank, 1), scale.getType());
    Value tensor = arith::ConstantOp::create(
        rewriter, loc, DenseElementsAttr::get(type, Attribute(number)));
    return {tensor, fp8::ScalingAttr::tensor(context, rank)};
  }
  if (scale.value)
    scale = computeOutside(rewriter, scale);
  if (!scale.tensor || !isa<Float32Type, BFloat16Type>(scale.getType()))
    return {};
  auto type = cast<RankedTensorType>(scale.tensor.getType());
  SmallVector<int64_t> blocks(rank, ShapedType::kDynamic), kept, shape;
  SmallVector<bool> isUnit, isUnitOfData(rank, true);
  int64_t last = -1;
  for (auto [i, expr] : llvm::enumerate(scale.map.getResults())) {
    auto dim = dyn_cast<AffineDimExpr>(expr);
    isUnit.push_back(!dim);
    if (!dim) {
      if (type.getDimSize(i) != 1)
        return {};
      continue;
    }
    int64_t position = dim.getPosition();
    if (position <= last)
      return {};
    last = position;
    blocks[position] = 1;
    isUnitOfData[position] = false;
    kept.push_back(type.getDimSize(i));
  }
  auto scaling = fp8::ScalingAttr::get(context, blocks);
  if (isUnit == isUnitOfData)
    return {scale.tensor, scaling};
  Value tensor = scale.tensor;
  if (kept.size() != isUnit.size())
    tensor = tensor::CollapseShapeOp::create(
        rewriter, loc, RankedTensorType::get(kept, type.getElementType()),
        tensor, groupUnits(isUnit));
  SmallVector<OpFoldResult> sizes;
  unsigned next = 0;
  for (bool unit : isUnitOfData) {
    shape.push_back(unit ? 1 : kept[next]);
    sizes.push_back(unit ? rewriter.getIndexAttr(1)
                         : tensor::getMixedSize(rewriter, loc, tensor, next));
    next += !unit;
  }
  if (kept.size() != isUnitOfData.size())
    tensor = tensor::ExpandShapeOp::create(
        rewriter, loc, RankedTensorType::get(shape, type.getElementType()),
        tensor, groupUnits(isUnitOfData), sizes);
  return {tensor, scaling};
}
