//===- Kernel.cpp - fp8.kernel --------------------------------------------===//
//
// Part of fp8c, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "fp8c/Dialect/FP8/FP8.h"

#include "mlir/IR/Builders.h"
#include "mlir/IR/OpImplementation.h"

using namespace mlir;
using namespace fp8c;
using namespace fp8c::fp8;

ParseResult KernelOp::parse(OpAsmParser &parser, OperationState &result) {
  SmallVector<OpAsmParser::Argument> arguments;
  SmallVector<OpAsmParser::UnresolvedOperand> captures;
  SmallVector<Type> types;
  auto parseCapture = [&]() -> ParseResult {
    Type &type = types.emplace_back();
    if (parser.parseArgument(arguments.emplace_back()) || parser.parseEqual() ||
        parser.parseOperand(captures.emplace_back()) ||
        parser.parseColonType(type))
      return failure();
    arguments.back().type = type;
    return success();
  };
  SMLoc loc = parser.getCurrentLocation();
  SmallVector<Type> results;
  if (parser.parseCommaSeparatedList(AsmParser::Delimiter::Paren,
                                     parseCapture) ||
      parser.parseArrow() || parser.parseLParen())
    return failure();
  if (failed(parser.parseOptionalRParen()) &&
      (parser.parseTypeList(results) || parser.parseRParen()))
    return failure();
  result.addTypes(results);
  Region *body = result.addRegion();
  if (parser.resolveOperands(captures, types, loc, result.operands) ||
      parser.parseOptionalAttrDictWithKeyword(result.attributes) ||
      parser.parseRegion(*body, arguments))
    return failure();
  ensureTerminator(*body, parser.getBuilder(), result.location);
  return success();
}

void KernelOp::print(OpAsmPrinter &printer) {
  printer << " (";
  llvm::interleaveComma(llvm::zip(getBody().getArguments(), getCaptures()),
                        printer, [&](auto pair) {
                          auto [argument, capture] = pair;
                          printer << argument << " = " << capture << " : "
                                  << capture.getType();
                        });
  printer << ") -> (";
  llvm::interleaveComma(getResultTypes(), printer);
  printer << ")";
  printer.printOptionalAttrDictWithKeyword((*this)->getAttrs());
  printer << ' ';
  printer.printRegion(getBody(), /*printEntryBlockArgs=*/false);
}

/// True for an op that a kernel's body may hold.
static bool isAllowedInKernel(Operation &op) {
  if (isa<CastOp, QuantizeOp, DequantizeOp, AmaxOp, ComputeScaleOp,
          UpdateHistoryOp, YieldOp, tensor::EmptyOp, tensor::DimOp>(op))
    return true;
  StringRef dialect = op.getName().getDialectNamespace();
  return dialect == "linalg" || dialect == "arith";
}

LogicalResult KernelOp::verifyRegions() {
  Block &body = getBody().front();
  // kernel_c1
  if (body.getArgumentTypes() != getCaptures().getTypes())
    return emitOpError() << "expected block arguments of the types of its "
                            "captures, got "
                         << body.getArgumentTypes() << " for "
                         << getCaptures().getTypes();
  // kernel_c2
  auto yield = cast<YieldOp>(body.getTerminator());
  if (yield.getOperandTypes() != getResultTypes())
    return emitOpError() << "expected to yield its results' types, got "
                         << yield.getOperandTypes() << " for "
                         << getResultTypes();
  // kernel_c3
  for (Operation &op : body)
    if (!isAllowedInKernel(op)) {
      auto diagnostic = emitOpError()
                        << "expected linalg, arith, tensor.empty, tensor.dim "
                           "and casts, amax and scales in its body, got '"
                        << op.getName() << "'";
      diagnostic.attachNote(op.getLoc()) << "see the op here";
      return diagnostic;
    }
  // kernel_c4
  if (Attribute nodes = (*this)->getAttr(kNodesAttr)) {
    auto names = dyn_cast<ArrayAttr>(nodes);
    if (!names || names.size() != getNumResults() ||
        !llvm::all_of(names, llvm::IsaPred<StringAttr>))
      return emitOpError() << "expected " << kNodesAttr
                           << " to have a string a result, got " << nodes;
  }
  return success();
}
