//===- Sizes.cpp - Sizes that can be computed -----------------------------===//
//
// Part of fp8c, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Sizes.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace fp8c;
using namespace fp8c::test;

static MLIRContext &load(MLIRContext &context) {
  context.loadDialect<arith::ArithDialect, fp8::FP8Dialect>();
  return context;
}

SizesModule::SizesModule()
    : module(ModuleOp::create(UnknownLoc::get(&load(context)))),
      builder(OpBuilder::atBlockEnd(module->getBody())), graph(builder) {}

OpFoldResult SizesModule::symbol(StringRef name, int64_t min,
                                 std::optional<int64_t> max) {
  OpFoldResult &known = symbols[name.str()];
  if (!known)
    known = fp8::SymbolOp::create(
                builder, module->getLoc(), builder.getIndexType(), name, min,
                max ? builder.getI64IntegerAttr(*max) : IntegerAttr(), 1)
                .getResult();
  return known;
}

std::optional<int64_t>
SizesModule::evaluate(OpFoldResult size,
                      const std::map<std::string, int64_t> &values) {
  if (auto constant = getConstantIntValue(size))
    return *constant;
  Operation *op = cast<Value>(size).getDefiningOp();
  if (auto symbol = dyn_cast<fp8::SymbolOp>(op))
    return values.at(symbol.getName().str());
  std::optional<int64_t> left = evaluate(op->getOperand(0), values);
  std::optional<int64_t> right = evaluate(op->getOperand(1), values);
  if (!left || !right)
    return std::nullopt;
  int64_t a = *left, b = *right;
  if (isa<arith::AddIOp>(op))
    return a + b;
  if (isa<arith::SubIOp>(op))
    return a - b;
  if (isa<arith::MulIOp>(op))
    return a * b;
  if (isa<arith::MinSIOp>(op))
    return std::min(a, b);
  if (isa<arith::MaxSIOp>(op))
    return std::max(a, b);
  if (isa<arith::FloorDivSIOp>(op))
    return b ? std::optional(llvm::divideFloorSigned(a, b)) : std::nullopt;
  if (isa<arith::AndIOp>(op))
    return a & b;
  if (isa<arith::OrIOp>(op))
    return a | b;
  if (isa<arith::XOrIOp>(op))
    return (a ^ b) & 1;
  switch (cast<arith::CmpIOp>(op).getPredicate()) {
  case arith::CmpIPredicate::eq:
    return a == b;
  case arith::CmpIPredicate::ne:
    return a != b;
  case arith::CmpIPredicate::slt:
    return a < b;
  default:
    return a <= b;
  }
}
