//===- LowerCasts.cpp - Casts as integer arithmetic, f8 values as i8 ------===//
//
// Part of fp8c, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "fp8c/Codegen/Casts.h"
#include "fp8c/Codegen/Passes.h"

#include "mlir/Transforms/DialectConversion.h"

using namespace mlir;
using namespace fp8c;
using namespace fp8c::codegen;

namespace fp8c::codegen {
#define GEN_PASS_DEF_LOWERCASTSPASS
#include "fp8c/Codegen/Passes.h.inc"
} // namespace fp8c::codegen

/// The element type of an operand or a result.
static Type getElement(Value value) {
  return getElementTypeOrSelf(value.getType());
}

/// True for an f8 type of any kind.
static bool isAnyF8(Type type) {
  auto real = dyn_cast<FloatType>(type);
  return real && real.getWidth() == 8;
}

/// True for the casts that this pass replaces.
static bool isLoweredCast(Operation *op) {
  if (isa<fp8::CastOp>(op))
    return true;
  if (!isa<arith::ExtFOp, arith::TruncFOp>(op))
    return false;
  Type from = getElement(op->getOperand(0)), to = getElement(op->getResult(0));
  return isAnyF8(from) || isAnyF8(to) || from.isBF16() || to.isBF16();
}

namespace {

/// f8 types are i8, everything else is what it was.
struct F8TypeConverter : TypeConverter {
  F8TypeConverter() {
    addConversion([](Type type) { return type; });
    addConversion([](Type type) -> std::optional<Type> {
      auto element = getElementTypeOrSelf(type);
      if (!fp8::isF8Type(element))
        return std::nullopt;
      return withElement(type, IntegerType::get(type.getContext(), 8));
    });
    addConversion([this](FunctionType type) -> Type {
      SmallVector<Type> inputs, results;
      if (failed(convertTypes(type.getInputs(), inputs)) ||
          failed(convertTypes(type.getResults(), results)))
        return {};
      return FunctionType::get(type.getContext(), inputs, results);
    });
  }
};

/// A cast by way of f32.
struct LowerCast : ConversionPattern {
  LowerCast(const TypeConverter &converter, MLIRContext *context)
      : ConversionPattern(converter, MatchAnyOpTypeTag(), 2, context) {}

  LogicalResult
  matchAndRewrite(Operation *op, ArrayRef<Value> operands,
                  ConversionPatternRewriter &rewriter) const override {
    if (!isLoweredCast(op))
      return rewriter.notifyMatchFailure(op, "not a cast of f8 or bf16");
    Location loc = op->getLoc();
    Type from = getElement(op->getOperand(0));
    Type to = getElement(op->getResult(0));
    Value value = operands[0];
    auto as = [&](Type element) {
      return withElement(value.getType(), element);
    };
    Type f32 = rewriter.getF32Type();
    if (fp8::isF8Type(from)) {
      value = emitF8ToF32(rewriter, loc, value, from);
    } else if (from.isBF16()) {
      value = arith::BitcastOp::create(rewriter, loc, as(rewriter.getI16Type()),
                                       value);
      value = emitBF16ToF32(rewriter, loc, value);
    } else if (from.isF16()) {
      value = arith::ExtFOp::create(rewriter, loc, as(f32), value);
    } else if (from.isF64()) {
      return rewriter.notifyMatchFailure(op, "a cast of f64");
    }
    if (fp8::isF8Type(to)) {
      auto cast = dyn_cast<fp8::CastOp>(op);
      value = emitF32ToF8(rewriter, loc, value, to,
                          cast ? cast.getOverflow() : fp8::Overflow::IEEE);
    } else if (to.isBF16()) {
      value = emitF32ToBF16(rewriter, loc, value);
      value = arith::BitcastOp::create(rewriter, loc, as(to), value);
    } else if (to.isF16()) {
      value = arith::TruncFOp::create(rewriter, loc, as(to), value);
    } else if (to.isF64()) {
      value = arith::ExtFOp::create(rewriter, loc, as(to), value);
    }
    rewriter.replaceOp(op, value);
    return success();
  }
};

/// A constant's codes.
struct LowerConstant : OpConversionPattern<arith::ConstantOp> {
  using OpConversionPattern::OpConversionPattern;

  LogicalResult
  matchAndRewrite(arith::ConstantOp op, OpAdaptor,
                  ConversionPatternRewriter &rewriter) const override {
    Type type = getTypeConverter()->convertType(op.getType());
    Attribute value = op.getValue();
    if (auto real = dyn_cast<FloatAttr>(value))
      value = IntegerAttr::get(type, real.getValue().bitcastToAPInt());
    else if (auto dense = dyn_cast<DenseElementsAttr>(value))
      value = dense.bitcast(rewriter.getI8Type());
    else
      return rewriter.notifyMatchFailure(op, "a constant without its values");
    rewriter.replaceOpWithNewOp<arith::ConstantOp>(op, cast<TypedAttr>(value));
    return success();
  }
};

/// Any other op, with its types replaced.
struct ConvertTypes : ConversionPattern {
  ConvertTypes(const TypeConverter &converter, MLIRContext *context)
      : ConversionPattern(converter, MatchAnyOpTypeTag(), 1, context) {}

  LogicalResult
  matchAndRewrite(Operation *op, ArrayRef<Value> operands,
                  ConversionPatternRewriter &rewriter) const override {
    SmallVector<Type> types;
    if (failed(getTypeConverter()->convertTypes(op->getResultTypes(), types)))
      return failure();
    // i8 to i8, of an f8 value that was taken for its bits.
    if (isa<arith::BitcastOp>(op) && types[0] == operands[0].getType()) {
      rewriter.replaceOp(op, operands[0]);
      return success();
    }
    OperationState state(op->getLoc(), op->getName(), operands, types,
                         op->getAttrs(), op->getSuccessors());
    for (Region &region : op->getRegions()) {
      Region *moved = state.addRegion();
      rewriter.inlineRegionBefore(region, *moved, moved->end());
      if (failed(rewriter.convertRegionTypes(moved, *getTypeConverter())))
        return failure();
    }
    Operation *converted = rewriter.create(state);
    if (auto function = dyn_cast<func::FuncOp>(converted))
      function.setFunctionType(cast<FunctionType>(
          getTypeConverter()->convertType(function.getFunctionType())));
    rewriter.replaceOp(op, converted->getResults());
    return success();
  }
};

struct LowerCastsPass : codegen::impl::LowerCastsPassBase<LowerCastsPass> {
  void runOnOperation() override {
    MLIRContext *context = &getContext();
    WalkResult walk = getOperation()->walk([](Operation *op) {
      if (!isLoweredCast(op))
        return WalkResult::advance();
      for (Value value : {op->getOperand(0), Value(op->getResult(0))}) {
        Type element = getElement(value);
        if (isAnyF8(element) && !fp8::isF8Type(element)) {
          op->emitOpError() << "expected f8E4M3FN or f8E5M2, got " << element;
          return WalkResult::interrupt();
        }
      }
      return WalkResult::advance();
    });
    if (walk.wasInterrupted())
      return signalPassFailure();
    F8TypeConverter converter;
    ConversionTarget target(*context);
    target.markUnknownOpDynamicallyLegal([&](Operation *op) {
      auto function = dyn_cast<FunctionOpInterface>(op);
      if (function && !converter.isLegal(function.getFunctionType()))
        return false;
      return !isLoweredCast(op) && converter.isLegal(op) &&
             llvm::all_of(op->getRegions(), [&](Region &region) {
               return converter.isLegal(&region);
             });
    });
    RewritePatternSet patterns(context);
    patterns.add<LowerCast, ConvertTypes>(converter, context);
    patterns.add<LowerConstant>(converter, context, PatternBenefit(2));
    if (failed(
            applyFullConversion(getOperation(), target, std::move(patterns))))
      signalPassFailure();
  }
};

} // namespace
