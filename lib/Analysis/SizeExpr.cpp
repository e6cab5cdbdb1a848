//===- SizeExpr.cpp - Arithmetic on interned sizes ------------------------===//
//
// Part of fp8c, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The part of SymbolicShape that knows no IR: polynomials.
//
//===----------------------------------------------------------------------===//

#include "fp8c/Analysis/SymbolicShape.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/MathExtras.h"

#include <utility>

using namespace fp8c;

/// Graded lexicographic order of monomials, in which division of polynomials
/// ends.
static int compareMonomials(const std::vector<unsigned> &a,
                            const std::vector<unsigned> &b) {
  if (a.size() != b.size())
    return a.size() < b.size() ? -1 : 1;
  if (a == b)
    return 0;
  return std::lexicographical_compare(a.begin(), a.end(), b.begin(), b.end())
             ? 1
             : -1;
}

bool SizeTerm::operator<(const SizeTerm &other) const {
  if (int order = compareMonomials(atoms, other.atoms))
    return order < 0;
  return factor < other.factor;
}

//===----------------------------------------------------------------------===//
// Interning
//===----------------------------------------------------------------------===//

/// How many terms a product and how many factors a term may have.
static constexpr size_t kMaxTerms = 4096, kMaxFactors = 64;

bool SymbolicShape::attempt(llvm::function_ref<void()> compute) {
  bool before = std::exchange(broken, false);
  compute();
  return !std::exchange(broken, before);
}

SizeExpr SymbolicShape::intern(std::vector<SizeTerm> terms) {
  llvm::sort(terms, [](const SizeTerm &a, const SizeTerm &b) {
    return compareMonomials(a.atoms, b.atoms) > 0;
  });
  std::vector<SizeTerm> merged;
  for (SizeTerm &term : terms) {
    if (!merged.empty() && merged.back().atoms == term.atoms)
      broken |= llvm::AddOverflow(merged.back().factor, term.factor,
                                  merged.back().factor);
    else
      merged.push_back(std::move(term));
    if (merged.back().factor == 0)
      merged.pop_back();
  }
  auto [it, isNew] = interned.try_emplace(merged);
  if (isNew) {
    it->second = std::make_unique<SizeExprNode>();
    it->second->terms = it->first;
  }
  return it->second.get();
}

unsigned SymbolicShape::getAtom(Atom atom) {
  if (atom.kind == Atom::Kind::Symbol) {
    auto [it, isNew] = symbolIds.try_emplace(atom.name, atoms.size());
    if (isNew)
      atoms.push_back(std::move(atom));
    return it->second;
  }
  std::vector<uint64_t> key = {
      static_cast<uint64_t>(atom.kind),
      reinterpret_cast<uint64_t>(atom.value.getAsOpaquePointer()), atom.dim,
      reinterpret_cast<uint64_t>(atom.lhs),
      reinterpret_cast<uint64_t>(atom.rhs)};
  auto [it, isNew] = atomIds.try_emplace(key, atoms.size());
  if (isNew)
    atoms.push_back(std::move(atom));
  return it->second;
}

SizeExpr SymbolicShape::atomExpr(unsigned atom) {
  return intern({SizeTerm{{atom}, 1}});
}

SizeExpr SymbolicShape::constant(int64_t value) {
  return intern({SizeTerm{{}, value}});
}

SizeExpr SymbolicShape::symbol(llvm::StringRef name) {
  Atom atom;
  atom.kind = Atom::Kind::Symbol;
  atom.name = name.str();
  return atomExpr(getAtom(std::move(atom)));
}

std::optional<int64_t> SymbolicShape::getConstant(SizeExpr expr) {
  if (expr->terms.empty())
    return 0;
  if (expr->terms.size() == 1 && expr->terms[0].atoms.empty())
    return expr->terms[0].factor;
  return std::nullopt;
}

bool SymbolicShape::isConstant(SizeExpr expr, int64_t value) {
  std::optional<int64_t> known = getConstant(expr);
  return known && *known == value;
}

//===----------------------------------------------------------------------===//
// Arithmetic
//===----------------------------------------------------------------------===//

SizeExpr SymbolicShape::add(SizeExpr a, SizeExpr b) {
  std::vector<SizeTerm> terms = a->terms;
  terms.insert(terms.end(), b->terms.begin(), b->terms.end());
  return intern(std::move(terms));
}

SizeExpr SymbolicShape::sub(SizeExpr a, SizeExpr b) {
  return add(a, mul(constant(-1), b));
}

SizeExpr SymbolicShape::mul(SizeExpr a, SizeExpr b) {
  std::vector<SizeTerm> terms;
  if (a->terms.size() * b->terms.size() > kMaxTerms) {
    broken = true;
    return constant(0);
  }
  for (const SizeTerm &x : a->terms)
    for (const SizeTerm &y : b->terms) {
      SizeTerm term{x.atoms, 0};
      broken |= llvm::MulOverflow(x.factor, y.factor, term.factor) ||
                x.atoms.size() + y.atoms.size() > kMaxFactors;
      term.atoms.insert(term.atoms.end(), y.atoms.begin(), y.atoms.end());
      llvm::sort(term.atoms);
      terms.push_back(std::move(term));
    }
  return intern(std::move(terms));
}

SizeExpr SymbolicShape::product(llvm::ArrayRef<SizeExpr> factors) {
  SizeExpr result = constant(1);
  for (SizeExpr factor : factors)
    result = mul(result, factor);
  return result;
}

/// The quotient of two terms, or none if it is no term.
static std::optional<SizeTerm> divideTerms(const SizeTerm &a,
                                           const SizeTerm &b) {
  // The smallest integer divided by -1 has no representation.
  if (b.factor == 0 || (b.factor == -1 && a.factor == INT64_MIN) ||
      a.factor % b.factor != 0 ||
      !std::includes(a.atoms.begin(), a.atoms.end(), b.atoms.begin(),
                     b.atoms.end()))
    return std::nullopt;
  SizeTerm result{{}, a.factor / b.factor};
  std::set_difference(a.atoms.begin(), a.atoms.end(), b.atoms.begin(),
                      b.atoms.end(), std::back_inserter(result.atoms));
  return result;
}

SizeExpr SymbolicShape::exactDiv(SizeExpr a, SizeExpr b) {
  if (b->terms.empty())
    return nullptr;
  SizeExpr rest = a;
  std::vector<SizeTerm> quotient;
  while (!rest->terms.empty()) {
    std::optional<SizeTerm> term =
        divideTerms(rest->terms.front(), b->terms.front());
    if (!term || quotient.size() > 64)
      return nullptr;
    quotient.push_back(*term);
    if (!attempt([&] { rest = sub(rest, mul(intern({*term}), b)); }))
      return nullptr;
  }
  return intern(std::move(quotient));
}

SizeExpr SymbolicShape::floorDiv(SizeExpr a, SizeExpr b) {
  std::optional<int64_t> x = getConstant(a), y = getConstant(b);
  if (x && y && *y != 0 && (*y != -1 || *x != INT64_MIN))
    return constant(llvm::divideFloorSigned(*x, *y));
  if (y && *y == 1)
    return a;
  if (SizeExpr exact = exactDiv(a, b))
    return exact;
  // (q * b + r) floordiv b = q + r floordiv b.
  if (y && *y > 0) {
    std::vector<SizeTerm> whole, rest;
    for (const SizeTerm &term : a->terms) {
      if (term.factor % *y == 0) {
        whole.push_back({term.atoms, term.factor / *y});
      } else if (term.atoms.empty()) {
        int64_t quotient = llvm::divideFloorSigned(term.factor, *y);
        if (quotient != 0)
          whole.push_back({{}, quotient});
        rest.push_back({{}, term.factor - quotient * *y});
      } else {
        rest.push_back(term);
      }
    }
    if (!whole.empty()) {
      SizeExpr quotient = intern(std::move(whole));
      return add(quotient, floorDiv(intern(std::move(rest)), b));
    }
  }
  Range ranges[2] = {getRange(a), getRange(b)};
  if (ranges[0].lower && ranges[0].upper && ranges[1].lower &&
      *ranges[0].lower >= 0 && *ranges[0].upper < *ranges[1].lower)
    return constant(0);
  Atom atom;
  atom.kind = Atom::Kind::FloorDiv;
  atom.lhs = a;
  atom.rhs = b;
  return atomExpr(getAtom(std::move(atom)));
}

SizeExpr SymbolicShape::ceilDiv(SizeExpr a, SizeExpr b) {
  std::optional<int64_t> lower = getLowerBound(b);
  if (lower && *lower > 0)
    return floorDiv(add(a, sub(b, constant(1))), b);
  return sub(constant(0), floorDiv(sub(constant(0), a), b));
}

SizeExpr SymbolicShape::mod(SizeExpr a, SizeExpr b) {
  return sub(a, mul(b, floorDiv(a, b)));
}

SizeExpr SymbolicShape::extreme(Atom::Kind kind, SizeExpr a, SizeExpr b) {
  Range difference = getDifferenceRange(a, b);
  bool isMin = kind == Atom::Kind::Min;
  if (difference.upper && *difference.upper <= 0)
    return isMin ? a : b;
  if (difference.lower && *difference.lower >= 0)
    return isMin ? b : a;
  Atom atom;
  atom.kind = kind;
  bool swap = b->terms < a->terms;
  atom.lhs = swap ? b : a;
  atom.rhs = swap ? a : b;
  return atomExpr(getAtom(std::move(atom)));
}

SizeExpr SymbolicShape::min(SizeExpr a, SizeExpr b) {
  return extreme(Atom::Kind::Min, a, b);
}

SizeExpr SymbolicShape::max(SizeExpr a, SizeExpr b) {
  return extreme(Atom::Kind::Max, a, b);
}
