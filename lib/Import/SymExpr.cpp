//===- SymExpr.cpp - Sympy expressions of sizes ---------------------------===//
//
// Part of fp8c, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "fp8c/Import/SymExpr.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSwitch.h"

using namespace fp8c::import;
using llvm::Error;
using llvm::Expected;
using llvm::StringRef;

namespace {
/// A recursive descent parser of srepr; depth is bounded.
class Parser {
public:
  explicit Parser(StringRef text) : whole(text), rest(text) {}

  Expected<SymExpr> parse() {
    Expected<SymExpr> result = expression(0);
    if (result && !rest.trim().empty())
      return fail("unexpected text after the expression");
    return result;
  }

private:
  Error fail(const char *what) {
    return llvm::createStringError("%s in size expression '%s'", what,
                                   whole.take_front(200).str().c_str());
  }

  Expected<SymExpr> expression(unsigned depth) {
    if (depth > 64)
      return fail("nesting deeper than 64");
    rest = rest.ltrim();
    StringRef head = rest.take_while(
        [](char c) { return llvm::isAlnum(c) || c == '_' || c == '.'; });
    rest = rest.drop_front(head.size());
    head = head.rsplit('.').second.empty() ? head : head.rsplit('.').second;
    if (!rest.consume_front("("))
      return fail("expected '('");
    SymExpr result;
    if (head == "Symbol")
      return symbol();
    if (head == "Integer") {
      if (rest.consumeInteger(10, result.number) || !rest.consume_front(")"))
        return fail("expected an integer");
      return result;
    }
    using Kind = SymExpr::Kind;
    auto kind = llvm::StringSwitch<std::optional<Kind>>(head)
                    .Case("Add", Kind::Add)
                    .Case("Mul", Kind::Mul)
                    .Cases({"FloorDiv", "CleanDiv"}, Kind::FloorDiv)
                    .Cases({"Mod", "PythonMod"}, Kind::Mod)
                    .Case("Min", Kind::Min)
                    .Case("Max", Kind::Max)
                    .Cases({"Pow", "PowByNatural"}, Kind::Pow)
                    .Default(std::nullopt);
    if (!kind)
      return fail("unknown function");
    result.kind = *kind;
    do {
      Expected<SymExpr> operand = expression(depth + 1);
      if (!operand)
        return operand.takeError();
      result.operands.push_back(std::move(*operand));
      rest = rest.ltrim();
    } while (rest.consume_front(","));
    if (!rest.consume_front(")"))
      return fail("expected ')'");
    bool binary =
        *kind == Kind::FloorDiv || *kind == Kind::Mod || *kind == Kind::Pow;
    if (binary && result.operands.size() != 2)
      return fail("expected two operands");
    if (*kind == Kind::Pow &&
        (result.operands[1].kind != Kind::Number ||
         result.operands[1].number < 0 || result.operands[1].number > 8))
      return fail("expected an exponent from 0 to 8");
    return result;
  }

  /// Symbol('s77', positive=True, integer=True), after the parenthesis.
  Expected<SymExpr> symbol() {
    SymExpr result;
    result.kind = SymExpr::Kind::Symbol;
    if (!rest.consume_front("'"))
      return fail("expected a quoted name");
    size_t end = rest.find('\'');
    size_t close = rest.find(')');
    if (end == StringRef::npos || close == StringRef::npos || close < end)
      return fail("expected the end of a symbol");
    result.name = rest.take_front(end).str();
    rest = rest.drop_front(close + 1);
    return result;
  }

  StringRef whole, rest;
};
} // namespace

Expected<SymExpr> SymExpr::parse(StringRef srepr) {
  return Parser(srepr).parse();
}

std::string SymExpr::str() const {
  auto list = [&](StringRef separator) {
    std::string text;
    for (const SymExpr &operand : operands) {
      bool atom = operand.operands.empty() || operand.kind == Kind::Min ||
                  operand.kind == Kind::Max;
      text += text.empty() ? "" : separator;
      text +=
          atom || separator == ", " ? operand.str() : "(" + operand.str() + ")";
    }
    return text;
  };
  switch (kind) {
  case Kind::Number:
    return std::to_string(number);
  case Kind::Symbol:
    return name;
  case Kind::Add:
    return list("+");
  case Kind::Mul:
    return list("*");
  case Kind::FloorDiv:
    return list("//");
  case Kind::Mod:
    return list("%");
  case Kind::Min:
    return "min(" + list(", ") + ")";
  case Kind::Max:
    return "max(" + list(", ") + ")";
  case Kind::Pow: {
    std::string text;
    std::string base = "(" + operands[0].str() + ")";
    for (int64_t i = 0; i < operands[1].number; ++i)
      text += (i ? "*" : "") + base;
    return text.empty() ? "1" : text;
  }
  }
  return "";
}

mlir::OpFoldResult
SymExpr::build(SizeArith &arith,
               llvm::function_ref<mlir::OpFoldResult(StringRef)> symbol) const {
  if (kind == Kind::Number)
    return arith.constant(number);
  if (kind == Kind::Symbol)
    return symbol(name);
  Sizes built;
  for (const SymExpr &operand : operands) {
    built.push_back(operand.build(arith, symbol));
    if (!built.back())
      return {};
  }
  mlir::OpFoldResult result = built[0];
  if (kind == Kind::Pow) {
    result = arith.constant(1);
    for (int64_t i = 0; i < operands[1].number; ++i)
      result = arith.mul(result, built[0]);
    return result;
  }
  for (mlir::OpFoldResult next : llvm::drop_begin(built))
    switch (kind) {
    case Kind::Add:
      result = arith.add(result, next);
      break;
    case Kind::Mul:
      result = arith.mul(result, next);
      break;
    case Kind::FloorDiv:
      result = arith.floorDiv(result, next);
      break;
    case Kind::Mod:
      result = arith.mod(result, next);
      break;
    case Kind::Min:
      result = arith.min(result, next);
      break;
    default:
      result = arith.max(result, next);
      break;
    }
  return result;
}
