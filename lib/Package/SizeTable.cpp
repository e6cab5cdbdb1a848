//===- SizeTable.cpp - Index values as the expressions of a plan ----------===//
//
// Part of fp8c, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "SizeTable.h"

#include "fp8c/Dialect/FP8/FP8.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/Matchers.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace fp8c;
using namespace fp8c::package;
using plan::wire::ExprKind;

uint32_t SizeTable::add(ExprKind kind, uint32_t lhs, uint32_t rhs,
                        int64_t value) {
  auto [it, isNew] =
      interned.try_emplace({kind, lhs, rhs, value}, exprs.size());
  if (isNew)
    exprs.emplace_back(kind, lhs, rhs, value);
  return it->second;
}

uint32_t SizeTable::constant(int64_t value) {
  return add(ExprKind::Const, 0, 0, value);
}

uint32_t SizeTable::mul(uint32_t a, uint32_t b) {
  const auto &x = exprs[a], &y = exprs[b];
  bool xConst = x.kind() == ExprKind::Const;
  bool yConst = y.kind() == ExprKind::Const;
  int64_t product;
  if (xConst && yConst && !llvm::MulOverflow(x.value(), y.value(), product))
    return constant(product);
  if (xConst && x.value() == 1)
    return b;
  if (yConst && y.value() == 1)
    return a;
  return add(ExprKind::Mul, a, b, 0);
}

/// The expression kind of a comparison, and whether its operands are swapped.
static std::optional<std::pair<ExprKind, bool>>
getComparison(arith::CmpIPredicate predicate) {
  using P = arith::CmpIPredicate;
  switch (predicate) {
  case P::eq:
    return std::pair(ExprKind::Eq, false);
  case P::ne:
    return std::pair(ExprKind::Ne, false);
  case P::slt:
    return std::pair(ExprKind::Lt, false);
  case P::sle:
    return std::pair(ExprKind::Le, false);
  case P::sgt:
    return std::pair(ExprKind::Lt, true);
  case P::sge:
    return std::pair(ExprKind::Le, true);
  default:
    return std::nullopt;
  }
}

FailureOr<uint32_t> SizeTable::get(Value value) {
  if (auto it = known.find(value); it != known.end())
    return it->second;
  Operation *op = value.getDefiningOp();
  if (!op)
    return emitError(value.getLoc(), "a block argument is no size");

  APInt number;
  if (matchPattern(value, m_ConstantInt(&number))) {
    // A condition of 1 is "true" whatever its sign.
    int64_t extended = number.getBitWidth() == 1 ? number.getZExtValue()
                                                 : number.getSExtValue();
    return known[value] = constant(extended);
  }
  if (auto symbol = dyn_cast<fp8::SymbolOp>(op)) {
    auto [it, isNew] = symbolIds.try_emplace(symbol.getName(), symbols.size());
    if (isNew)
      symbols.push_back(
          {symbol.getName().str(), int64_t(symbol.getMin()),
           symbol.getMax() ? int64_t(*symbol.getMax()) : INT64_MAX,
           int64_t(symbol.getMultiple())});
    return known[value] = add(ExprKind::Symbol, it->second, 0, 0);
  }
  if (isa<arith::IndexCastOp, arith::ExtSIOp>(op)) {
    auto operand = get(op->getOperand(0));
    if (failed(operand))
      return failure();
    return known[value] = *operand;
  }

  bool swapped = false;
  auto kind =
      llvm::TypeSwitch<Operation *, std::optional<ExprKind>>(op)
          .Case<arith::AddIOp>([](auto) { return ExprKind::Add; })
          .Case<arith::SubIOp>([](auto) { return ExprKind::Sub; })
          .Case<arith::MulIOp>([](auto) { return ExprKind::Mul; })
          .Case<arith::FloorDivSIOp>([](auto) { return ExprKind::FloorDiv; })
          .Case<arith::CeilDivSIOp>([](auto) { return ExprKind::CeilDiv; })
          // Sizes are not negative: truncation is floor.
          .Case<arith::DivSIOp, arith::DivUIOp>(
              [](auto) { return ExprKind::FloorDiv; })
          .Case<arith::RemSIOp, arith::RemUIOp>(
              [](auto) { return ExprKind::Mod; })
          .Case<arith::MinSIOp, arith::MinUIOp>(
              [](auto) { return ExprKind::Min; })
          .Case<arith::MaxSIOp, arith::MaxUIOp>(
              [](auto) { return ExprKind::Max; })
          .Case<arith::AndIOp>([](auto) { return ExprKind::And; })
          .Case<arith::OrIOp>([](auto) { return ExprKind::Or; })
          .Case<arith::XOrIOp>([](auto) { return ExprKind::Ne; })
          .Case<arith::CmpIOp>(
              [&](arith::CmpIOp cmp) -> std::optional<ExprKind> {
                auto found = getComparison(cmp.getPredicate());
                if (!found)
                  return std::nullopt;
                swapped = found->second;
                return found->first;
              })
          .Default([](Operation *) { return std::nullopt; });
  if (!kind)
    return LogicalResult(op->emitError() << "'" << op->getName()
                                         << "' is no arithmetic on sizes");
  auto lhs = get(op->getOperand(swapped ? 1 : 0));
  auto rhs = get(op->getOperand(swapped ? 0 : 1));
  if (failed(lhs) || failed(rhs))
    return failure();
  uint32_t entry =
      *kind == ExprKind::Mul ? mul(*lhs, *rhs) : add(*kind, *lhs, *rhs, 0);
  return known[value] = entry;
}

std::vector<flatbuffers::Offset<plan::wire::Symbol>>
SizeTable::writeSymbols(flatbuffers::FlatBufferBuilder &builder) const {
  std::vector<flatbuffers::Offset<plan::wire::Symbol>> written;
  for (const Symbol &symbol : symbols)
    written.push_back(plan::wire::CreateSymbolDirect(
        builder, symbol.name.c_str(), symbol.min, symbol.max, symbol.multiple));
  return written;
}
