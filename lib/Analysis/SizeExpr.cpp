//===- SizeExpr.cpp - Arithmetic on interned sizes ------------------------===//
//
// Part of fp8c, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The half of SymbolicShape that knows no IR: polynomials, their ranges and
// their text.
//
//===----------------------------------------------------------------------===//

#include "fp8c/Analysis/SymbolicShape.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/MathExtras.h"

#include <numeric>

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

SizeExpr SymbolicShape::intern(std::vector<SizeTerm> terms) {
  llvm::sort(terms, [](const SizeTerm &a, const SizeTerm &b) {
    return compareMonomials(a.atoms, b.atoms) > 0;
  });
  std::vector<SizeTerm> merged;
  for (SizeTerm &term : terms) {
    if (!merged.empty() && merged.back().atoms == term.atoms)
      merged.back().factor =
          static_cast<int64_t>(static_cast<uint64_t>(merged.back().factor) +
                               static_cast<uint64_t>(term.factor));
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
  for (const SizeTerm &x : a->terms)
    for (const SizeTerm &y : b->terms) {
      SizeTerm term{x.atoms,
                    static_cast<int64_t>(static_cast<uint64_t>(x.factor) *
                                         static_cast<uint64_t>(y.factor))};
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
  if (b.factor == 0 || b.factor == -1 || a.factor % b.factor != 0 ||
      !std::includes(a.atoms.begin(), a.atoms.end(), b.atoms.begin(),
                     b.atoms.end()))
    return std::nullopt;
  SizeTerm result{{}, a.factor / b.factor};
  std::set_difference(a.atoms.begin(), a.atoms.end(), b.atoms.begin(),
                      b.atoms.end(), std::back_inserter(result.atoms));
  return result;
}

SizeExpr SymbolicShape::divideExactly(SizeExpr a, SizeExpr b) {
  SizeExpr rest = a;
  std::vector<SizeTerm> quotient;
  while (!rest->terms.empty()) {
    std::optional<SizeTerm> term =
        divideTerms(rest->terms.front(), b->terms.front());
    if (!term || quotient.size() > 64)
      return nullptr;
    quotient.push_back(*term);
    rest = sub(rest, mul(intern({*term}), b));
  }
  return intern(std::move(quotient));
}

SizeExpr SymbolicShape::floorDiv(SizeExpr a, SizeExpr b) {
  std::optional<int64_t> x = getConstant(a), y = getConstant(b);
  if (x && y && *y > 0)
    return constant(llvm::divideFloorSigned(*x, *y));
  if (y && *y == 1)
    return a;
  if (!b->terms.empty())
    if (SizeExpr exact = divideExactly(a, b))
      return exact;
  // (q * b + r) floordiv b = q + r floordiv b.
  if (y && *y > 0) {
    std::vector<SizeTerm> whole, rest;
    for (const SizeTerm &term : a->terms) {
      if (term.factor % *y == 0) {
        whole.push_back({term.atoms, term.factor / *y});
      } else if (term.atoms.empty()) {
        int64_t quotient = llvm::divideFloorSigned(term.factor, *y);
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
  return floorDiv(add(a, sub(b, constant(1))), b);
}

SizeExpr SymbolicShape::mod(SizeExpr a, SizeExpr b) {
  return sub(a, mul(b, floorDiv(a, b)));
}

SizeExpr SymbolicShape::min(SizeExpr a, SizeExpr b) {
  Range difference = getRange(sub(a, b));
  if (difference.upper && *difference.upper <= 0)
    return a;
  if (difference.lower && *difference.lower >= 0)
    return b;
  Atom atom;
  atom.kind = Atom::Kind::Min;
  bool swap = b->terms < a->terms;
  atom.lhs = swap ? b : a;
  atom.rhs = swap ? a : b;
  return atomExpr(getAtom(std::move(atom)));
}

SizeExpr SymbolicShape::max(SizeExpr a, SizeExpr b) {
  Range difference = getRange(sub(a, b));
  if (difference.upper && *difference.upper <= 0)
    return b;
  if (difference.lower && *difference.lower >= 0)
    return a;
  Atom atom;
  atom.kind = Atom::Kind::Max;
  bool swap = b->terms < a->terms;
  atom.lhs = swap ? b : a;
  atom.rhs = swap ? a : b;
  return atomExpr(getAtom(std::move(atom)));
}

//===----------------------------------------------------------------------===//
// Ranges
//===----------------------------------------------------------------------===//

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
    int64_t left = factor / std::gcd(term.factor, factor);
    for (unsigned atom : term.atoms) {
      auto it = symbols.find(atoms[atom].name);
      if (atoms[atom].kind == Atom::Kind::Symbol && it != symbols.end())
        left /= std::gcd(it->second.multiple, left);
    }
    return left == 1 || left == -1;
  });
}

//===----------------------------------------------------------------------===//
// Text
//===----------------------------------------------------------------------===//

std::string SymbolicShape::str(SizeExpr expr) const {
  auto atomText = [&](unsigned id) -> std::string {
    const Atom &atom = atoms[id];
    switch (atom.kind) {
    case Atom::Kind::Symbol:
      return atom.name;
    case Atom::Kind::Value:
      return "v" + std::to_string(id);
    case Atom::Kind::Dim:
      return "d" + std::to_string(id);
    case Atom::Kind::FloorDiv:
      return "((" + str(atom.lhs) + ")//(" + str(atom.rhs) + "))";
    case Atom::Kind::Min:
      return "min(" + str(atom.lhs) + ", " + str(atom.rhs) + ")";
    case Atom::Kind::Max:
      return "max(" + str(atom.lhs) + ", " + str(atom.rhs) + ")";
    }
    return "?";
  };
  if (expr->terms.empty())
    return "0";
  std::string text;
  for (const SizeTerm &term : expr->terms) {
    int64_t factor = term.factor;
    if (!text.empty()) {
      text += factor < 0 ? " - " : " + ";
      factor = factor < 0 ? -factor : factor;
    }
    std::vector<std::string> factors;
    if (factor == -1 && !term.atoms.empty())
      text += "-";
    else if (factor != 1 || term.atoms.empty())
      factors.push_back(std::to_string(factor));
    for (unsigned atom : term.atoms)
      factors.push_back(atomText(atom));
    text += llvm::join(factors, "*");
  }
  return text;
}

namespace {
/// Recursive descent over the text of a size.
class SizeParser {
public:
  SizeParser(SymbolicShape &shapes, llvm::StringRef text)
      : shapes(shapes), text(text) {}

  SizeExpr parseAll() {
    SizeExpr expr = parseSum();
    return expr && text.trim().empty() ? expr : nullptr;
  }

private:
  bool take(llvm::StringRef token) {
    text = text.ltrim();
    return text.consume_front(token);
  }

  SizeExpr parseSum() {
    if (++depth > 256)
      return nullptr;
    bool negative = take("-");
    SizeExpr left = parseProduct();
    if (left && negative)
      left = shapes.sub(shapes.constant(0), left);
    while (left) {
      bool isSum = take("+");
      if (!isSum && !take("-"))
        break;
      SizeExpr right = parseProduct();
      if (!right)
        return nullptr;
      left = isSum ? shapes.add(left, right) : shapes.sub(left, right);
    }
    --depth;
    return left;
  }

  SizeExpr parseProduct() {
    SizeExpr left = parseFactor();
    while (left) {
      char op = take("*") ? '*' : take("//") ? '/' : take("%") ? '%' : 0;
      if (!op)
        break;
      SizeExpr right = parseFactor();
      if (!right)
        return nullptr;
      left = op == '*'   ? shapes.mul(left, right)
             : op == '/' ? shapes.floorDiv(left, right)
                         : shapes.mod(left, right);
    }
    return left;
  }

  SizeExpr parseFactor() {
    if (take("(")) {
      SizeExpr inner = parseSum();
      return inner && take(")") ? inner : nullptr;
    }
    text = text.ltrim();
    llvm::StringRef word =
        text.take_while([](char c) { return llvm::isAlnum(c) || c == '_'; });
    text = text.drop_front(word.size());
    int64_t number;
    if (word.empty())
      return nullptr;
    if (!word.getAsInteger(10, number))
      return shapes.constant(number);
    if (llvm::isDigit(word.front()))
      return nullptr;
    if ((word == "min" || word == "max" || word == "ceildiv") && take("(")) {
      SizeExpr left = parseSum();
      if (!left || !take(","))
        return nullptr;
      SizeExpr right = parseSum();
      if (!right || !take(")"))
        return nullptr;
      return word == "min"   ? shapes.min(left, right)
             : word == "max" ? shapes.max(left, right)
                             : shapes.ceilDiv(left, right);
    }
    return shapes.symbol(word);
  }

  SymbolicShape &shapes;
  llvm::StringRef text;
  unsigned depth = 0;
};
} // namespace

SizeExpr SymbolicShape::parse(llvm::StringRef text) {
  return SizeParser(*this, text).parseAll();
}
