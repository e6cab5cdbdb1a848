//===- FP8Ops.cpp - Operations of the fp8 dialect -------------------------===//
//
// Part of fp8c, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "fp8c/Dialect/FP8/FP8.h"

#include "mlir/IR/Builders.h"
#include "mlir/IR/OpImplementation.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace fp8c;
using namespace fp8c::fp8;

#define GET_OP_CLASSES
#include "fp8c/Dialect/FP8/FP8Ops.cpp.inc"

bool fp8c::fp8::isF8Type(Type type) { return isa<Float8E4M3FNType, Float8E5M2Type>(type); }

F8Format fp8c::fp8::getF8Format(Type type) {
  if (isa<Float8E8M0FNUType>(type))
    return F8Format::E8M0FNU;
  return isa<Float8E5M2Type>(type) ? F8Format::E5M2 : F8Format::E4M3FN;
}

//===----------------------------------------------------------------------===//
// CastOp
//===----------------------------------------------------------------------===//

OpFoldResult CastOp::fold(FoldAdaptor) { return {}; }

LogicalResult CastOp::verify() { return success(); }

LogicalResult QuantizeOp::verify() { return success(); }
LogicalResult DequantizeOp::verify() { return success(); }
LogicalResult AmaxOp::verify() { return success(); }
LogicalResult ComputeScaleOp::verify() { return success(); }
ScaleRule ComputeScaleOp::getRule() {
  ScaleRule rule;
  rule.max = getF8Max(getF8Format(getFormat()));
  rule.margin = getMargin();
  rule.eps = getEps().convertToFloat();
  rule.pow2 = getPow2();
  return rule;
}
LogicalResult UpdateHistoryOp::verify() { return success(); }
LogicalResult ScaledMatmulOp::verify() { return success(); }
LogicalResult MatmulOp::verify() { return success(); }
LogicalResult AttentionOp::verify() { return success(); }
LogicalResult SymbolOp::verify() { return success(); }

//===----------------------------------------------------------------------===//
// KernelOp
//===----------------------------------------------------------------------===//

ParseResult KernelOp::parse(OpAsmParser &parser, OperationState &result) {
  SmallVector<OpAsmParser::Argument> arguments;
  SmallVector<OpAsmParser::UnresolvedOperand> captures;
  SmallVector<Type> types;
  auto parseCapture = [&]() -> ParseResult {
    Type &type = types.emplace_back();
    if (parser.parseArgument(arguments.emplace_back()) || parser.parseEqual() ||
        parser.parseOperand(captures.emplace_back()) || parser.parseColonType(type))
      return failure();
    arguments.back().type = type;
    return success();
  };
  SMLoc loc = parser.getCurrentLocation();
  SmallVector<Type> results;
  if (parser.parseCommaSeparatedList(AsmParser::Delimiter::Paren, parseCapture) || parser.parseArrow() ||
      parser.parseLParen())
    return failure();
  if (failed(parser.parseOptionalRParen()) && (parser.parseTypeList(results) || parser.parseRParen()))
    return failure();
  result.addTypes(results);
  Region *body = result.addRegion();
  if (parser.resolveOperands(captures, types, loc, result.operands) ||
      parser.parseOptionalAttrDictWithKeyword(result.attributes) || parser.parseRegion(*body, arguments))
    return failure();
  ensureTerminator(*body, parser.getBuilder(), result.location);
  return success();
}

void KernelOp::print(OpAsmPrinter &printer) {
  printer << " (";
  llvm::interleaveComma(llvm::zip(getBody().getArguments(), getCaptures()), printer, [&](auto pair) {
    auto [argument, capture] = pair;
    printer << argument << " = " << capture << " : " << capture.getType();
  });
  printer << ") -> (";
  llvm::interleaveComma(getResultTypes(), printer);
  printer << ")";
  printer.printOptionalAttrDictWithKeyword((*this)->getAttrs());
  printer << ' ';
  printer.printRegion(getBody(), /*printEntryBlockArgs=*/false);
}

LogicalResult KernelOp::verify() { return success(); }

//===----------------------------------------------------------------------===//
// Globals
//===----------------------------------------------------------------------===//

LogicalResult GlobalOp::verify() { return success(); }

LogicalResult GlobalLoadOp::verifySymbolUses(SymbolTableCollection &symbols) {
  auto global = symbols.lookupNearestSymbolFrom<GlobalOp>(*this, getGlobalAttr());
  if (!global)
    return emitOpError() << "refers to " << getGlobalAttr() << ", which is no fp8.global";
  if (global.getType() != getType())
    return emitOpError() << "expected the global's type " << global.getType() << ", got " << getType();
  return success();
}

void GlobalLoadOp::getEffects(SmallVectorImpl<SideEffects::EffectInstance<MemoryEffects::Effect>> &effects) {
  if (!getConstant())
    effects.emplace_back(MemoryEffects::Read::get());
}

LogicalResult GlobalStoreOp::verifySymbolUses(SymbolTableCollection &symbols) {
  auto global = symbols.lookupNearestSymbolFrom<GlobalOp>(*this, getGlobalAttr());
  if (!global)
    return emitOpError() << "refers to " << getGlobalAttr() << ", which is no fp8.global";
  if (global.getType() != getValue().getType())
    return emitOpError() << "expected the global's type " << global.getType() << ", got " << getValue().getType();
  return success();
}
