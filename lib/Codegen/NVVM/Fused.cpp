//===- Fused.cpp - One kernel for a GPU: what the hardware has ------------===//
//
// Part of fp8c, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Operations of a graph in fewer instructions. Each gives the bytes of the
// operations that it stands for, or is a function within the bound of
// docs/numerics.md. What was emitted before is looked at; what is not used any
// more goes away.
//
//===----------------------------------------------------------------------===//

#include "GpuKernel.h"

#include "fp8c/Codegen/Casts.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace fp8c;
using namespace fp8c::codegen;

/// The scalar that all lanes are, or null.
static Value getScalar(Value value) {
  if (!isa<VectorType>(value.getType()))
    return value;
  auto broadcast = value.getDefiningOp<vector::BroadcastOp>();
  return broadcast ? broadcast.getSource() : Value();
}

/// The number that all lanes are.
static std::optional<float> getNumber(Value value) {
  FloatAttr number;
  DenseFPElementsAttr elements;
  if (matchPattern(value, m_Constant(&elements)) && elements.isSplat())
    return elements.getSplatValue<APFloat>().convertToFloat();
  Value scalar = getScalar(value);
  if (scalar && matchPattern(scalar, m_Constant(&number)))
    return static_cast<float>(number.getValueAsDouble());
  return std::nullopt;
}

static bool isNumber(Value value, float number) {
  return getNumber(value) == number;
}

/// `OpTy` of two operands, in the order in which `isFirst` holds for the first.
template <typename OpTy>
static std::pair<Value, Value> match(Value value,
                                     function_ref<bool(Value)> isFirst) {
  auto op = value ? value.getDefiningOp<OpTy>() : OpTy();
  if (!op)
    return {};
  Value left = op->getOperand(0), right = op->getOperand(1);
  if (isFirst(left))
    return {left, right};
  if (isFirst(right))
    return {right, left};
  return {};
}

Value GpuKernel::splat(Value like, float value) {
  return constantOf(like.getType(), builder.getF32FloatAttr(value));
}

/// `function` of each lane.
Value GpuKernel::mapLanes(Value value, function_ref<Value(Value)> function) {
  auto vector = dyn_cast<VectorType>(value.getType());
  if (!vector)
    return function(value);
  SmallVector<Value> results;
  for (int64_t i = 0; i < vector.getNumElements(); ++i)
    results.push_back(function(extractLane(value, i)));
  return vector::FromElementsOp::create(builder, loc, vector, results);
}

//===----------------------------------------------------------------------===//
// Sums of products
//===----------------------------------------------------------------------===//

/// A product of two bf16 values is exact in f32, so that adding it to a sum
/// is one operation.
std::optional<Lanes> GpuKernel::evaluateSpecial(Operation *op, Lookup lookup) {
  auto generic = dyn_cast_or_null<linalg::GenericOp>(op->getParentOp());
  if (!isa<arith::AddFOp>(op) || !generic ||
      !op->getResult(0).getType().isF32())
    return std::nullopt;
  auto isSum = [&](Value value) {
    return llvm::is_contained(generic.getRegionOutputArgs(), value);
  };
  auto [sum, part] = match<arith::AddFOp>(op->getResult(0), isSum);
  auto product = part ? part.getDefiningOp<arith::MulFOp>() : arith::MulFOp();
  if (!product || generic.getNumReductionLoops() == 0)
    return std::nullopt;
  Lanes left = lookup(product.getLhs()), right = lookup(product.getRhs());
  if (!widened.count(left.value) || !widened.count(right.value))
    return std::nullopt;
  Lanes before = lookup(sum);
  return Lanes{math::FmaOp::create(builder, loc, spread(left), spread(right),
                                   spread(before)),
               width == 1 ? Lanes::Uniform : Lanes::Varying};
}

//===----------------------------------------------------------------------===//
// Arithmetic of pairs
//===----------------------------------------------------------------------===//

/// The bf16 values that `value` has, as <n x bf16>, or null.
Value GpuKernel::getPairs(Value value) {
  auto vector = cast<VectorType>(value.getType());
  Type type = vector.clone(builder.getBF16Type());
  if (Value narrow = widened.lookup(value))
    return bitcast(type, narrow);
  std::optional<float> number = getNumber(value);
  if (!number)
    return {};
  bool lossy;
  APFloat narrow(*number);
  narrow.convert(APFloat::BFloat(), APFloat::rmNearestTiesToEven, &lossy);
  if (lossy)
    return {};
  return constantOf(type, builder.getFloatAttr(builder.getBF16Type(), narrow));
}

/// A sum, difference or product of bf16 values, rounded to bf16 once: the same
/// operation on pairs. (An addition after a multiplication is not one.)
Value GpuKernel::emitPairwise(Value value) {
  Operation *op = value.getDefiningOp();
  if (!target.hasPackedBF16 || !isa<VectorType>(value.getType()) ||
      !isa_and_nonnull<arith::AddFOp, arith::SubFOp, arith::MulFOp>(op))
    return {};
  Value left = getPairs(op->getOperand(0)), right = getPairs(op->getOperand(1));
  if (!left || !right)
    return {};
  Value result;
  if (isa<arith::AddFOp>(op))
    result = arith::AddFOp::create(builder, loc, left, right);
  else if (isa<arith::SubFOp>(op))
    result = arith::SubFOp::create(builder, loc, left, right);
  else
    result = arith::MulFOp::create(builder, loc, left, right);
  return bitcast(withElement(value.getType(), builder.getI16Type()), result);
}

//===----------------------------------------------------------------------===//
// Activations
//===----------------------------------------------------------------------===//

/// SiLU of a bf16 value that is rounded to bf16: by the hardware's
/// approximations of 2^x and 1/x. All 65,536 values have been compared with the
/// graph's operations. (GELU by them is nearer to the exact function in its
/// tail than the graph's 1 + tanh, and so has other bytes.)
Value GpuKernel::emitActivation(Value value) {
  auto ex2 = [&](Value x) {
    return mapLanes(x, [&](Value lane) {
      return call("llvm.nvvm.ex2.approx.ftz.f32", lane.getType(), lane);
    });
  };
  auto rcp = [&](Value x) {
    return mapLanes(x, [&](Value lane) {
      return call("llvm.nvvm.rcp.approx.ftz.f", lane.getType(), lane);
    });
  };
  auto mul = [&](Value a, Value b) -> Value {
    return arith::MulFOp::create(builder, loc, a, b);
  };
  auto add = [&](Value a, Value b) -> Value {
    return arith::AddFOp::create(builder, loc, a, b);
  };
  auto fma = [&](Value a, Value b, Value c) -> Value {
    return math::FmaOp::create(builder, loc, a, b, c);
  };
  auto isOne = [](Value v) { return isNumber(v, 1.0f); };

  // x / (1 + exp(-x)), shifted so that no part is flushed to 0.
  auto quotient = value.getDefiningOp<arith::DivFOp>();
  if (!quotient)
    return {};
  Value x = quotient.getLhs();
  Value power = match<arith::AddFOp>(quotient.getRhs(), isOne).second;
  auto exp = power ? power.getDefiningOp<math::ExpOp>() : math::ExpOp();
  auto negated =
      exp ? exp.getOperand().getDefiningOp<arith::NegFOp>() : arith::NegFOp();
  if (!widened.count(x) || !negated || negated.getOperand() != x)
    return {};
  Value e = ex2(fma(x, splat(x, -1.4426950409f), splat(x, -2.0f)));
  return mul(mul(x, splat(x, 0.25f)), rcp(add(splat(x, 0.25f), e)));
}

//===----------------------------------------------------------------------===//
// Casts of quotients
//===----------------------------------------------------------------------===//

/// `value` without clamps to +-largest or beyond: a saturating cast gives the
/// same for every value, NaN and Inf included.
Value GpuKernel::stripClamp(Value value, float largest) {
  for (;;) {
    auto isUpper = [&](Value v) { return getNumber(v).value_or(0) >= largest; };
    auto isLower = [&](Value v) {
      return getNumber(v).value_or(0) <= -largest;
    };
    Value inner = match<arith::MinimumFOp>(value, isUpper).second;
    if (!inner)
      inner = match<arith::MaximumFOp>(value, isLower).second;
    if (!inner)
      return value;
    value = inner;
  }
}

/// The cast to f8E4M3FN of x / s, where x is bf16 and s the same in all lanes:
/// with 1/s = h + l and l > 0 it is x*h + x*l in two operations, which has the
/// quotient's byte for every x and s (checked exhaustively) while s is in
/// 2^-120 .. 2^100. Null for any other value.
Value GpuKernel::emitQuotient(Value value, function_ref<Value(Value)> cast) {
  auto quotient = value.getDefiningOp<arith::DivFOp>();
  if (!quotient || !isa<VectorType>(value.getType()))
    return {};
  Value x = quotient.getLhs(), s = getScalar(quotient.getRhs());
  if (!s || !widened.count(x))
    return {};
  auto compare = [&](arith::CmpFPredicate predicate, float bound) {
    return arith::CmpFOp::create(builder, loc, predicate, s, splat(s, bound));
  };
  Value isUsual = arith::AndIOp::create(
      builder, loc, compare(arith::CmpFPredicate::OGE, 0x1p-120f),
      compare(arith::CmpFPredicate::OLE, 0x1p100f));
  Value reciprocal = call("llvm.nvvm.rcp.approx.ftz.f", s.getType(), s);
  Value bits = arith::SubIOp::create(
      builder, loc, bitcast(builder.getI32Type(), reciprocal), i32(2));
  Value high = bitcast(builder.getF32Type(), bits);
  Value low =
      math::FmaOp::create(builder, loc, arith::NegFOp::create(builder, loc, s),
                          high, splat(s, 1.0f));
  low = arith::MulFOp::create(builder, loc, low, reciprocal);

  Type codes = withElement(value.getType(), builder.getI8Type());
  auto choice = scf::IfOp::create(builder, loc, codes, isUsual, true);
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToStart(choice.thenBlock());
  Value part = arith::MulFOp::create(builder, loc, x, spread({low}));
  Value fast = math::FmaOp::create(builder, loc, x, spread({high}), part);
  scf::YieldOp::create(builder, loc, cast(fast));
  builder.setInsertionPointToStart(choice.elseBlock());
  Value exact = arith::DivFOp::create(builder, loc, x, quotient.getRhs());
  scf::YieldOp::create(builder, loc, cast(exact));
  return choice.getResult(0);
}
