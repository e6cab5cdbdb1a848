//===- SymExpr.cpp - Sympy expressions of sizes ---------------------------===//
//
// Part of fp8c, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "fp8c/Import/SymExpr.h"

using namespace fp8c::import;
using llvm::StringRef;

//===----------------------------------------------------------------------===//
// Writing
//===----------------------------------------------------------------------===//

std::string SymExpr::str() const {
  auto operand = [&](size_t i) {
    const SymExpr &inner = operands[i];
    bool isAtom = inner.kind == Kind::Number
                      ? inner.number >= 0
                      : inner.kind == Kind::Symbol || inner.kind == Kind::Min ||
                            inner.kind == Kind::Max ||
                            inner.kind == Kind::CeilDiv;
    return isAtom ? inner.str() : "(" + inner.str() + ")";
  };
  auto infix = [&](const char *symbol) {
    return operand(0) + symbol + operand(1);
  };
  auto call = [&](const char *name) {
    return std::string(name) + "(" + operands[0].str() + ", " +
           operands[1].str() + ")";
  };
  switch (kind) {
  case Kind::Number:
    return std::to_string(number);
  case Kind::Symbol:
    return name;
  case Kind::Add:
    return infix("+");
  case Kind::Mul:
    return infix("*");
  case Kind::FloorDiv:
    return infix("//");
  case Kind::Mod:
    return infix("%");
  case Kind::CeilDiv:
    return call("ceildiv");
  case Kind::Min:
    return call("min");
  case Kind::Max:
    return call("max");
  }
  return "";
}

//===----------------------------------------------------------------------===//
// Building
//===----------------------------------------------------------------------===//

mlir::OpFoldResult
SymExpr::build(SizeArith &arith,
               llvm::function_ref<mlir::OpFoldResult(StringRef)> symbol) const {
  if (kind == Kind::Number)
    return arith.constant(number);
  if (kind == Kind::Symbol)
    return symbol(name);
  mlir::OpFoldResult a = operands[0].build(arith, symbol);
  mlir::OpFoldResult b = a ? operands[1].build(arith, symbol) : a;
  if (!b)
    return {};
  switch (kind) {
  case Kind::Add:
    return arith.add(a, b);
  case Kind::Mul:
    return arith.mul(a, b);
  case Kind::FloorDiv:
    return arith.floorDiv(a, b);
  case Kind::CeilDiv:
    return arith.ceilDiv(a, b);
  case Kind::Mod:
    return arith.mod(a, b);
  case Kind::Min:
    return arith.min(a, b);
  default:
    return arith.max(a, b);
  }
}
