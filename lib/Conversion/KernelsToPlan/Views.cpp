//===- Views.cpp - What view ops do to strides ----------------------------===//
//
// Part of fp8c, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Entry.h"

#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace fp8c;
using namespace fp8c::toplan;

bool toplan::isView(Operation *op) {
  return isa<tensor::ExtractSliceOp, tensor::ExpandShapeOp,
             tensor::CollapseShapeOp, linalg::TransposeOp, tensor::CastOp>(op);
}

bool toplan::isProducer(Operation *op) {
  return isa<fp8::KernelOp, fp8::MatmulOp, fp8::ScaledMatmulOp,
             fp8::AttentionOp, tensor::ConcatOp, tensor::InsertSliceOp,
             linalg::FillOp, arith::ConstantOp, tensor::EmptyOp>(op);
}

std::optional<Layout> toplan::getViewLayout(Operation *op, const Layout &source,
                                            Shapes &shapes) {
  using Result = std::optional<Layout>;
  return TypeSwitch<Operation *, Result>(op)
      .Case([&](tensor::ExtractSliceOp slice) -> Result {
        return source.slice(shapes.arith, shapes.map(slice.getMixedOffsets()),
                            shapes.map(slice.getMixedSizes()),
                            shapes.map(slice.getMixedStrides()),
                            slice.getDroppedDims());
      })
      .Case([&](tensor::ExpandShapeOp expand) -> Result {
        return source.expand(shapes.arith, expand.getReassociationIndices(),
                             shapes.sizes(expand.getResult()));
      })
      .Case([&](tensor::CollapseShapeOp collapse) -> Result {
        return source.collapse(shapes.arith, collapse.getReassociationIndices(),
                               shapes.sizes(collapse.getResult()));
      })
      .Case([&](linalg::TransposeOp transpose) -> Result {
        return source.transpose(transpose.getPermutation());
      })
      .Case([&](tensor::CastOp castOp) -> Result {
        Layout layout = source;
        layout.sizes = shapes.sizes(castOp.getResult());
        return layout;
      })
      .Default([](Operation *) -> Result { return std::nullopt; });
}

std::optional<Layout>
toplan::getSourceLayout(Operation *op, const Layout &result, Shapes &shapes) {
  using Result = std::optional<Layout>;
  return TypeSwitch<Operation *, Result>(op)
      .Case([&](tensor::ExpandShapeOp expand) -> Result {
        return result.collapse(shapes.arith, expand.getReassociationIndices(),
                               shapes.sizes(expand.getSrc()));
      })
      .Case([&](tensor::CollapseShapeOp collapse) -> Result {
        return result.expand(shapes.arith, collapse.getReassociationIndices(),
                             shapes.sizes(collapse.getSrc()));
      })
      .Case([&](linalg::TransposeOp transpose) -> Result {
        return result.untranspose(transpose.getPermutation());
      })
      .Case([&](tensor::CastOp castOp) -> Result {
        Layout layout = result;
        layout.sizes = shapes.sizes(castOp.getSource());
        return layout;
      })
      .Default([](Operation *) -> Result { return std::nullopt; });
}
