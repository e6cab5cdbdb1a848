//===- SymExprParser.cpp - Reads sympy expressions of sizes ---------------===//
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

using Kind = SymExpr::Kind;

/// How deep an expression may nest, and how many nodes it may have: products
/// of quotients repeat their parts.
static constexpr unsigned kMaxDepth = 64, kMaxNodes = 1000;

//===----------------------------------------------------------------------===//
// Reading
//===----------------------------------------------------------------------===//

static SymExpr number(int64_t value) {
  SymExpr result;
  result.number = value;
  return result;
}

static SymExpr make(Kind kind, SymExpr a, SymExpr b) {
  SymExpr result;
  result.kind = kind;
  result.nodes = std::min(1 + a.nodes + b.nodes, kMaxNodes + 1);
  // What is too large is found by its count and not kept.
  if (result.nodes <= kMaxNodes)
    result.operands = {std::move(a), std::move(b)};
  return result;
}

static bool isOne(const SymExpr &expression) {
  return expression.kind == Kind::Number && expression.number == 1;
}

static SymExpr times(SymExpr a, SymExpr b) {
  if (isOne(a))
    return b;
  return isOne(b) ? a : make(Kind::Mul, std::move(a), std::move(b));
}

namespace {
/// `over / under`: sympy keeps quotients until something rounds them.
struct Quotient {
  SymExpr over, under = number(1);

  /// A whole number: rounded down, or exact where PyTorch knows it to be.
  SymExpr round(Kind kind = Kind::FloorDiv) && {
    if (isOne(under))
      return std::move(over);
    return make(kind, std::move(over), std::move(under));
  }
};

/// What a function of an expression is.
enum class Function {
  Add,
  Mul,
  Pow,
  Quotient,
  FloorDiv,
  CeilDiv,
  Mod,
  Indexing,
  Min,
  Max,
  Floor,
  Ceil,
  Trunc,
  Abs,
  Identity
};

/// A recursive descent parser of srepr and of Python; depth is bounded.
class Parser {
public:
  explicit Parser(StringRef text) : whole(text), rest(text) {}

  Expected<SymExpr> parse() {
    Expected<Quotient> result = sum();
    if (!result)
      return result.takeError();
    if (!rest.trim().empty())
      return fail("unexpected text after the expression");
    SymExpr expression = std::move(*result).round();
    if (expression.nodes > kMaxNodes)
      return fail("more than 1000 operations");
    return expression;
  }

private:
  Error fail(const char *what) {
    return llvm::createStringError("%s in size expression '%s'", what,
                                   whole.take_front(200).str().c_str());
  }

  bool take(StringRef token) {
    StringRef next = rest.ltrim();
    if (!next.consume_front(token))
      return false;
    rest = next;
    return true;
  }

  //===--------------------------------------------------------------------===//
  // Grammar
  //===--------------------------------------------------------------------===//

  Expected<Quotient> sum() {
    if (++depth > kMaxDepth)
      return fail("nesting deeper than 64");
    Expected<Quotient> left = term();
    while (left) {
      bool plus = take("+");
      if (!plus && !take("-"))
        break;
      Expected<Quotient> right = term();
      if (!right)
        return right;
      if (!plus)
        right->over = times(number(-1), std::move(right->over));
      left = add(std::move(*left), std::move(*right));
    }
    --depth;
    return left;
  }

  Expected<Quotient> term() {
    Expected<Quotient> left = factor();
    while (left) {
      Function function;
      if (take("//"))
        function = Function::FloorDiv;
      else if (take("/"))
        function = Function::Quotient;
      else if (take("%"))
        function = Function::Mod;
      else if (!rest.ltrim().starts_with("**") && take("*"))
        function = Function::Mul;
      else
        break;
      Expected<Quotient> right = factor();
      if (!right)
        return right;
      std::vector<Quotient> operands;
      operands.push_back(std::move(*left));
      operands.push_back(std::move(*right));
      left = apply(function, std::move(operands));
    }
    return left;
  }

  /// A factor within a factor.
  Expected<Quotient> deeper() {
    if (++depth > kMaxDepth)
      return fail("nesting deeper than 64");
    Expected<Quotient> inner = factor();
    --depth;
    return inner;
  }

  Expected<Quotient> factor() {
    if (take("-")) {
      Expected<Quotient> inner = deeper();
      if (inner && inner->over.kind == Kind::Number)
        inner->over.number = -inner->over.number;
      else if (inner)
        inner->over = times(number(-1), std::move(inner->over));
      return inner;
    }
    Expected<Quotient> base = atom();
    if (!base || !take("**"))
      return base;
    Expected<Quotient> exponent = deeper();
    if (!exponent)
      return exponent;
    std::vector<Quotient> operands;
    operands.push_back(std::move(*base));
    operands.push_back(std::move(*exponent));
    return apply(Function::Pow, std::move(operands));
  }

  Expected<Quotient> atom() {
    if (take("(")) {
      Expected<Quotient> inner = sum();
      if (inner && !take(")"))
        return fail("expected ')'");
      return inner;
    }
    rest = rest.ltrim();
    if (!rest.empty() && llvm::isDigit(rest.front())) {
      Quotient result;
      if (rest.consumeInteger(10, result.over.number))
        return fail("expected an integer");
      return result;
    }
    StringRef word = rest.take_while(
        [](char c) { return llvm::isAlnum(c) || c == '_' || c == '.'; });
    rest = rest.drop_front(word.size());
    StringRef name = word.rsplit('.').second;
    name = name.empty() ? word : name;
    if (take("("))
      return name == "Symbol" ? symbol() : call(name);
    if (word.empty() || word.contains('.'))
      return fail("expected an expression");
    return symbolOf(word);
  }

  static Quotient symbolOf(StringRef name) {
    Quotient result;
    result.over.kind = Kind::Symbol;
    result.over.name = name.str();
    return result;
  }

  /// Symbol('s77', positive=True, integer=True), after the parenthesis.
  Expected<Quotient> symbol() {
    if (!take("'"))
      return fail("expected a quoted name");
    size_t end = rest.find('\'');
    size_t close = rest.find(')');
    if (end == StringRef::npos || close == StringRef::npos || close < end)
      return fail("expected the end of a symbol");
    StringRef name = rest.take_front(end);
    if (name.empty() || llvm::isDigit(name.front()) ||
        !llvm::all_of(name,
                      [](char c) { return llvm::isAlnum(c) || c == '_'; }))
      return fail("expected a name of letters, digits and '_'");
    rest = rest.drop_front(close + 1);
    return symbolOf(name);
  }

  /// A function after its parenthesis.
  Expected<Quotient> call(StringRef name) {
    auto function =
        llvm::StringSwitch<std::optional<Function>>(name)
            .Case("Add", Function::Add)
            .Case("Mul", Function::Mul)
            .Cases({"Pow", "PowByNatural", "FloatPow"}, Function::Pow)
            .Cases({"Rational", "IntTrueDiv", "FloatTrueDiv"},
                   Function::Quotient)
            .Cases({"FloorDiv", "CleanDiv"}, Function::FloorDiv)
            .Cases({"CeilDiv", "ceildiv"}, Function::CeilDiv)
            .Cases({"Mod", "PythonMod"}, Function::Mod)
            .Case("ModularIndexing", Function::Indexing)
            .Cases({"Min", "min"}, Function::Min)
            .Cases({"Max", "max"}, Function::Max)
            .Cases({"FloorToInt", "floor"}, Function::Floor)
            .Cases({"CeilToInt", "ceiling", "ceil"}, Function::Ceil)
            .Cases({"TruncToInt", "trunc"}, Function::Trunc)
            .Cases({"Abs", "abs"}, Function::Abs)
            .Cases({"Integer", "Identity", "ToFloat", "sym_float"},
                   Function::Identity)
            .Default(std::nullopt);
    if (!function)
      return fail("unknown function");
    std::vector<Quotient> operands;
    do {
      Expected<Quotient> operand = sum();
      if (!operand)
        return operand;
      operands.push_back(std::move(*operand));
    } while (take(","));
    if (!take(")"))
      return fail("expected ')'");
    return apply(*function, std::move(operands));
  }

  //===--------------------------------------------------------------------===//
  // Functions
  //===--------------------------------------------------------------------===//

  static Quotient add(Quotient a, Quotient b) {
    if (isOne(a.under) && isOne(b.under))
      return {make(Kind::Add, std::move(a.over), std::move(b.over))};
    return {make(Kind::Add, times(a.over, b.under), times(b.over, a.under)),
            times(a.under, b.under)};
  }

  Expected<Quotient> apply(Function function, std::vector<Quotient> operands) {
    size_t count = operands.size();
    auto expect = [&](size_t expected) { return count == expected; };
    auto whole = [&](size_t i) { return std::move(operands[i]).round(); };
    switch (function) {
    case Function::Add:
    case Function::Mul:
    case Function::Min:
    case Function::Max: {
      Quotient result = std::move(operands[0]);
      for (size_t i = 1; i < count; ++i) {
        if (function == Function::Add)
          result = add(std::move(result), std::move(operands[i]));
        else if (function == Function::Mul)
          result = {
              times(std::move(result.over), std::move(operands[i].over)),
              times(std::move(result.under), std::move(operands[i].under))};
        else
          result = {make(function == Function::Min ? Kind::Min : Kind::Max,
                         std::move(result).round(), whole(i))};
      }
      return result;
    }
    case Function::Pow: {
      if (!expect(2))
        return fail("expected two operands");
      SymExpr exponent = whole(1);
      if (exponent.kind != Kind::Number || exponent.number < -8 ||
          exponent.number > 8)
        return fail("expected an exponent from -8 to 8");
      Quotient result{number(1)};
      for (int64_t i = 0; i < std::abs(exponent.number); ++i)
        result = {times(std::move(result.over), operands[0].over),
                  times(std::move(result.under), operands[0].under)};
      if (exponent.number < 0)
        std::swap(result.over, result.under);
      return result;
    }
    case Function::Quotient:
      if (!expect(2))
        return fail("expected two operands");
      return Quotient{
          times(std::move(operands[0].over), std::move(operands[1].under)),
          times(std::move(operands[0].under), std::move(operands[1].over))};
    case Function::FloorDiv:
    case Function::CeilDiv:
    case Function::Mod:
      if (!expect(2))
        return fail("expected two operands");
      return Quotient{make(function == Function::FloorDiv  ? Kind::FloorDiv
                           : function == Function::CeilDiv ? Kind::CeilDiv
                                                           : Kind::Mod,
                           whole(0), whole(1))};
    case Function::Indexing:
      if (!expect(3))
        return fail("expected three operands");
      return Quotient{
          make(Kind::Mod, make(Kind::FloorDiv, whole(0), whole(1)), whole(2))};
    default:
      break;
    }
    if (!expect(1))
      return fail("expected one operand");
    Quotient operand = std::move(operands[0]);
    switch (function) {
    case Function::Floor:
      return Quotient{std::move(operand).round()};
    case Function::Ceil:
      return Quotient{std::move(operand).round(Kind::CeilDiv)};
    case Function::Trunc: {
      // max(floor(x), min(0, ceil(x)))
      if (isOne(operand.under))
        return operand;
      Quotient copy = operand;
      return Quotient{make(
          Kind::Max, std::move(copy).round(),
          make(Kind::Min, number(0), std::move(operand).round(Kind::CeilDiv)))};
    }
    case Function::Abs: {
      SymExpr value = std::move(operand).round();
      SymExpr negative = times(number(-1), value);
      return Quotient{make(Kind::Max, std::move(value), std::move(negative))};
    }
    default:
      return operand;
    }
  }

  StringRef whole, rest;
  unsigned depth = 0;
};
} // namespace

Expected<SymExpr> SymExpr::parse(StringRef text) {
  return Parser(text).parse();
}
