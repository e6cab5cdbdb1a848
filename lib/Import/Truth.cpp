//===- Truth.cpp - Conditions on sizes ------------------------------------===//
//
// Part of fp8c, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Truth.h"

using namespace mlir;
using namespace fp8c::import;

Value Logic::value(const Truth &truth) {
  if (truth.value)
    return truth.value;
  return arith::ConstantIntOp::create(graph.getBuilder(), graph.getLoc(),
                                      *truth.known, 1);
}

Truth Logic::both(const Truth &a, const Truth &b) {
  if (a.known)
    return *a.known ? b : a;
  if (b.known)
    return *b.known ? a : b;
  return {std::nullopt,
          arith::AndIOp::create(graph.getBuilder(), graph.getLoc(), a.value,
                                b.value)};
}

Truth Logic::either(const Truth &a, const Truth &b) {
  if (a.known)
    return *a.known ? a : b;
  if (b.known)
    return *b.known ? b : a;
  return {std::nullopt, arith::OrIOp::create(graph.getBuilder(), graph.getLoc(),
                                             a.value, b.value)};
}

Truth Logic::negate(const Truth &a) {
  if (a.known)
    return {!*a.known, {}};
  Value one = value(Truth{true, {}});
  return {std::nullopt, arith::XOrIOp::create(graph.getBuilder(),
                                              graph.getLoc(), a.value, one)};
}

Truth Logic::compare(arith::CmpIPredicate predicate, OpFoldResult a,
                     OpFoldResult b) {
  using Predicate = arith::CmpIPredicate;
  // The plan compares with ==, !=, < and <=.
  if (predicate == Predicate::sgt || predicate == Predicate::sge)
    return compare(
        predicate == Predicate::sgt ? Predicate::slt : Predicate::sle, b, a);
  SizeArith &sizes = graph.arith;
  OpFoldResult difference = sizes.sub(b, a);
  std::optional<int64_t> constant = sizes.getConstant(difference);
  std::optional<int64_t> atLeast = sizes.lowerBound(difference);
  std::optional<int64_t> atLeastNegated = sizes.lowerBound(sizes.sub(a, b));
  bool positive = atLeast && *atLeast > 0;
  bool negative = atLeastNegated && *atLeastNegated > 0;
  switch (predicate) {
  case Predicate::eq:
  case Predicate::ne:
    if (constant || positive || negative)
      return {(constant == 0) == (predicate == Predicate::eq), {}};
    break;
  case Predicate::slt:
    if (constant || positive || (atLeastNegated && *atLeastNegated >= 0))
      return {positive || (constant && *constant > 0), {}};
    break;
  default:
    if (constant || negative || (atLeast && *atLeast >= 0))
      return {!negative && !(constant && *constant < 0), {}};
    break;
  }
  return {std::nullopt,
          arith::CmpIOp::create(graph.getBuilder(), graph.getLoc(), predicate,
                                sizes.value(a), sizes.value(b))};
}
