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

LogicalResult GlobalOp::verify() {
  // global_c1
  int64_t offset = getOffset();
  if (offset < 0 || (offset > 0 && !getSource()))
    return emitOpError() << "expected an offset of at least 0 into a source, "
                            "got "
                         << offset;
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
