//===- ReportGraph.cpp - What a graph moves, a launch a node ------------===//
//
// Part of fp8c, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ReportSizes.h"

#include "fp8c/Dialect/FP8/FP8.h"
#include "fp8c/Pipelines/Report.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "llvm/ADT/DenseSet.h"

using namespace mlir;
using namespace fp8c;
namespace json = llvm::json;

/// True for an op that moves nothing: another shape or order of a tensor, or
/// what is known without it.
static bool isFree(Operation *op) {
  return isa<tensor::CollapseShapeOp, tensor::ExpandShapeOp, tensor::CastOp,
             tensor::ExtractSliceOp, tensor::EmptyOp, tensor::DimOp,
             linalg::TransposeOp, linalg::FillOp, fp8::SymbolOp, fp8::CheckOp,
             fp8::GlobalLoadOp>(op) ||
         isa<arith::ArithDialect>(op->getDialect());
}

/// The value that a chain of views looks at.
static Value getViewed(Value value) {
  while (Operation *op = value.getDefiningOp()) {
    if (!isa<tensor::CollapseShapeOp, tensor::ExpandShapeOp, tensor::CastOp,
             tensor::ExtractSliceOp, linalg::TransposeOp>(op))
      break;
    value = op->getOperand(0);
  }
  return value;
}

json::Object fp8c::describeGraph(ModuleOp module) {
  auto func = module.lookupSymbol<func::FuncOp>("forward");
  if (!func || func.isExternal())
    return {};
  ReportSizes sizes(module);
  // A node's ops come one after the other, and the last has its name.
  DenseMap<Operation *, unsigned> nodeOf;
  unsigned node = 0;
  for (Operation &op : func.getBody().front()) {
    if (isFree(&op))
      continue;
    nodeOf[&op] = node;
    node += op.hasAttr(fp8::kNodeAttr);
  }
  SizeExpr read = sizes.zero(), written = sizes.zero();
  DenseSet<std::pair<unsigned, Value>> reads;
  DenseSet<Value> writes;
  auto access = [&](unsigned reader, Value value) {
    if (!isa<RankedTensorType>(value.getType()))
      return;
    Value viewed = getViewed(value);
    Operation *made = viewed.getDefiningOp();
    if (made && isFree(made) && !isa<fp8::GlobalLoadOp>(made))
      return;
    auto maker = nodeOf.find(made);
    if (maker != nodeOf.end() && maker->second == reader)
      return;
    if (maker != nodeOf.end() && writes.insert(viewed).second)
      written = sizes.add(written, sizes.getBytes(viewed));
    if (reader < node + 1 && reads.insert({reader, value}).second)
      read = sizes.add(read, sizes.getBytes(value));
  };
  for (Operation &op : func.getBody().front()) {
    bool isReturn = op.hasTrait<OpTrait::IsTerminator>();
    auto it = nodeOf.find(&op);
    if (it == nodeOf.end())
      continue;
    unsigned reader = isReturn ? ~0u : it->second;
    op.walk([&](Operation *inner) {
      for (Value operand : inner->getOperands())
        if (operand.getParentBlock() == op.getBlock())
          access(reader, operand);
    });
  }
  return json::Object{{"launches", int64_t(node)},
                      {"read", sizes.describe(read)},
                      {"written", sizes.describe(written)},
                      {"total", sizes.describe(sizes.add(read, written))}};
}
