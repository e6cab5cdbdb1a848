//===- Globals.cpp - Symbols, weights and state ---------------------------===//
//
// Part of fp8c, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "fp8c/Dialect/FP8/FP8.h"

#include "mlir/IR/Builders.h"

using namespace mlir;
using namespace fp8c;
using namespace fp8c::fp8;

//===----------------------------------------------------------------------===//
// SymbolOp
//===----------------------------------------------------------------------===//

/// What a declaration says of its symbol's values.
static auto getRules(SymbolOp symbol) {
  return std::tuple(symbol.getMin(), symbol.getMax(), symbol.getMultiple());
}

LogicalResult fp8::verifySymbols(Operation *root) {
  llvm::StringMap<SymbolOp> known;
  auto describe = [](SymbolOp symbol) {
    std::string text = "min = " + std::to_string(symbol.getMin());
    if (symbol.getMax())
      text += ", max = " + std::to_string(*symbol.getMax());
    return text + ", multiple = " + std::to_string(symbol.getMultiple());
  };
  WalkResult result = root->walk([&](SymbolOp symbol) {
    SymbolOp first = known.try_emplace(symbol.getName(), symbol).first->second;
    if (getRules(first) == getRules(symbol))
      return WalkResult::advance();
    InFlightDiagnostic error =
        symbol.emitError() << "symbol '" << symbol.getName() << "' has "
                           << describe(symbol) << " here and "
                           << describe(first) << " where it is first declared";
    error.attachNote(first.getLoc()) << "first declared here";
    return WalkResult::interrupt();
  });
  return failure(result.wasInterrupted());
}

LogicalResult SymbolOp::verify() {
  // symbol_c1
  if (getName().empty())
    return emitOpError() << "expected a name";
  int64_t min = getMin();
  // symbol_c2
  if (min < 0 || (getMax() && static_cast<int64_t>(*getMax()) < min))
    return emitOpError() << "expected 0 <= min <= max, got min " << min
                         << (getMax() ? " and max " +
                                            std::to_string(
                                                static_cast<int64_t>(*getMax()))
                                      : "");
  // symbol_c3
  if (static_cast<int64_t>(getMultiple()) < 1)
    return emitOpError() << "expected a multiple of at least 1, got "
                         << static_cast<int64_t>(getMultiple());
  return success();
}

//===----------------------------------------------------------------------===//
// GlobalOp, GlobalLoadOp, GlobalStoreOp
//===----------------------------------------------------------------------===//

bool fp8::isAddressable(ShapedType type) {
  if (llvm::is_contained(type.getShape(), 0))
    return true;
  Type element = type.getElementType();
  int64_t bytes = element.isIntOrFloat()
                      ? llvm::divideCeil(element.getIntOrFloatBitWidth(), 8)
                      : 1;
  for (int64_t size : type.getShape())
    if (!ShapedType::isDynamic(size) && llvm::MulOverflow(bytes, size, bytes))
      return false;
  return true;
}

LogicalResult GlobalOp::verify() {
  // global_c1
  int64_t offset = getOffset();
  if (offset < 0 || (offset > 0 && !getSource()))
    return emitOpError() << "expected an offset of at least 0 into a source, "
                            "got "
                         << offset;
  // global_c2
  if (!isAddressable(cast<ShapedType>(getType())))
    return emitOpError() << "expected at most 2^63 - 1 bytes, got "
                         << getType();
  return success();
}

/// The global that `op` names, with the type that `type` must be.
template <typename Op>
static FailureOr<GlobalOp> findGlobal(Op op, Type type,
                                      SymbolTableCollection &symbols) {
  auto global =
      symbols.lookupNearestSymbolFrom<GlobalOp>(op, op.getGlobalAttr());
  // global_load_c1, global_store_c1
  if (!global)
    return op.emitOpError()
           << "expected the name of an fp8.global, got " << op.getGlobalAttr();
  // global_load_c2, global_store_c2
  if (global.getType() != type) {
    auto diagnostic = op.emitOpError() << "expected the global's type "
                                       << global.getType() << ", got " << type;
    diagnostic.attachNote(global.getLoc()) << "see the global here";
    return diagnostic;
  }
  return global;
}

LogicalResult GlobalLoadOp::verifySymbolUses(SymbolTableCollection &symbols) {
  FailureOr<GlobalOp> global = findGlobal(*this, getType(), symbols);
  if (failed(global))
    return failure();
  // global_load_c3
  if (getConstant() && global->getKind() == GlobalKind::State)
    return emitOpError() << "expected no constant load of the state "
                         << getGlobalAttr();
  return success();
}

void GlobalLoadOp::getEffects(
    SmallVectorImpl<SideEffects::EffectInstance<MemoryEffects::Effect>>
        &effects) {
  if (!getConstant())
    effects.emplace_back(MemoryEffects::Read::get());
}

LogicalResult GlobalStoreOp::verifySymbolUses(SymbolTableCollection &symbols) {
  FailureOr<GlobalOp> global = findGlobal(*this, getValue().getType(), symbols);
  if (failed(global))
    return failure();
  // global_store_c3
  if (global->getKind() == GlobalKind::Weight && global->getSource())
    return emitOpError() << "expected no store to the weight "
                         << getGlobalAttr() << ", which has a source";
  return success();
}
