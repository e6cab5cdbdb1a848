//===- ReportSizes.cpp - Bytes of a report ------------------------------===//
//
// Part of fp8c, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ReportSizes.h"

#include "fp8c/Dialect/FP8/FP8.h"
#include "fp8c/Dialect/FP8/Hints.h"
#include "fp8c/Dialect/Plan/Plan.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace fp8c;
namespace json = llvm::json;

ReportSizes::ReportSizes(ModuleOp module) : shapes(module) {
  module.walk([&](fp8::SymbolOp symbol) {
    if (examples.get(symbol.getName()))
      return;
    int64_t example = symbol.getMin();
    json::Object row{{"name", symbol.getName().str()},
                     {"min", symbol.getMin()},
                     {"multiple", symbol.getMultiple()}};
    if (std::optional<uint64_t> max = symbol.getMax())
      row["max"] = int64_t(*max);
    if (auto hint = symbol->getAttrOfType<IntegerAttr>(fp8::kHintAttr)) {
      example = hint.getInt();
      row["hint"] = example;
    }
    examples[symbol.getName().str()] = example;
    symbols.push_back(std::move(row));
  });
}

SizeExpr ReportSizes::getDim(Value buffer, unsigned dim) {
  auto type = cast<ShapedType>(buffer.getType());
  if (isa<RankedTensorType>(type))
    return shapes.getDim(buffer, dim);
  if (!type.isDynamicDim(dim))
    return shapes.constant(type.getDimSize(dim));
  Operation *op = buffer.getDefiningOp();
  if (auto view = dyn_cast<plan::ViewOp>(op))
    return shapes.get(view.getSizes()[dim]);
  // Sizes of the dynamic dims alone.
  unsigned position = 0;
  for (unsigned i = 0; i < dim; ++i)
    position += type.isDynamicDim(i);
  return TypeSwitch<Operation *, SizeExpr>(op)
      .Case<plan::InputOp, plan::OutputOp, plan::AllocOp>(
          [&](auto op) { return shapes.get(op.getSizes()[position]); })
      .Default([&](Operation *) { return shapes.constant(0); });
}

SizeExpr ReportSizes::getBytes(Value value) {
  auto type = cast<ShapedType>(value.getType());
  Type element = type.getElementType();
  // What is neither integer nor float has no place in a plan: its writer says
  // so.
  unsigned bits = element.isIndex()        ? 64
                  : element.isIntOrFloat() ? element.getIntOrFloatBitWidth()
                                           : 0;
  SizeExpr bytes = shapes.constant(llvm::divideCeil(bits, 8));
  auto view = value.getDefiningOp<plan::ViewOp>();
  for (unsigned dim = 0; dim < type.getRank(); ++dim)
    if (!view ||
        !SymbolicShape::isConstant(shapes.get(view.getStrides()[dim]), 0))
      bytes = shapes.mul(bytes, getDim(value, dim));
  return bytes;
}

std::optional<int64_t> ReportSizes::evaluate(SizeExpr expr) const {
  return shapes.evaluate(
      expr, [&](StringRef name) { return examples.getInteger(name); });
}
