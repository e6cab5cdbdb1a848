//===- Guards.cpp - Conditions between input sizes ---------------------===//
//
// Part of fp8c, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// One grammar in one parser: that is what its length is.
//
//===----------------------------------------------------------------------===//

#include "Guards.h"

#include "Truth.h"

#include "llvm/ADT/StringExtras.h"

using namespace mlir;
using namespace fp8c::import;
using llvm::createStringError;
using llvm::Error;
using llvm::Expected;

/// How deep conditions may nest.
static constexpr unsigned kMaxDepth = 64;

namespace {

/// A condition as Python has it: evaluating it may fail (a division by 0).
struct Condition {
  Truth holds, defined;
};

/// What an expression is: a number, with the condition under which it is
/// defined, or a condition alone.
struct Item {
  OpFoldResult number;
  Condition condition;
  bool isNumber() const { return bool(number); }
};

/// Builds a condition while it reads it: recursive descent in the order of
/// Python's grammar, one function a level of precedence.
class Parser {
public:
  Parser(StringRef text, GraphBuilder &graph,
         llvm::function_ref<OpFoldResult(StringRef, int64_t)> dim)
      : rest(text), logic(graph), arith(graph.arith), dim(dim) {}

  Expected<Value> parse() {
    Expected<Item> item = disjunction();
    if (!item)
      return item.takeError();
    if (!rest.trim().empty())
      return unexpected();
    Condition result = asCondition(*item);
    Truth all = logic.both(result.defined, result.holds);
    if (all.known == true)
      return Value();
    return logic.value(all);
  }

private:
  //===--------------------------------------------------------------------===//
  // Grammar
  //===--------------------------------------------------------------------===//

  Error unexpected() {
    StringRef near = rest.ltrim().take_front(40);
    return createStringError("unexpected '" + near + "'");
  }

  /// Takes a word or operator if it is next; a word must end there.
  bool take(StringRef token) {
    StringRef next = rest.ltrim();
    if (!next.consume_front(token))
      return false;
    if (llvm::isAlpha(token.back()) && !next.empty() &&
        (llvm::isAlnum(next.front()) || next.front() == '_'))
      return false;
    rest = next;
    return true;
  }

  /// An item as a condition; Python's truth of a number is that it is not 0.
  Condition asCondition(const Item &item) {
    if (!item.isNumber())
      return item.condition;
    return {
        logic.compare(arith::CmpIPredicate::ne, item.number, arith.constant(0)),
        item.condition.defined};
  }

  Expected<Item> disjunction() {
    Expected<Item> left = conjunction();
    while (left && take("or")) {
      Expected<Item> right = conjunction();
      if (!right)
        return right;
      Condition a = asCondition(*left), b = asCondition(*right);
      left = Item{{},
                  {logic.either(a.holds, b.holds),
                   logic.both(a.defined, logic.either(a.holds, b.defined))}};
    }
    return left;
  }

  Expected<Item> conjunction() {
    Expected<Item> left = negation();
    while (left && take("and")) {
      Expected<Item> right = negation();
      if (!right)
        return right;
      Condition a = asCondition(*left), b = asCondition(*right);
      left = Item{{},
                  {logic.both(a.holds, b.holds),
                   logic.both(a.defined,
                              logic.either(logic.negate(a.holds), b.defined))}};
    }
    return left;
  }

  Expected<Item> negation() {
    if (!take("not"))
      return comparison();
    bool isNegated = true;
    while (take("not"))
      isNegated = !isNegated;
    Expected<Item> inner = comparison();
    if (!inner)
      return inner;
    Condition result = asCondition(*inner);
    if (isNegated)
      result.holds = logic.negate(result.holds);
    return Item{{}, result};
  }

  std::optional<arith::CmpIPredicate> predicate() {
    using Predicate = arith::CmpIPredicate;
    static const std::pair<StringRef, Predicate> operators[] = {
        {"==", Predicate::eq},  {"!=", Predicate::ne}, {"<=", Predicate::sle},
        {">=", Predicate::sge}, {"<", Predicate::slt}, {">", Predicate::sgt}};
    for (auto [text, result] : operators)
      if (take(text))
        return result;
    return std::nullopt;
  }

  /// `a < b <= c` is `a < b and b <= c`.
  Expected<Item> comparison() {
    Expected<Item> left = sum();
    if (!left)
      return left;
    Item result = *left;
    bool first = true;
    while (std::optional<arith::CmpIPredicate> relation = predicate()) {
      Expected<Item> right = sum();
      if (!right)
        return right;
      if (!left->isNumber() || !right->isNumber())
        return createStringError("expected numbers around a comparison");
      Condition next{
          logic.compare(*relation, left->number, right->number),
          logic.both(left->condition.defined, right->condition.defined)};
      if (!first) {
        next.defined = logic.both(result.condition.defined, next.defined);
        next.holds = logic.both(result.condition.holds, next.holds);
      }
      result = Item{{}, next};
      first = false;
      left = *right;
    }
    return result;
  }

  Expected<Item> sum() {
    Expected<Item> left = term();
    while (left) {
      bool plus = take("+");
      if (!plus && !take("-"))
        break;
      Expected<Item> right = term();
      if (!right)
        return right;
      left = combine(*left, *right, [&](OpFoldResult a, OpFoldResult b) {
        return plus ? arith.add(a, b) : arith.sub(a, b);
      });
    }
    return left;
  }

  Expected<Item> term() {
    Expected<Item> left = factor();
    while (left) {
      bool floors = take("//");
      bool modulo = !floors && take("%");
      if (!floors && !modulo && (rest.ltrim().starts_with("**") || !take("*")))
        break;
      Expected<Item> right = factor();
      if (!right)
        return right;
      if (!floors && !modulo) {
        left = combine(*left, *right, [&](OpFoldResult a, OpFoldResult b) {
          return arith.mul(a, b);
        });
        continue;
      }
      left = floors ? quotient(*left, *right, Rounding::Down)
                    : modulus(*left, *right);
    }
    return left;
  }

  enum class Rounding { Down, Up };

  Expected<Item> quotient(const Item &a, Item b, Rounding rounding) {
    if (Error error = guardDivisor(b))
      return std::move(error);
    return combine(a, b, [&](OpFoldResult x, OpFoldResult y) {
      return rounding == Rounding::Down ? arith.floorDiv(x, y)
                                        : arith.ceilDiv(x, y);
    });
  }

  Expected<Item> modulus(const Item &a, Item b) {
    if (Error error = guardDivisor(b))
      return std::move(error);
    return combine(
        a, b, [&](OpFoldResult x, OpFoldResult y) { return arith.mod(x, y); });
  }

  /// Makes a divisor that may be 0 at least 1, under the condition that it is.
  Error guardDivisor(Item &divisor) {
    if (!divisor.isNumber())
      return createStringError("expected a number as divisor");
    std::optional<int64_t> least = arith.lowerBound(divisor.number);
    if (least && *least > 0)
      return Error::success();
    if (!least || *least < 0)
      return createStringError("a divisor may be negative");
    OpFoldResult zero = arith.constant(0);
    divisor.condition.defined = logic.both(
        divisor.condition.defined,
        logic.compare(arith::CmpIPredicate::ne, divisor.number, zero));
    divisor.number = arith.max(divisor.number, arith.constant(1));
    return Error::success();
  }

  Expected<Item>
  combine(const Item &a, const Item &b,
          llvm::function_ref<OpFoldResult(OpFoldResult, OpFoldResult)> make) {
    if (!a.isNumber() || !b.isNumber())
      return createStringError("expected numbers around an operator");
    Item result;
    result.number = make(a.number, b.number);
    result.condition.defined =
        logic.both(a.condition.defined, b.condition.defined);
    return result;
  }

  Expected<Item> factor() {
    bool isNegated = false;
    while (take("-"))
      isNegated = !isNegated;
    Expected<Item> base = atom();
    if (base && take("**")) {
      int64_t exponent = 0;
      rest = rest.ltrim();
      if (rest.consumeInteger(10, exponent) || exponent < 0 || exponent > 8)
        return createStringError("expected an exponent from 0 to 8");
      Item power{arith.constant(1), base->condition};
      for (int64_t i = 0; base->isNumber() && i < exponent; ++i)
        power.number = arith.mul(power.number, base->number);
      base = power;
    }
    if (base && isNegated)
      return combine(
          Item{arith.constant(0), {}}, *base,
          [&](OpFoldResult a, OpFoldResult b) { return arith.sub(a, b); });
    return base;
  }

  Expected<Item> atom() {
    if (++depth > kMaxDepth)
      return createStringError("nesting deeper than " + Twine(kMaxDepth));
    Expected<Item> result = atomOfDepth();
    --depth;
    return result;
  }

  Expected<Item> atomOfDepth() {
    rest = rest.ltrim();
    if (!rest.empty() && llvm::isDigit(rest.front())) {
      int64_t number = 0;
      if (rest.consumeInteger(10, number))
        return createStringError("a number is too large");
      return Item{arith.constant(number), {}};
    }
    if (take("True"))
      return Item{{}, Condition{Truth{true, {}}, {}}};
    if (take("False"))
      return Item{{}, Condition{Truth{false, {}}, {}}};
    bool isMin = take("min") || take("Min");
    if (isMin || take("max") || take("Max"))
      return extremum(isMin);
    if (rest.starts_with("("))
      return brackets();
    if (rest.consume_front("L["))
      return inputSize();
    for (bool up : {false, true})
      if (take(up ? "math.ceil" : "math.floor"))
        return roundedQuotient(up ? Rounding::Up : Rounding::Down);
    return call();
  }

  /// `(a / b)` after math.floor or math.ceil.
  Expected<Item> roundedQuotient(Rounding rounding) {
    if (!take("("))
      return unexpected();
    Expected<Item> over = sum();
    if (!over)
      return over;
    if (take(")"))
      return over;
    if (!take("/"))
      return unexpected();
    Expected<Item> under = factor();
    if (under && !take(")"))
      return unexpected();
    return under ? quotient(*over, *under, rounding) : std::move(under);
  }

  /// What sympy prints as a function of two numbers: `Eq(Mod(x, 8), 0)`.
  Expected<Item> call() {
    using Predicate = arith::CmpIPredicate;
    static const std::pair<StringRef, Predicate> relations[] = {
        {"Eq", Predicate::eq},  {"Ne", Predicate::ne},  {"Lt", Predicate::slt},
        {"Le", Predicate::sle}, {"Gt", Predicate::sgt}, {"Ge", Predicate::sge}};
    std::optional<Predicate> relation;
    for (auto [name, predicate] : relations)
      if (!relation && take(name))
        relation = predicate;
    bool isMod = !relation && (take("Mod") || take("PythonMod"));
    if (!relation && !isMod && !take("FloorDiv") && !take("CleanDiv"))
      return unexpected();
    if (!take("("))
      return unexpected();
    Expected<Item> a = sum();
    if (!a)
      return a;
    if (!take(","))
      return unexpected();
    Expected<Item> b = sum();
    if (!b)
      return b;
    if (!take(")"))
      return unexpected();
    if (!relation)
      return isMod ? modulus(*a, *b) : quotient(*a, *b, Rounding::Down);
    if (!a->isNumber() || !b->isNumber())
      return createStringError("expected numbers around a comparison");
    return Item{{},
                {logic.compare(*relation, a->number, b->number),
                 logic.both(a->condition.defined, b->condition.defined)}};
  }

  Expected<Item> brackets() {
    rest = rest.drop_front();
    Expected<Item> inner = disjunction();
    if (inner && !take(")"))
      return unexpected();
    return inner;
  }

  Expected<Item> extremum(bool isMin) {
    if (!take("("))
      return unexpected();
    Expected<Item> result = sum();
    while (result && take(",")) {
      Expected<Item> next = sum();
      if (!next)
        return next;
      result = combine(*result, *next, [&](OpFoldResult a, OpFoldResult b) {
        return isMin ? arith.min(a, b) : arith.max(a, b);
      });
    }
    if (result && !take(")"))
      return unexpected();
    return result;
  }

  /// `'x'].size()[0]` or `'x'].shape[0]`, after `L[`. An element of a list or
  /// tuple, `'x'][1].size()[0]`, is the input `x_1`.
  Expected<Item> inputSize() {
    StringRef whole = rest;
    char quote = rest.empty() ? ' ' : rest.front();
    size_t end =
        quote == '\'' || quote == '"' ? rest.find(quote, 1) : StringRef::npos;
    if (end == StringRef::npos)
      return createStringError("expected an input's name after 'L['");
    std::string name = rest.slice(1, end).str();
    rest = rest.drop_front(end + 1);
    int64_t axis = 0, element = 0;
    bool isClosed = take("]");
    while (isClosed && rest.consume_front("[")) {
      isClosed = !rest.consumeInteger(10, element) && take("]");
      name += "_" + std::to_string(element);
    }
    if (!isClosed || !(take(".size()[") || take(".shape[")) ||
        rest.consumeInteger(10, axis) || !take("]")) {
      rest = whole;
      return createStringError("expected a size of an input at 'L[" +
                               rest.take_front(40) + "'");
    }
    OpFoldResult size = dim(name, axis);
    if (!size)
      return createStringError("there is no dim " + Twine(axis) +
                               " of an input '" + name + "'");
    return Item{size, {}};
  }

  StringRef rest;
  Logic logic;
  SizeArith &arith;
  llvm::function_ref<OpFoldResult(StringRef, int64_t)> dim;
  unsigned depth = 0;
};

} // namespace

Expected<Value> fp8c::import::buildGuard(
    StringRef text, GraphBuilder &graph,
    llvm::function_ref<OpFoldResult(StringRef, int64_t)> dim) {
  return Parser(text, graph, dim).parse();
}
