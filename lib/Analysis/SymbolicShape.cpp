//===- SymbolicShape.cpp - Sizes of values as interned expressions --------===//
//
// Part of fp8c, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "fp8c/Analysis/SymbolicShape.h"

#include "fp8c/Dialect/FP8/FP8.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/Matchers.h"
#include "mlir/Interfaces/DestinationStyleOpInterface.h"
#include "llvm/ADT/TypeSwitch.h"
#include "llvm/Support/MathExtras.h"
#include "llvm/Support/SaveAndRestore.h"

using namespace mlir;
using namespace fp8c;

SymbolicShape::SymbolicShape(Operation *root) {
  root->walk([&](fp8::SymbolOp op) { addSymbol(op); });
}

void SymbolicShape::addSymbol(fp8::SymbolOp op) {
  SymbolInfo &info = symbols[op.getName()];
  if (info.value)
    return;
  ranges.clear();
  info.value = op.getResult();
  info.min = op.getMin();
  info.max = op.getMax();
  info.multiple = op.getMultiple();
}

void SymbolicShape::forget(Value value) {
  values.erase(value);
  if (auto type = dyn_cast<RankedTensorType>(value.getType()))
    for (unsigned dim = 0, e = type.getRank(); dim < e; ++dim)
      dims.erase({value, dim});
}

//===----------------------------------------------------------------------===//
// Index values
//===----------------------------------------------------------------------===//

SizeExpr SymbolicShape::get(OpFoldResult index) {
  if (auto value = dyn_cast<Value>(index))
    return get(value);
  return constant(cast<IntegerAttr>(cast<Attribute>(index)).getInt());
}

SizeExpr SymbolicShape::get(Value index) {
  auto it = values.find(index);
  if (it != values.end())
    return it->second;
  SizeExpr expr = compute(index);
  values[index] = expr;
  return expr;
}

/// The capture that a block argument of a kernel is; null for others.
static Value getCapture(BlockArgument argument) {
  auto kernel =
      dyn_cast_or_null<fp8::KernelOp>(argument.getOwner()->getParentOp());
  if (!kernel)
    return {};
  return kernel.getCaptures()[argument.getArgNumber()];
}

/// How many operations on the way to a value are looked through.
static constexpr unsigned kMaxDepth = 500;

SizeExpr SymbolicShape::compute(Value index) {
  auto opaque = [&] {
    Atom atom;
    atom.kind = Atom::Kind::Value;
    atom.value = index;
    return atomExpr(getAtom(std::move(atom)));
  };
  if (auto argument = dyn_cast<BlockArgument>(index)) {
    Value capture = getCapture(argument);
    return capture ? get(capture) : opaque();
  }
  // Chains of operations may be long, and this recurses.
  llvm::SaveAndRestore deeper(depth, depth + 1);
  if (depth > kMaxDepth)
    return opaque();
  APInt value;
  if (matchPattern(index, m_ConstantInt(&value)) &&
      value.getSignificantBits() <= 64)
    return constant(value.getSExtValue());
  Operation *op = index.getDefiningOp();
  auto binary = [&](SizeExpr (SymbolicShape::*function)(SizeExpr, SizeExpr)) {
    return (this->*function)(get(op->getOperand(0)), get(op->getOperand(1)));
  };
  return TypeSwitch<Operation *, SizeExpr>(op)
      .Case<fp8::SymbolOp>([&](fp8::SymbolOp op) {
        addSymbol(op);
        return symbol(op.getName());
      })
      .Case<arith::IndexCastOp>([&](auto op) { return get(op.getIn()); })
      .Case<arith::AddIOp>([&](auto) { return binary(&SymbolicShape::add); })
      .Case<arith::SubIOp>([&](auto) { return binary(&SymbolicShape::sub); })
      .Case<arith::MulIOp>([&](auto) { return binary(&SymbolicShape::mul); })
      .Case<arith::FloorDivSIOp, arith::DivSIOp, arith::DivUIOp>(
          [&](auto) { return binary(&SymbolicShape::floorDiv); })
      .Case<arith::CeilDivSIOp, arith::CeilDivUIOp>(
          [&](auto) { return binary(&SymbolicShape::ceilDiv); })
      .Case<arith::RemSIOp, arith::RemUIOp>(
          [&](auto) { return binary(&SymbolicShape::mod); })
      .Case<arith::MinSIOp, arith::MinUIOp>(
          [&](auto) { return binary(&SymbolicShape::min); })
      .Case<arith::MaxSIOp, arith::MaxUIOp>(
          [&](auto) { return binary(&SymbolicShape::max); })
      .Case<tensor::DimOp>([&](tensor::DimOp op) {
        std::optional<int64_t> dim = op.getConstantIndex();
        auto type = dyn_cast<RankedTensorType>(op.getSource().getType());
        if (!dim || !type || *dim < 0 || *dim >= type.getRank())
          return opaque();
        return getDim(op.getSource(), *dim);
      })
      .Default([&](Operation *) { return opaque(); });
}

//===----------------------------------------------------------------------===//
// Dims of tensors
//===----------------------------------------------------------------------===//

SizeExpr SymbolicShape::getDim(Value tensor, unsigned dim) {
  auto type = cast<RankedTensorType>(tensor.getType());
  if (!type.isDynamicDim(dim))
    return constant(type.getDimSize(dim));
  auto it = dims.find({tensor, dim});
  if (it != dims.end())
    return it->second;
  SizeExpr expr = computeDim(tensor, dim);
  dims[{tensor, dim}] = expr;
  return expr;
}

SmallVector<SizeExpr> SymbolicShape::getDims(Value tensor) {
  SmallVector<SizeExpr> result;
  for (unsigned dim = 0, e = cast<RankedTensorType>(tensor.getType()).getRank();
       dim < e; ++dim)
    result.push_back(getDim(tensor, dim));
  return result;
}

SizeExpr SymbolicShape::getNumElements(Value tensor) {
  return product(getDims(tensor));
}

SizeExpr SymbolicShape::opaqueDim(Value tensor, unsigned dim) {
  Atom atom;
  atom.kind = Atom::Kind::Dim;
  atom.value = tensor;
  atom.dim = dim;
  return atomExpr(getAtom(std::move(atom)));
}

SizeExpr SymbolicShape::computeDim(Value tensor, unsigned dim) {
  if (auto argument = dyn_cast<BlockArgument>(tensor)) {
    if (Value capture = getCapture(argument))
      return getDim(capture, dim);
    auto func =
        dyn_cast_or_null<func::FuncOp>(argument.getOwner()->getParentOp());
    if (!func || !argument.getOwner()->isEntryBlock())
      return opaqueDim(tensor, dim);
    auto sizes =
        func.getArgAttrOfType<ArrayAttr>(argument.getArgNumber(), kDimsAttr);
    if (sizes && dim < sizes.size())
      if (auto text = dyn_cast<StringAttr>(sizes[dim]))
        if (SizeExpr expr = parse(text.getValue()))
          return expr;
    return opaqueDim(tensor, dim);
  }
  auto result = cast<OpResult>(tensor);
  Operation *op = tensor.getDefiningOp();
  int64_t rank = cast<RankedTensorType>(tensor.getType()).getRank();
  /// A dim of an operand, counted from the end as the result's dim.
  auto fromEnd = [&](Value operand, int64_t position) {
    return getDim(operand, cast<RankedTensorType>(operand.getType()).getRank() -
                               position);
  };
  return TypeSwitch<Operation *, SizeExpr>(op)
      .Case<tensor::EmptyOp>(
          [&](tensor::EmptyOp op) { return get(op.getDynamicSize(dim)); })
      .Case<tensor::ExpandShapeOp>([&](tensor::ExpandShapeOp op) {
        return get(op.getMixedOutputShape()[dim]);
      })
      .Case<tensor::CollapseShapeOp>([&](tensor::CollapseShapeOp op) {
        SizeExpr size = constant(1);
        SmallVector<ReassociationIndices> groups = op.getReassociationIndices();
        for (int64_t source : groups[dim])
          size = mul(size, getDim(op.getSrc(), source));
        return size;
      })
      .Case<tensor::ExtractSliceOp>([&](tensor::ExtractSliceOp op) {
        llvm::SmallBitVector dropped = op.getDroppedDims();
        unsigned position = 0;
        for (auto [i, size] : llvm::enumerate(op.getMixedSizes()))
          if (!dropped.test(i) && position++ == dim)
            return get(size);
        return opaqueDim(tensor, dim);
      })
      .Case<tensor::InsertSliceOp>(
          [&](tensor::InsertSliceOp op) { return getDim(op.getDest(), dim); })
      .Case<tensor::CastOp>(
          [&](tensor::CastOp op) { return getDim(op.getSource(), dim); })
      .Case<tensor::ConcatOp>([&](tensor::ConcatOp op) {
        if (op.getDim() != dim)
          return getDim(op.getInputs().front(), dim);
        SizeExpr size = constant(0);
        for (Value input : op.getInputs())
          size = add(size, getDim(input, dim));
        return size;
      })
      .Case<linalg::TransposeOp>([&](linalg::TransposeOp op) {
        return getDim(op.getInput(), op.getPermutation()[dim]);
      })
      .Case<DestinationStyleOpInterface>([&](DestinationStyleOpInterface op) {
        return getDim(op.getTiedOpOperand(result)->get(), dim);
      })
      .Case<fp8::QuantizeOp, fp8::DequantizeOp, fp8::CastOp>(
          [&](auto op) { return getDim(op.getInput(), dim); })
      .Case<fp8::AmaxOp>([&](fp8::AmaxOp op) {
        int64_t block = op.getScaling().getBlock()[dim];
        return ceilDiv(getDim(op.getInput(), dim), constant(block));
      })
      .Case<fp8::ComputeScaleOp>(
          [&](fp8::ComputeScaleOp op) { return getDim(op.getAmax(), dim); })
      .Case<fp8::ScaledMatmulOp, fp8::MatmulOp>([&](auto op) {
        if (result.getResultNumber() == 0 && dim == rank - 1)
          return fromEnd(op.getRhs(), 1);
        return getDim(op.getLhs(), dim);
      })
      .Case<fp8::AttentionOp>([&](fp8::AttentionOp op) {
        return dim == rank - 1 ? fromEnd(op.getValue(), 1)
                               : getDim(op.getQuery(), dim);
      })
      .Case<fp8::KernelOp>([&](fp8::KernelOp op) {
        Operation *yield = op.getBody().front().getTerminator();
        return getDim(yield->getOperand(result.getResultNumber()), dim);
      })
      .Default([&](Operation *) { return opaqueDim(tensor, dim); });
}

//===----------------------------------------------------------------------===//
// Numbers
//===----------------------------------------------------------------------===//

std::optional<int64_t> SymbolicShape::evaluate(
    SizeExpr expr,
    function_ref<std::optional<int64_t>(StringRef)> lookup) const {
  auto evaluateAtom = [&](const Atom &atom) -> std::optional<int64_t> {
    if (atom.kind == Atom::Kind::Symbol)
      return lookup(atom.name);
    if (atom.kind == Atom::Kind::Value || atom.kind == Atom::Kind::Dim)
      return std::nullopt;
    std::optional<int64_t> lhs = evaluate(atom.lhs, lookup);
    std::optional<int64_t> rhs = evaluate(atom.rhs, lookup);
    if (!lhs || !rhs)
      return std::nullopt;
    if (atom.kind == Atom::Kind::Min)
      return std::min(*lhs, *rhs);
    if (atom.kind == Atom::Kind::Max)
      return std::max(*lhs, *rhs);
    return *rhs > 0 ? std::optional(llvm::divideFloorSigned(*lhs, *rhs))
                    : std::nullopt;
  };
  int64_t sum = 0;
  for (const SizeTerm &term : expr->terms) {
    int64_t product = term.factor;
    for (unsigned id : term.atoms) {
      std::optional<int64_t> value = evaluateAtom(atoms[id]);
      if (!value || llvm::MulOverflow(product, *value, product))
        return std::nullopt;
    }
    if (llvm::AddOverflow(sum, product, sum))
      return std::nullopt;
  }
  return sum;
}

//===----------------------------------------------------------------------===//
// Back to values
//===----------------------------------------------------------------------===//

Value SymbolicShape::materializeAtom(OpBuilder &builder, Location loc,
                                     unsigned id, SizeValues *known) {
  Atom atom = atoms[id];
  auto operand = [&](SizeExpr expr) {
    return materialize(builder, loc, expr, known);
  };
  switch (atom.kind) {
  case Atom::Kind::Symbol: {
    SymbolInfo &info = symbols[atom.name];
    if (!info.value) {
      OpBuilder::InsertionGuard guard(builder);
      Operation *parent = builder.getBlock()->getParentOp();
      auto func = dyn_cast<func::FuncOp>(parent);
      if (!func)
        func = parent->getParentOfType<func::FuncOp>();
      if (func)
        builder.setInsertionPointToStart(&func.getBody().front());
      info.value =
          fp8::SymbolOp::create(builder, loc, builder.getIndexType(), atom.name,
                                /*min=*/0, /*max=*/IntegerAttr());
    }
    return info.value;
  }
  case Atom::Kind::Value:
    if (!atom.value.getType().isIndex())
      return arith::IndexCastOp::create(builder, loc, builder.getIndexType(),
                                        atom.value);
    return atom.value;
  case Atom::Kind::Dim:
    return tensor::DimOp::create(builder, loc, atom.value, atom.dim);
  case Atom::Kind::FloorDiv:
    return arith::FloorDivSIOp::create(builder, loc, operand(atom.lhs),
                                       operand(atom.rhs));
  case Atom::Kind::Min:
    return arith::MinSIOp::create(builder, loc, operand(atom.lhs),
                                  operand(atom.rhs));
  case Atom::Kind::Max:
    return arith::MaxSIOp::create(builder, loc, operand(atom.lhs),
                                  operand(atom.rhs));
  }
  return {};
}

Value SymbolicShape::materialize(OpBuilder &builder, Location loc,
                                 SizeExpr expr, SizeValues *known) {
  if (known)
    if (Value value = known->lookup(expr))
      return value;
  auto getAtomValue = [&](unsigned id) -> Value {
    if (!known)
      return materializeAtom(builder, loc, id, known);
    SizeExpr key = atomExpr(id);
    Value value = known->lookup(key);
    if (!value) {
      value = materializeAtom(builder, loc, id, known);
      (*known)[key] = value;
    }
    return value;
  };
  Value sum;
  for (const SizeTerm &term : expr->terms) {
    Value product;
    if (known && term.atoms.size() > 1 && term.factor != 1)
      product = materialize(builder, loc, intern({{term.atoms, 1}}), known);
    else
      for (unsigned atom : term.atoms) {
        Value next = getAtomValue(atom);
        product =
            product ? arith::MulIOp::create(builder, loc, product, next) : next;
      }
    if (!product || term.factor != 1) {
      SizeExpr number = constant(term.factor);
      Value factor =
          known && number != expr
              ? materialize(builder, loc, number, known)
              : arith::ConstantIndexOp::create(builder, loc, term.factor)
                    .getResult();
      product = product ? arith::MulIOp::create(builder, loc, product, factor)
                        : factor;
    }
    sum = sum ? arith::AddIOp::create(builder, loc, sum, product) : product;
  }
  if (!sum)
    sum = arith::ConstantIndexOp::create(builder, loc, 0);
  if (known)
    (*known)[expr] = sum;
  return sum;
}

OpFoldResult SymbolicShape::materializeFold(OpBuilder &builder, Location loc,
                                            SizeExpr expr) {
  if (std::optional<int64_t> value = getConstant(expr))
    return builder.getIndexAttr(*value);
  return materialize(builder, loc, expr);
}
