//===- Shapes.cpp - Sizes of all tensors of a function --------------------===//
//
// Part of fp8c, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Shapes.h"

#include "fp8c/Analysis/SymbolicShape.h"
#include "fp8c/Dialect/FP8/FP8.h"

#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace fp8c;
using namespace fp8c::toplan;

void Shapes::setSizes(Value tensor, Sizes sizes) {
  auto type = cast<RankedTensorType>(tensor.getType());
  for (int64_t i = 0; i < type.getRank(); ++i)
    if (!type.isDynamicDim(i))
      sizes[i] = arith.constant(type.getDimSize(i));
  tensorSizes[tensor] = std::move(sizes);
}

Sizes Shapes::map(ArrayRef<OpFoldResult> mixed) const {
  Sizes result;
  for (OpFoldResult size : mixed)
    if (auto value = dyn_cast<Value>(size))
      result.push_back(index(value));
    else
      result.push_back(size);
  return result;
}

//===----------------------------------------------------------------------===//
// Arguments and symbols
//===----------------------------------------------------------------------===//

LogicalResult Shapes::visitArguments(func::FuncOp func) {
  // Sizes become index values of the function first, after its symbols.
  SymbolicShape symbolic(func);
  OpBuilder sizesBuilder = OpBuilder::atBlockBegin(&func.front());
  for (auto symbol : func.getOps<fp8::SymbolOp>())
    sizesBuilder.setInsertionPointAfter(symbol);
  Operation *before = nullptr;
  if (sizesBuilder.getInsertionPoint() != func.front().begin())
    before = &*std::prev(sizesBuilder.getInsertionPoint());

  SmallVector<Sizes> all;
  for (BlockArgument argument : func.getArguments()) {
    unsigned number = argument.getArgNumber();
    auto type = dyn_cast<RankedTensorType>(argument.getType());
    if (!type)
      return func.emitError() << "argument " << number << " has type "
                              << argument.getType() << ", which is no tensor";
    auto dims = func.getArgAttrOfType<ArrayAttr>(number, fp8::kDimsAttr);
    if (dims && int64_t(dims.size()) != type.getRank())
      return func.emitError()
             << "argument " << number << " has rank " << type.getRank()
             << " and " << dims.size() << " entries in " << fp8::kDimsAttr;
    Sizes sizes(type.getRank());
    for (int64_t i = 0; i < type.getRank(); ++i) {
      if (!type.isDynamicDim(i)) {
        auto given = dims ? dyn_cast<IntegerAttr>(dims[i]) : IntegerAttr();
        if (given && given.getValue().trySExtValue() != type.getDimSize(i))
          return func.emitError()
                 << "argument " << number << " has " << type.getDimSize(i)
                 << " as dim " << i << " and " << Attribute(given) << " in "
                 << fp8::kDimsAttr;
        continue;
      }
      auto text = dims ? dyn_cast<StringAttr>(dims[i]) : StringAttr();
      SizeExpr size = text ? symbolic.parse(text) : nullptr;
      if (!size)
        return func.emitError()
               << "argument " << number << " has no readable "
               << "size for its dynamic dim " << i << " in " << fp8::kDimsAttr;
      sizes[i] = symbolic.materializeFold(sizesBuilder, func.getLoc(), size);
    }
    all.push_back(std::move(sizes));
  }

  auto op = before ? std::next(before->getIterator()) : func.front().begin();
  // Names that no op of the function had.
  for (auto symbol : func.getOps<fp8::SymbolOp>())
    visitSymbol(symbol);
  for (; op != sizesBuilder.getInsertionPoint(); ++op)
    if (failed(visit(&*op)))
      return failure();
  for (auto [argument, sizes] : llvm::zip(func.getArguments(), all)) {
    for (OpFoldResult &size : sizes)
      if (auto value = dyn_cast_if_present<Value>(size))
        size = index(value);
    setSizes(argument, std::move(sizes));
  }
  return success();
}

void Shapes::visitSymbol(fp8::SymbolOp symbol) {
  Value &known = symbols[symbol.getName()];
  if (!known)
    known = builder.clone(*symbol)->getResult(0);
  indices[symbol] = known;
}

LogicalResult Shapes::run(func::FuncOp func) {
  if (failed(fp8::verifySymbols(func)))
    return failure();
  for (auto symbol : func.getOps<fp8::SymbolOp>())
    visitSymbol(symbol);
  arith.setLoc(func.getLoc());
  if (failed(visitArguments(func)))
    return failure();
  for (Operation &op : func.front()) {
    arith.setLoc(op.getLoc());
    if (failed(visit(&op)))
      return failure();
  }
  return success();
}

//===----------------------------------------------------------------------===//
// Index arithmetic and checks
//===----------------------------------------------------------------------===//

LogicalResult Shapes::visitIndexOp(Operation *op) {
  auto at = [&](unsigned i) { return index(op->getOperand(i)); };
  auto known = [&](unsigned i) { return bool(at(i)); };
  OpFoldResult result;
  if (auto constant = dyn_cast<arith::ConstantOp>(op))
    result = arith.constant(cast<IntegerAttr>(constant.getValue()).getInt());
  else if (auto dim = dyn_cast<tensor::DimOp>(op)) {
    if (std::optional<int64_t> i = getConstantIntValue(
            dim.getIndex().getDefiningOp() ? index(dim.getIndex())
                                           : OpFoldResult()))
      result = sizes(dim.getSource())[*i];
  } else if (op->getNumOperands() == 2 && known(0) && known(1))
    result = TypeSwitch<Operation *, OpFoldResult>(op)
                 .Case([&](arith::AddIOp) { return arith.add(at(0), at(1)); })
                 .Case([&](arith::SubIOp) { return arith.sub(at(0), at(1)); })
                 .Case([&](arith::MulIOp) { return arith.mul(at(0), at(1)); })
                 .Case([&](arith::FloorDivSIOp) {
                   return arith.floorDiv(at(0), at(1));
                 })
                 .Case([&](arith::CeilDivSIOp) {
                   return arith.ceilDiv(at(0), at(1));
                 })
                 .Case([&](arith::RemSIOp) { return arith.mod(at(0), at(1)); })
                 .Case([&](arith::MinSIOp) { return arith.min(at(0), at(1)); })
                 .Case([&](arith::MaxSIOp) { return arith.max(at(0), at(1)); })
                 .Default([](Operation *) { return OpFoldResult(); });
  if (!result)
    return op->emitError() << "'" << op->getName()
                           << "' makes a size from something that is not known "
                              "before the call runs";
  indices[op->getResult(0)] = result;
  return success();
}

/// Conditions and the values they compare are cloned, sizes mapped.
FailureOr<Value> Shapes::mapCondition(Value value) {
  if (OpFoldResult size = index(value))
    return arith.value(size);
  if (Value known = conditions.lookupOrNull(value))
    return known;
  Operation *op = value.getDefiningOp();
  if (!op || !isa<arith::ArithDialect>(op->getDialect()) ||
      op->getNumResults() != 1)
    return failure();
  IRMapping operands;
  for (Value operand : op->getOperands()) {
    FailureOr<Value> mapped = mapCondition(operand);
    if (failed(mapped))
      return failure();
    operands.map(operand, *mapped);
  }
  Value result = builder.clone(*op, operands)->getResult(0);
  conditions.map(value, result);
  return result;
}

LogicalResult Shapes::visitCheck(Operation *op) {
  auto check = cast<fp8::CheckOp>(op);
  FailureOr<Value> condition = mapCondition(check.getCondition());
  if (failed(condition))
    return op->emitError("checks something that is not known before the call "
                         "runs");
  fp8::CheckOp::create(builder, op->getLoc(), *condition,
                       check.getMessageAttr());
  return success();
}

//===----------------------------------------------------------------------===//
// Tensors
//===----------------------------------------------------------------------===//

LogicalResult Shapes::visitKernel(Operation *op) {
  auto kernel = cast<fp8::KernelOp>(op);
  Block &body = kernel.getBody().front();
  for (auto [capture, argument] :
       llvm::zip(kernel.getCaptures(), body.getArguments())) {
    if (isa<IndexType>(argument.getType()))
      indices[argument] = index(capture);
    else
      setSizes(argument, sizes(capture));
  }
  for (Operation &inner : body.without_terminator())
    if (failed(visit(&inner)))
      return failure();
  for (auto [result, value] :
       llvm::zip(kernel.getResults(), body.getTerminator()->getOperands()))
    setSizes(result, sizes(value));
  return success();
}

/// The sizes of a product's result: batch dims, M and N.
static Sizes getProductSizes(const Sizes &lhs, const Sizes &rhs) {
  Sizes result(lhs);
  result.back() = rhs.back();
  return result;
}

/// The sizes of a scale tensor for data of these sizes.
static Sizes getScaleSizes(SizeArith &arith, const Sizes &sizes,
                           fp8::ScalingAttr scaling) {
  Sizes result;
  for (auto [size, block] : llvm::zip(sizes, scaling.getBlock()))
    result.push_back(ShapedType::isDynamic(block)
                         ? arith.constant(1)
                         : arith.ceilDiv(size, arith.constant(block)));
  return result;
}

bool Shapes::inferSizes(Operation *op) {
  Value result = op->getNumResults() ? op->getResult(0) : Value();
  return TypeSwitch<Operation *, bool>(op)
      .Case([&](tensor::EmptyOp empty) {
        setSizes(result, map(empty.getMixedSizes()));
        return true;
      })
      .Case([&](tensor::ExtractSliceOp slice) {
        Sizes all = map(slice.getMixedSizes()), kept;
        llvm::SmallBitVector dropped = slice.getDroppedDims();
        for (size_t i = 0; i < all.size(); ++i)
          if (!dropped.test(i))
            kept.push_back(all[i]);
        setSizes(result, std::move(kept));
        return true;
      })
      .Case([&](tensor::ExpandShapeOp expand) {
        setSizes(result, map(expand.getMixedOutputShape()));
        return true;
      })
      .Case([&](tensor::CollapseShapeOp collapse) {
        const Sizes source = sizes(collapse.getSrc());
        Sizes merged;
        for (const auto &group : collapse.getReassociationIndices()) {
          OpFoldResult product = arith.constant(1);
          for (int64_t dim : group)
            product = arith.mul(product, source[dim]);
          merged.push_back(product);
        }
        setSizes(result, std::move(merged));
        return true;
      })
      .Case([&](linalg::TransposeOp transpose) {
        const Sizes source = sizes(transpose.getInput());
        Sizes permuted;
        for (int64_t dim : transpose.getPermutation())
          permuted.push_back(source[dim]);
        setSizes(result, std::move(permuted));
        return true;
      })
      .Case([&](tensor::CastOp castOp) {
        setSizes(result, sizes(castOp.getSource()));
        return true;
      })
      .Case([&](tensor::ConcatOp concat) {
        Sizes total = sizes(concat.getInputs().front());
        int64_t dim = concat.getDim();
        for (Value input : concat.getInputs().drop_front())
          total[dim] = arith.add(total[dim], sizes(input)[dim]);
        setSizes(result, std::move(total));
        return true;
      })
      .Case([&](tensor::InsertSliceOp insert) {
        setSizes(result, sizes(insert.getDest()));
        return true;
      })
      .Case<fp8::MatmulOp, fp8::ScaledMatmulOp>([&](auto matmul) {
        setSizes(matmul.getResult(), getProductSizes(sizes(matmul.getLhs()),
                                                     sizes(matmul.getRhs())));
        for (Value amax : op->getResults().drop_front())
          setSizes(amax, Sizes(cast<RankedTensorType>(amax.getType()).getRank(),
                               arith.constant(1)));
        return true;
      })
      .Case([&](fp8::AttentionOp attention) {
        setSizes(result, getProductSizes(sizes(attention.getQuery()),
                                         sizes(attention.getValue())));
        return true;
      })
      .Case<fp8::QuantizeOp, fp8::DequantizeOp>([&](auto scaled) {
        setSizes(result, sizes(scaled.getInput()));
        return true;
      })
      .Case([&](fp8::AmaxOp amax) {
        setSizes(result, getScaleSizes(arith, sizes(amax.getInput()),
                                       amax.getScaling()));
        return true;
      })
      .Case([&](fp8::ComputeScaleOp scale) {
        for (Value value : op->getResults())
          setSizes(value, sizes(scale.getAmax()));
        return true;
      })
      .Case([&](fp8::UpdateHistoryOp update) {
        setSizes(update.getUsed(), sizes(update.getAmax()));
        setSizes(update.getUpdated(), sizes(update.getHistory()));
        return true;
      })
      .Case([&](linalg::LinalgOp structured) {
        for (auto [value, init] :
             llvm::zip(op->getResults(), structured.getDpsInits()))
          setSizes(value, sizes(init));
        return true;
      })
      .Default([&](Operation *) {
        // Everything else (globals, constants) is static.
        for (Value value : op->getResults()) {
          auto type = dyn_cast<RankedTensorType>(value.getType());
          if (!type)
            continue;
          if (!type.hasStaticShape())
            return false;
          setSizes(value, Sizes(type.getRank()));
        }
        return true;
      });
}

LogicalResult Shapes::visit(Operation *op) {
  if (auto symbol = dyn_cast<fp8::SymbolOp>(op)) {
    visitSymbol(symbol);
    return success();
  }
  if (isa<fp8::CheckOp>(op))
    return visitCheck(op);
  if (isa<fp8::KernelOp>(op))
    return visitKernel(op);
  if (op->getNumResults() == 1 && op->getResult(0).getType().isIndex())
    return visitIndexOp(op);
  if (!inferSizes(op))
    return op->emitError() << "'" << op->getName()
                           << "' has a result of unknown size";
  return success();
}
