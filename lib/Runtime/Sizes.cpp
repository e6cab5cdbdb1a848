//===- Sizes.cpp - Symbols and size expressions of a call -----------------===//
//
// Part of fp8c, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Sizes.h"

#include "PlanText.h"

#include <algorithm>

using namespace fp8c::rt;
using Kind = wire::ExprKind;

Sizes::Sizes(const Program &program)
    : program(program), symbolValues(program.plan().symbols()->size()),
      symbolKnown(program.plan().symbols()->size()),
      symbolOrigins(program.plan().symbols()->size()),
      values(program.plan().exprs()->size()),
      states(program.plan().exprs()->size(), State::Open) {}

void Sizes::setSymbol(uint32_t symbol, int64_t value, std::string origin) {
  symbolValues[symbol] = value;
  symbolKnown[symbol] = true;
  symbolOrigins[symbol] = std::move(origin);
}

/// Division that rounds towards minus infinity.
static int64_t floorDiv(int64_t a, int64_t b) {
  return a / b - (a % b != 0 && (a % b < 0) != (b < 0));
}

Sizes::State Sizes::compute(const wire::Expr &e, int64_t &out) const {
  if (e.kind() == Kind::Const) {
    out = e.value();
    return State::Known;
  }
  if (e.kind() == Kind::Symbol) {
    out = symbolValues[e.lhs()];
    return symbolKnown[e.lhs()] ? State::Known : State::Open;
  }
  State left = states[e.lhs()];
  int64_t a = values[e.lhs()];
  if (e.kind() == Kind::Not) {
    out = !a;
    return left;
  }
  State right = states[e.rhs()];
  int64_t b = values[e.rhs()];
  // One side can decide: "b != 0 and a % b == 0".
  if (e.kind() == Kind::And || e.kind() == Kind::Or) {
    bool decides = e.kind() == Kind::Or;
    if ((left == State::Known && bool(a) == decides) ||
        (right == State::Known && bool(b) == decides)) {
      out = decides;
      return State::Known;
    }
    out = !decides;
  }
  if (left != State::Known)
    return left;
  if (right != State::Known)
    return right;
  bool overflow = false;
  switch (e.kind()) {
  case Kind::Add:
    overflow = __builtin_add_overflow(a, b, &out);
    break;
  case Kind::Sub:
    overflow = __builtin_sub_overflow(a, b, &out);
    break;
  case Kind::Mul:
    overflow = __builtin_mul_overflow(a, b, &out);
    break;
  case Kind::FloorDiv:
  case Kind::CeilDiv:
  case Kind::Mod:
    if (b == 0)
      return State::DividesByZero;
    if (b == -1) { // INT64_MIN / -1 traps
      out = 0;
      overflow =
          e.kind() != Kind::Mod && __builtin_sub_overflow(int64_t(0), a, &out);
    } else if (e.kind() == Kind::FloorDiv) {
      out = floorDiv(a, b);
    } else if (e.kind() == Kind::CeilDiv) {
      out = floorDiv(a, b) + (a % b != 0);
    } else {
      out = a % b;
      if (out != 0 && (out < 0) != (b < 0))
        out += b;
    }
    break;
  case Kind::Min:
    out = a < b ? a : b;
    break;
  case Kind::Max:
    out = a > b ? a : b;
    break;
  case Kind::Eq:
    out = a == b;
    break;
  case Kind::Ne:
    out = a != b;
    break;
  case Kind::Lt:
    out = a < b;
    break;
  case Kind::Le:
    out = a <= b;
    break;
  default:
    break; // And, Or: done above
  }
  return overflow ? State::Overflows : State::Known;
}

void Sizes::evaluate() {
  const auto &exprs = *program.plan().exprs();
  for (uint32_t i = 0; i < exprs.size(); ++i)
    states[i] = compute(*exprs.Get(i), values[i]);
}

int64_t Sizes::get(uint32_t expr, const char *what) const {
  switch (states[expr]) {
  case State::Known:
    return values[expr];
  case State::Open:
    fail(FP8RT_INVALID_PACKAGE, what, ": ", exprText(program.plan(), expr),
         " has a symbol that no input determines");
  case State::DividesByZero:
    fail(FP8RT_GUARD_VIOLATED, what, ": ", exprText(program.plan(), expr),
         " divides by 0");
  case State::Overflows:
    fail(FP8RT_GUARD_VIOLATED, what, ": ", exprText(program.plan(), expr),
         " overflows");
  }
  return 0;
}

/// Says what is wrong with a symbol's value, or nothing.
static std::string rangeViolation(const wire::Symbol &s, int64_t value) {
  std::string name = s.name()->str();
  if (value < s.min() || value > s.max())
    return "expected " + name + " from " + std::to_string(s.min()) +
           (s.max() == INT64_MAX ? " up" : " to " + std::to_string(s.max()));
  if (value % s.multiple())
    return "expected " + name + " to be a multiple of " +
           std::to_string(s.multiple());
  return "";
}

void Sizes::checkRange(uint32_t symbol) const {
  const wire::Symbol &s = *program.plan().symbols()->Get(symbol);
  std::string violation = rangeViolation(s, symbolValues[symbol]);
  require(violation.empty(), FP8RT_GUARD_VIOLATED, "symbol ", s.name()->str(),
          ": got ", symbolValues[symbol], ", ", violation);
}

std::string Sizes::describeSymbols(uint32_t expr) const {
  const auto &exprs = *program.plan().exprs();
  // Operands come before what uses them.
  std::vector<bool> used(expr + 1);
  std::vector<std::string> texts;
  used[expr] = true;
  for (uint32_t i = expr + 1; i-- > 0;) {
    const wire::Expr &e = *exprs.Get(i);
    if (!used[i] || e.kind() == Kind::Const)
      continue;
    if (e.kind() != Kind::Symbol) {
      used[e.lhs()] = true;
      if (e.kind() != Kind::Not)
        used[e.rhs()] = true;
      continue;
    }
    const std::string &origin = symbolOrigins[e.lhs()];
    texts.push_back(exprText(program.plan(), i) + " = " +
                    std::to_string(values[i]) +
                    (origin.empty() ? "" : " (" + origin + ")"));
  }
  std::sort(texts.begin(), texts.end());
  texts.erase(std::unique(texts.begin(), texts.end()), texts.end());
  std::string all;
  for (const std::string &text : texts)
    all += (all.empty() ? "" : ", ") + text;
  return all;
}

void Sizes::checkGuards() const {
  for (const wire::Check *check : *program.plan().checks()) {
    uint32_t condition = check->condition();
    if (isOpen(condition) || (isKnown(condition) && values[condition] != 0))
      continue;
    const wire::Expr &e = *program.plan().exprs()->Get(condition);
    std::ostringstream os;
    os << check->message()->str() << ": "
       << exprText(program.plan(), condition);
    if (states[condition] == State::DividesByZero)
      os << " divides by 0";
    else if (states[condition] == State::Overflows)
      os << " overflows";
    else if (e.kind() >= Kind::Eq && e.kind() <= Kind::Le)
      os << " does not hold: got " << values[e.lhs()] << " and "
         << values[e.rhs()];
    else
      os << " does not hold";
    std::string symbols = describeSymbols(condition);
    if (!symbols.empty())
      os << ", with " << symbols;
    if (check->location() && check->location()->size())
      os << "; at " << check->location()->str();
    throw Error(FP8RT_GUARD_VIOLATED, os.str());
  }
}

namespace {
/// What solving one dim for a symbol gave.
struct Solution {
  uint32_t symbol = kNone;
  int64_t value = 0;
  /// Not 0: the dim must be a multiple of it and is not.
  int64_t factor = 0;
};
} // namespace

/// Solves `expr` == `target` for the one symbol in it that is open, through
/// additions, subtractions and multiplications by known numbers.
static Solution invert(const wire::Plan &plan, const Sizes &sizes,
                       uint32_t expr, int64_t target) {
  Solution solution;
  while (true) {
    const wire::Expr &e = *plan.exprs()->Get(expr);
    if (e.kind() == Kind::Symbol) {
      solution.symbol = e.lhs();
      solution.value = target;
      return solution;
    }
    if (e.kind() != Kind::Add && e.kind() != Kind::Sub && e.kind() != Kind::Mul)
      return {};
    bool openLeft = sizes.isOpen(e.lhs());
    uint32_t known = openLeft ? e.rhs() : e.lhs();
    if (!sizes.isKnown(known))
      return {};
    int64_t k = sizes.get(known, "");
    bool overflow = false;
    if (e.kind() == Kind::Add)
      overflow = __builtin_sub_overflow(target, k, &target);
    else if (e.kind() == Kind::Sub && openLeft)
      overflow = __builtin_add_overflow(target, k, &target);
    else if (e.kind() == Kind::Sub)
      overflow = __builtin_sub_overflow(k, target, &target);
    else if (k == 0 || k == -1)
      return {};
    else if (target % k != 0)
      return {kNone, 0, k};
    else
      target /= k;
    if (overflow)
      return {};
    expr = openLeft ? e.lhs() : e.rhs();
  }
}

Sizes fp8c::rt::solveSizes(const Program &program, const EntryPoint &entry,
                           const int64_t *dims) {
  const wire::Plan &plan = program.plan();
  Sizes sizes(program);
  sizes.evaluate();
  // Calls `visit(input, dim, expression, got)` for every dim.
  auto forEachDim = [&](auto visit) {
    const int64_t *next = dims;
    for (const wire::Input *input : *entry.wire->inputs()) {
      const auto &exprs = *plan.values()->Get(input->value())->dims();
      for (uint32_t d = 0; d < exprs.size(); ++d)
        visit(input->name()->c_str(), d, exprs.Get(d), *next++);
    }
  };
  bool progress = true;
  while (progress) {
    progress = false;
    forEachDim([&](const char *name, uint32_t d, uint32_t expr, int64_t got) {
      if (!sizes.isOpen(expr))
        return;
      Solution solution = invert(plan, sizes, expr, got);
      require(!solution.factor, FP8RT_MISMATCH, "input \"", name, "\": dim ", d,
              ": got ", got, ", expected a multiple of ", solution.factor, " (",
              exprText(program.plan(), expr), ")");
      if (solution.symbol == kNone)
        return;
      const wire::Symbol &s = *plan.symbols()->Get(solution.symbol);
      std::string violation = rangeViolation(s, solution.value);
      require(violation.empty(), FP8RT_GUARD_VIOLATED, "input \"", name,
              "\": dim ", d, ": got ", got,
              solution.value == got ? ""
                                    : ", so " + s.name()->str() + " = " +
                                          std::to_string(solution.value),
              ", ", violation);
      sizes.setSymbol(solution.symbol, solution.value,
                      "dim " + std::to_string(d) + " of input \"" + name +
                          "\"");
      sizes.evaluate();
      progress = true;
    });
  }
  forEachDim([&](const char *name, uint32_t d, uint32_t expr, int64_t got) {
    int64_t expected = sizes.get(expr, name);
    if (got == expected)
      return;
    std::string text = exprText(program.plan(), expr);
    fail(FP8RT_MISMATCH, "input \"", name, "\": dim ", d, ": got ", got,
         ", expected ", expected,
         text == std::to_string(expected) ? "" : " (" + text + ")");
  });
  sizes.checkGuards();
  return sizes;
}
