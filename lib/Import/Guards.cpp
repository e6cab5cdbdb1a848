//===- Guards.cpp - Conditions between input sizes ------------------------===//
//
// Part of fp8c, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Guards.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "llvm/ADT/StringExtras.h"

using namespace mlir;
using namespace fp8c::import;
using llvm::StringRef;

namespace {
/// A size, or a condition: exactly one is set. A condition known to hold is
/// an i1 constant too.
struct Term {
  OpFoldResult size;
  Value condition;
};

/// A recursive descent parser that builds as it reads. The first error stops
/// it: `why` is set and every further result is null.
class Parser {
public:
  using DimLookup = llvm::function_ref<OpFoldResult(StringRef, int64_t)>;

  Parser(StringRef text, GraphBuilder &graph, DimLookup dim)
      : rest(text), graph(graph), arith(graph.arith), dim(dim) {}

  std::string why;

  Value parse() {
    Term result = disjunction();
    if (why.empty() && !rest.trim().empty())
      fail("unexpected '" + rest.trim().take_front(20) + "'");
    return condition(result);
  }

private:
  template <typename T = Term> T fail(const llvm::Twine &what) {
    if (why.empty())
      why = what.str();
    return {};
  }

  bool consume(StringRef token) {
    rest = rest.ltrim();
    if (!rest.starts_with(token))
      return false;
    // A word ends where no letter follows.
    if (llvm::isAlpha(token.back()) && rest.size() > token.size() &&
        (llvm::isAlnum(rest[token.size()]) || rest[token.size()] == '_'))
      return false;
    rest = rest.drop_front(token.size());
    return true;
  }

  void expect(StringRef token) {
    if (why.empty() && !consume(token))
      fail("expected '" + token + "'");
  }

  Value condition(Term term) {
    if (why.empty() && !term.condition)
      fail("expected a condition");
    return term.condition;
  }

  OpFoldResult size(Term term) {
    if (why.empty() && !term.size)
      fail("expected a size");
    return why.empty() ? term.size : OpFoldResult(arith.constant(0));
  }

  OpBuilder &builder() { return graph.getBuilder(); }

  Term disjunction() {
    Term result = conjunction();
    while (why.empty() && consume("or")) {
      Value a = condition(result), b = condition(conjunction());
      if (why.empty())
        result = {{}, arith::OrIOp::create(builder(), graph.getLoc(), a, b)};
    }
    return result;
  }

  Term conjunction() {
    Term result = negation();
    while (why.empty() && consume("and")) {
      Value a = condition(result), b = condition(negation());
      if (why.empty())
        result = {{}, arith::AndIOp::create(builder(), graph.getLoc(), a, b)};
    }
    return result;
  }

  Term negation() {
    if (++depth > 64)
      return fail("nesting deeper than 64");
    if (!consume("not")) {
      Term result = comparison();
      --depth;
      return result;
    }
    Value value = condition(negation());
    --depth;
    if (!why.empty())
      return {};
    Value one = arith::ConstantIntOp::create(builder(), graph.getLoc(), 1, 1);
    return {{}, arith::XOrIOp::create(builder(), graph.getLoc(), value, one)};
  }

  std::optional<arith::CmpIPredicate> predicate() {
    using P = arith::CmpIPredicate;
    for (auto [token, result] :
         {std::pair("==", P::eq), std::pair("!=", P::ne),
          std::pair("<=", P::sle), std::pair(">=", P::sge),
          std::pair("<", P::slt), std::pair(">", P::sgt)})
      if (consume(token))
        return result;
    return std::nullopt;
  }

  Term comparison() {
    Term left = sum();
    Value all;
    while (why.empty()) {
      auto kind = predicate();
      if (!kind)
        break;
      Term right = sum();
      OpFoldResult a = size(left), b = size(right);
      if (!why.empty())
        return {};
      Value one = arith::CmpIOp::create(builder(), graph.getLoc(), *kind,
                                        arith.value(a), arith.value(b));
      all = all ? Value(arith::AndIOp::create(builder(), graph.getLoc(), all,
                                              one))
                : one;
      left = right;
    }
    return all ? Term{{}, all} : left;
  }

  Term sum() {
    Term result = product();
    while (why.empty()) {
      bool plus = consume("+");
      if (!plus && !consume("-"))
        break;
      OpFoldResult a = size(result), b = size(product());
      result = {plus ? arith.add(a, b) : arith.sub(a, b), {}};
    }
    return result;
  }

  Term product() {
    Term result = unary();
    while (why.empty()) {
      enum { Mul, Div, Mod } kind;
      if (consume("//"))
        kind = Div;
      else if (consume("*"))
        kind = Mul;
      else if (consume("%"))
        kind = Mod;
      else
        break;
      OpFoldResult a = size(result), b = size(unary());
      if (!why.empty())
        break;
      if (kind != Mul && arith.getConstant(b) == 0)
        return fail("division by 0");
      result = {kind == Mul   ? arith.mul(a, b)
                : kind == Div ? arith.floorDiv(a, b)
                              : arith.mod(a, b),
                {}};
    }
    return result;
  }

  Term unary() {
    if (!consume("-"))
      return atom();
    if (++depth > 64)
      return fail("nesting deeper than 64");
    OpFoldResult value = size(unary());
    --depth;
    return {arith.sub(arith.constant(0), value), {}};
  }

  Term atom() {
    if (consume("(")) {
      Term result = disjunction();
      expect(")");
      return result;
    }
    if (consume("L["))
      return inputSize();
    for (bool isMin : {true, false})
      if (consume(isMin ? "min" : "max") || consume(isMin ? "Min" : "Max")) {
        expect("(");
        OpFoldResult result = size(sum());
        while (why.empty() && consume(",")) {
          OpFoldResult next = size(sum());
          result = isMin ? arith.min(result, next) : arith.max(result, next);
        }
        expect(")");
        return {result, {}};
      }
    rest = rest.ltrim();
    int64_t number;
    if (rest.empty() || rest.consumeInteger(10, number))
      return fail("expected a size, found '" + rest.take_front(20) + "'");
    return {arith.constant(number), {}};
  }

  /// 'x'].size()[0], after "L[".
  Term inputSize() {
    rest = rest.ltrim();
    if (rest.empty() || (rest.front() != '\'' && rest.front() != '"'))
      return fail("expected a quoted input name");
    char quote = rest.front();
    size_t end = rest.find(quote, 1);
    if (end == StringRef::npos)
      return fail("expected the end of an input name");
    StringRef name = rest.slice(1, end);
    rest = rest.drop_front(end + 1);
    expect("]");
    expect(".size()[");
    int64_t index;
    if (!why.empty())
      return {};
    if (rest.consumeInteger(10, index))
      return fail("expected a dim");
    expect("]");
    OpFoldResult result = dim(name, index);
    if (!result)
      return fail("no input '" + name + "' with dim " + llvm::Twine(index));
    return {result, {}};
  }

  StringRef rest;
  GraphBuilder &graph;
  SizeArith &arith;
  DimLookup dim;
  unsigned depth = 0;
};
} // namespace

llvm::Expected<Value> fp8c::import::buildGuard(StringRef text,
                                               GraphBuilder &graph,
                                               Parser::DimLookup dim) {
  Parser parser(text, graph, dim);
  Value condition = parser.parse();
  if (!parser.why.empty())
    return llvm::createStringError(parser.why);
  return condition;
}
