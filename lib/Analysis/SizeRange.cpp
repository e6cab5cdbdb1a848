//===- SizeRange.cpp - What is known of sizes -----------------------------===//
//
// Part of fp8c, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "fp8c/Analysis/SymbolicShape.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/MathExtras.h"

#include <numeric>

using namespace fp8c;

/// The sum of two bounds, none if either is unknown or it overflows.
static std::optional<int64_t> addBounds(std::optional<int64_t> a,
                                        std::optional<int64_t> b) {
  int64_t result;
  if (!a || !b || llvm::AddOverflow(*a, *b, result))
    return std::nullopt;
  return result;
}

/// The product of two bounds.
static std::optional<int64_t> mulBounds(std::optional<int64_t> a,
                                        std::optional<int64_t> b) {
  if ((a && *a == 0) || (b && *b == 0))
    return 0;
  int64_t result;
  if (!a || !b || llvm::MulOverflow(*a, *b, result))
    return std::nullopt;
  return result;
}

SymbolicShape::Range SymbolicShape::getAtomRange(unsigned id) {
  if (id >= ranges.size())
    ranges.resize(atoms.size());
  if (!ranges[id])
    ranges[id] = computeAtomRange(id);
  return *ranges[id];
}

SymbolicShape::Range SymbolicShape::computeAtomRange(unsigned id) {
  Atom atom = atoms[id];
  switch (atom.kind) {
  case Atom::Kind::Symbol: {
    auto it = symbols.find(atom.name);
    if (it == symbols.end())
      return {0, std::nullopt};
    return {it->second.min, it->second.max};
  }
  case Atom::Kind::Value:
    return {};
  case Atom::Kind::Dim:
    return {0, std::nullopt};
  case Atom::Kind::FloorDiv: {
    Range a = getRange(atom.lhs), b = getRange(atom.rhs);
    Range result;
    if (!a.lower || !b.lower || *b.lower <= 0)
      return result;
    if (*a.lower >= 0)
      result.lower = b.upper ? *a.lower / *b.upper : 0;
    else
      result.lower = llvm::divideFloorSigned(*a.lower, *b.lower);
    if (a.upper && *a.upper >= 0)
      result.upper = *a.upper / *b.lower;
    return result;
  }
  case Atom::Kind::Min:
  case Atom::Kind::Max: {
    Range a = getRange(atom.lhs), b = getRange(atom.rhs);
    auto both = [](std::optional<int64_t> x, std::optional<int64_t> y,
                   bool least) -> std::optional<int64_t> {
      if (!x || !y)
        return std::nullopt;
      return least ? std::min(*x, *y) : std::max(*x, *y);
    };
    auto any = [](std::optional<int64_t> x, std::optional<int64_t> y,
                  bool least) -> std::optional<int64_t> {
      if (!x || !y)
        return x ? x : y;
      return least ? std::min(*x, *y) : std::max(*x, *y);
    };
    if (atom.kind == Atom::Kind::Min)
      return {both(a.lower, b.lower, true), any(a.upper, b.upper, true)};
    return {any(a.lower, b.lower, false), both(a.upper, b.upper, false)};
  }
  }
  return {};
}

SymbolicShape::Range SymbolicShape::getRange(SizeExpr expr) {
  Range sum{0, 0};
  for (const SizeTerm &term : expr->terms) {
    Range range{1, 1};
    for (unsigned atom : term.atoms) {
      Range next = getAtomRange(atom);
      // Products of ranges that reach below 0 are not followed.
      if (!range.lower || !next.lower || *range.lower < 0 || *next.lower < 0) {
        if (term.atoms.size() > 1) {
          range = {};
          break;
        }
        range = next;
        continue;
      }
      range = {mulBounds(range.lower, next.lower),
               mulBounds(range.upper, next.upper)};
    }
    Range scaled;
    std::optional<int64_t> factor = term.factor;
    auto times = [&](std::optional<int64_t> bound) {
      return bound ? mulBounds(bound, factor) : std::nullopt;
    };
    scaled = term.factor >= 0 ? Range{times(range.lower), times(range.upper)}
                              : Range{times(range.upper), times(range.lower)};
    sum = {addBounds(sum.lower, scaled.lower),
           addBounds(sum.upper, scaled.upper)};
  }
  return sum;
}

SymbolicShape::Range SymbolicShape::getDifferenceRange(SizeExpr a, SizeExpr b) {
  SizeExpr difference = nullptr;
  if (!attempt([&] { difference = sub(a, b); }))
    return {};
  return getRange(difference);
}

std::optional<int64_t> SymbolicShape::getLowerBound(SizeExpr expr) {
  return getRange(expr).lower;
}

std::optional<int64_t> SymbolicShape::getUpperBound(SizeExpr expr) {
  return getRange(expr).upper;
}

bool SymbolicShape::isMultipleOf(SizeExpr expr, int64_t factor) {
  if (factor == 0)
    return false;
  return llvm::all_of(expr->terms, [&](const SizeTerm &term) {
    // A power of a symbol's multiple only counts what is left of the factor.
    if (term.factor == INT64_MIN)
      return false;
    int64_t left = factor / std::gcd(term.factor, factor);
    for (unsigned atom : term.atoms) {
      auto it = symbols.find(atoms[atom].name);
      if (atoms[atom].kind == Atom::Kind::Symbol && it != symbols.end())
        left /= std::gcd(it->second.multiple, left);
    }
    return left == 1 || left == -1;
  });
}
