//===- SizeArith.cpp - Arithmetic on sizes --------------------------------===//
//
// Part of fp8c, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "fp8c/Import/SizeArith.h"

#include "fp8c/Dialect/FP8/FP8.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace fp8c;
using namespace fp8c::import;

Location SizeArith::location() { return loc ? *loc : builder.getUnknownLoc(); }

//===----------------------------------------------------------------------===//
// Polynomials
//===----------------------------------------------------------------------===//

unsigned SizeArith::atom(Value value) {
  auto [it, isNew] = atomIds.try_emplace(value, atoms.size());
  if (isNew)
    atoms.push_back(value);
  return it->second;
}

void SizeArith::accumulate(Poly &into, const Poly &from, int64_t factor) {
  for (const auto &[monomial, coefficient] : from) {
    int64_t &sum = into[monomial];
    sum += coefficient * factor;
    if (sum == 0)
      into.erase(monomial);
  }
}

SizeArith::Poly SizeArith::multiply(const Poly &a, const Poly &b) {
  Poly result;
  for (const auto &[ma, ca] : a)
    for (const auto &[mb, cb] : b) {
      Monomial merged(ma.size() + mb.size());
      std::merge(ma.begin(), ma.end(), mb.begin(), mb.end(), merged.begin());
      accumulate(result, Poly{{merged, ca * cb}}, 1);
    }
  return result;
}

/// Exact division. The divisor is one product, or the dividend is a multiple of
/// it term by term by one product.
std::optional<SizeArith::Poly> SizeArith::divide(const Poly &a, const Poly &b) {
  if (a == b)
    return Poly{{{}, 1}};
  if (b.empty())
    return std::nullopt;
  if (b.size() != 1) {
    // Try a = b * (one product): the quotient of the leading terms.
    if (a.size() != b.size())
      return std::nullopt;
    std::optional<Poly> first = divide(Poly{*a.rbegin()}, Poly{*b.rbegin()});
    if (!first || multiply(b, *first) != a)
      return std::nullopt;
    return first;
  }
  const auto &[divisor, factor] = *b.begin();
  Poly result;
  for (const auto &[monomial, coefficient] : a) {
    if (coefficient % factor != 0 ||
        !std::includes(monomial.begin(), monomial.end(), divisor.begin(),
                       divisor.end()))
      return std::nullopt;
    Monomial rest;
    std::set_difference(monomial.begin(), monomial.end(), divisor.begin(),
                        divisor.end(), std::back_inserter(rest));
    result[rest] = coefficient / factor;
  }
  return result;
}

std::optional<int64_t> SizeArith::asConstant(const Poly &poly) {
  if (poly.empty())
    return 0;
  if (poly.size() == 1 && poly.begin()->first.empty())
    return poly.begin()->second;
  return std::nullopt;
}

SizeArith::Poly SizeArith::toPoly(OpFoldResult size) {
  if (std::optional<int64_t> number = getConstantIntValue(size))
    return *number ? Poly{{{}, *number}} : Poly{};
  Value value = cast<Value>(size);
  if (atomIds.count(value))
    return Poly{{{atomIds[value]}, 1}};
  Poly result;
  Operation *op = value.getDefiningOp();
  if (auto sum = dyn_cast_or_null<arith::AddIOp>(op)) {
    result = toPoly(sum.getLhs());
    accumulate(result, toPoly(sum.getRhs()), 1);
  } else if (auto difference = dyn_cast_or_null<arith::SubIOp>(op)) {
    result = toPoly(difference.getLhs());
    accumulate(result, toPoly(difference.getRhs()), -1);
  } else if (auto product = dyn_cast_or_null<arith::MulIOp>(op)) {
    result = multiply(toPoly(product.getLhs()), toPoly(product.getRhs()));
  } else {
    return Poly{{{atom(value)}, 1}};
  }
  values.try_emplace(result, value);
  return result;
}

OpFoldResult SizeArith::fromPoly(const Poly &poly) {
  if (std::optional<int64_t> number = asConstant(poly))
    return constant(*number);
  if (poly.size() == 1 && poly.begin()->second == 1 &&
      poly.begin()->first.size() == 1)
    return atoms[poly.begin()->first[0]];
  if (auto it = values.find(poly); it != values.end())
    return it->second;
  // Products first, the number last: s1 * s0 * 64 + s2 + 3.
  Value sum;
  int64_t number = 0;
  for (const auto &[monomial, coefficient] : poly) {
    if (monomial.empty()) {
      number = coefficient;
      continue;
    }
    bool subtract = sum && coefficient < 0;
    int64_t factor = subtract ? -coefficient : coefficient;
    Value term;
    for (unsigned id : monomial)
      term = term ? arith::MulIOp::create(builder, location(), term, atoms[id])
                        .getResult()
                  : atoms[id];
    if (factor != 1)
      term = arith::MulIOp::create(builder, location(), term,
                                   value(constant(factor)));
    if (!sum)
      sum = term;
    else if (subtract)
      sum = arith::SubIOp::create(builder, location(), sum, term);
    else
      sum = arith::AddIOp::create(builder, location(), sum, term);
  }
  if (number)
    sum = arith::AddIOp::create(builder, location(), sum,
                                value(constant(number)));
  values[poly] = sum;
  return sum;
}

//===----------------------------------------------------------------------===//
// Operations
//===----------------------------------------------------------------------===//

OpFoldResult SizeArith::constant(int64_t value) const {
  return builder.getIndexAttr(value);
}

std::optional<int64_t> SizeArith::getConstant(OpFoldResult size) {
  return asConstant(toPoly(size));
}

OpFoldResult SizeArith::canonical(OpFoldResult size) {
  return fromPoly(toPoly(size));
}

Value SizeArith::value(OpFoldResult size) {
  std::optional<int64_t> number = getConstantIntValue(size);
  if (!number)
    return cast<Value>(size);
  Poly poly{{{}, *number}};
  Value &known = values[poly];
  if (!known)
    known = arith::ConstantIndexOp::create(builder, location(), *number);
  return known;
}

OpFoldResult SizeArith::add(OpFoldResult a, OpFoldResult b) {
  Poly result = toPoly(a);
  accumulate(result, toPoly(b), 1);
  return fromPoly(result);
}

OpFoldResult SizeArith::sub(OpFoldResult a, OpFoldResult b) {
  Poly result = toPoly(a);
  accumulate(result, toPoly(b), -1);
  return fromPoly(result);
}

OpFoldResult SizeArith::mul(OpFoldResult a, OpFoldResult b) {
  return fromPoly(multiply(toPoly(a), toPoly(b)));
}

OpFoldResult SizeArith::product(ArrayRef<OpFoldResult> sizes) {
  Poly result{{{}, 1}};
  for (OpFoldResult size : sizes)
    result = multiply(result, toPoly(size));
  return fromPoly(result);
}

template <typename OpTy> OpFoldResult SizeArith::opaque(Poly a, Poly b) {
  Value lhs = value(fromPoly(a)), rhs = value(fromPoly(b));
  Value &known = opaques[{OpTy::getOperationName().str(), a, b}];
  if (!known) {
    known = OpTy::create(builder, location(), lhs, rhs);
    atom(known);
  }
  return known;
}

OpFoldResult SizeArith::floorDiv(OpFoldResult a, OpFoldResult b) {
  Poly dividend = toPoly(a), divisor = toPoly(b);
  std::optional<int64_t> x = asConstant(dividend), y = asConstant(divisor);
  if (x && y && *y != 0)
    return constant(llvm::divideFloorSigned(*x, *y));
  if (std::optional<Poly> quotient = divide(dividend, divisor))
    return fromPoly(*quotient);
  return opaque<arith::FloorDivSIOp>(dividend, divisor);
}

OpFoldResult SizeArith::exactDiv(OpFoldResult a, OpFoldResult b) {
  std::optional<Poly> quotient = divide(toPoly(a), toPoly(b));
  return quotient ? fromPoly(*quotient) : OpFoldResult();
}

OpFoldResult SizeArith::ceilDiv(OpFoldResult a, OpFoldResult b) {
  return sub(constant(0), floorDiv(sub(constant(0), a), b));
}

OpFoldResult SizeArith::mod(OpFoldResult a, OpFoldResult b) {
  return sub(a, mul(b, floorDiv(a, b)));
}

OpFoldResult SizeArith::min(OpFoldResult a, OpFoldResult b) {
  if (knownLessEqual(a, b))
    return canonical(a);
  if (knownLessEqual(b, a))
    return canonical(b);
  return opaque<arith::MinSIOp>(toPoly(a), toPoly(b));
}

OpFoldResult SizeArith::max(OpFoldResult a, OpFoldResult b) {
  if (knownLessEqual(a, b))
    return canonical(b);
  if (knownLessEqual(b, a))
    return canonical(a);
  return opaque<arith::MaxSIOp>(toPoly(a), toPoly(b));
}

bool SizeArith::equal(OpFoldResult a, OpFoldResult b) {
  return toPoly(a) == toPoly(b);
}

//===----------------------------------------------------------------------===//
// Ranges
//===----------------------------------------------------------------------===//

std::pair<std::optional<int64_t>, std::optional<int64_t>>
SizeArith::rangeOfAtom(unsigned id) {
  Operation *op = atoms[id].getDefiningOp();
  if (auto symbol = dyn_cast_or_null<fp8::SymbolOp>(op)) {
    std::optional<int64_t> max;
    if (symbol.getMax())
      max = *symbol.getMax();
    return {symbol.getMin(), max};
  }
  return {};
}

std::optional<int64_t> SizeArith::lowerBound(const Poly &poly) {
  int64_t bound = 0;
  for (const auto &[monomial, coefficient] : poly) {
    // Bounds of a product of atoms that are not negative.
    int64_t term = 1;
    for (unsigned id : monomial) {
      auto [low, high] = rangeOfAtom(id);
      std::optional<int64_t> factor = coefficient > 0 ? low : high;
      if (!low || *low < 0 || !factor || llvm::MulOverflow(term, *factor, term))
        return std::nullopt;
    }
    if (llvm::MulOverflow(term, coefficient, term) ||
        llvm::AddOverflow(bound, term, bound))
      return std::nullopt;
  }
  return bound;
}

std::optional<int64_t> SizeArith::lowerBound(OpFoldResult size) {
  return lowerBound(toPoly(size));
}

bool SizeArith::knownLessEqual(OpFoldResult a, OpFoldResult b) {
  Poly difference = toPoly(b);
  accumulate(difference, toPoly(a), -1);
  std::optional<int64_t> bound = lowerBound(difference);
  return bound && *bound >= 0;
}
