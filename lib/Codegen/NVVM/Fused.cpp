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

#include "../FunctionEmitter.h"
#include "Matching.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "llvm/ADT/Sequence.h"

#include <cmath>

using namespace mlir;
using namespace fp8c;
using namespace fp8c::codegen;

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
// Sums of products, roots
//===----------------------------------------------------------------------===//

/// A product of two bf16 values is exact in f32, so that adding it to a sum
/// is one operation. 1/sqrt(x) is the hardware's.
std::optional<Lanes> GpuKernel::evaluateSpecial(Operation *op, Lookup lookup) {
  if (auto root = dyn_cast<math::RsqrtOp>(op); root && root.getType().isF32()) {
    Lanes x = lookup(root.getOperand());
    Value result = mapLanes(x.value, [&](Value lane) {
      return call("llvm.nvvm.rsqrt.approx.f", lane.getType(), lane);
    });
    return Lanes{result, x.kind};
  }
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
  bool isExact = widened.count(left.value) && widened.count(right.value);
  if (!isExact && !inMoments)
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

bool GpuKernel::comparesNarrow(Type element) const {
  return element.isBF16() && target.hasPackedBF16;
}

Value GpuKernel::combineMagnitudes(Value lanes, Value values) {
  auto type = cast<VectorType>(lanes.getType()).clone(builder.getBF16Type());
  Value magnitudes = math::AbsFOp::create(builder, loc, bitcast(type, values));
  Value largest =
      arith::MaximumFOp::create(builder, loc, bitcast(type, lanes), magnitudes);
  return bitcast(lanes.getType(), largest);
}

/// Halves onto each other down to a pair, then by their bits.
Value GpuKernel::largestMagnitude(Value lanes) {
  unsigned count = cast<VectorType>(lanes.getType()).getNumElements();
  Type bf16 = builder.getBF16Type();
  Value values = bitcast(VectorType::get(count, bf16), lanes);
  while (count > 2) {
    count /= 2;
    auto half = [&](int64_t from) -> Value {
      auto lanes = llvm::to_vector(llvm::seq<int64_t>(from, from + count));
      return vector::ShuffleOp::create(builder, loc, values, values, lanes);
    };
    values =
        arith::MaximumFOp::create(builder, loc, half(0), half(int64_t(count)));
  }
  Value pair = bitcast(builder.getI32Type(), values);
  Value high = arith::ShRUIOp::create(builder, loc, pair, i32(16));
  Value low = arith::AndIOp::create(builder, loc, pair, i32(0xffff));
  Value bits = arith::MaxUIOp::create(builder, loc, low, high);
  return bitcast(builder.getF32Type(),
                 arith::ShLIOp::create(builder, loc, bits, i32(16)));
}

//===----------------------------------------------------------------------===//
// Activations
//===----------------------------------------------------------------------===//

/// SiLU or GELU of a bf16 value that is rounded to bf16, or null for any other
/// value. All 65,536 values have been compared with the graph's operations,
/// GELU's with exact 2^x and 1/x.
Value GpuKernel::emitActivation(Value value) {
  if (Value silu = emitSiLU(value))
    return silu;
  return emitGELU(value);
}

/// 2^x by the hardware's approximation.
Value GpuKernel::emitPower(Value x) {
  return mapLanes(x, [&](Value lane) {
    return call("llvm.nvvm.ex2.approx.ftz.f32", lane.getType(), lane);
  });
}

/// 1/x by the hardware's approximation.
Value GpuKernel::emitReciprocal(Value x) {
  return mapLanes(x, [&](Value lane) {
    return call("llvm.nvvm.rcp.approx.ftz.f", lane.getType(), lane);
  });
}

/// x / (1 + exp(-x)), shifted so that no part is flushed to 0.
Value GpuKernel::emitSiLU(Value value) {
  FunctionEmitter emit(builder, loc, value.getType());
  auto isOne = [](Value v) { return isNumber(v, 1.0f); };
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
  Value quarter = emit.constant(0.25);
  Value e =
      emitPower(emit.fma(x, emit.constant(-1.4426950409), emit.constant(-2.0)));
  return emit.mul(emit.mul(x, quarter), emitReciprocal(emit.add(quarter, e)));
}

/// The negative bf16 value nearest to 0 whose x * (linear + cubic * x^2), as
/// emitGELU computes it, is above `last`; so it is for all below.
static float findTail(double linear, float last) {
  for (uint32_t bits = 0x8000;; ++bits) {
    const float x = llvm::bit_cast<float>(bits << 16);
    if (x * std::fma(x * x, float(linear * 0.044715), float(linear)) > last)
      return x;
  }
}

/// bf16 values, as f32; those up to `tail` 1.6e29 less.
Value GpuKernel::moveTail(Value x, float tail) {
  constexpr int32_t kFar = int32_t(0xF000F000);
  const uint32_t half = llvm::bit_cast<uint32_t>(tail) >> 16;
  const int32_t limit = int32_t(half << 16 | half);
  const unsigned lanes = cast<VectorType>(x.getType()).getNumElements();
  Type word = builder.getI32Type();
  auto words = VectorType::get(lanes / 2, word);
  Value pairs = bitcast(words, widened.lookup(x));
  SmallVector<Value> moved;
  for (unsigned i = 0; i < lanes / 2; ++i)
    moved.push_back(
        LLVM::InlineAsmOp::create(
            builder, loc, word,
            ValueRange{extractLane(pairs, i), i32(limit), i32(kFar)},
            "{\n\t.reg .b32 is;\n\t"
            "set.le.bf16x2.bf16x2 is, $1, $2;\n\t"
            "fma.rn.bf16x2 $0, is, $3, $1;\n\t}",
            "=r,r,r,r", /*has_side_effects=*/false, /*is_align_stack=*/false,
            LLVM::tailcallkind::TailCallKind::None, LLVM::AsmDialectAttr(),
            ArrayAttr())
            .getResult(0));
  Value value = vector::FromElementsOp::create(builder, loc, words, moved);
  auto narrow = VectorType::get(lanes, builder.getI16Type());
  return toF32(bitcast(narrow, value), builder.getBF16Type());
}

/// (x * 0.5) * (1 + tanh(u)) with u = sqrt(2/pi) * (x + 0.044715 * x^3): x by
/// 1 / (1 + exp(-2u)), which is rounded on the way as the graph's tanh is. What
/// is left of 1 + tanh in the tail depends on that.
Value GpuKernel::emitGELU(Value value) {
  FunctionEmitter emit(builder, loc, value.getType());
  auto isOne = [](Value v) { return isNumber(v, 1.0f); };
  auto isHalf = [](Value v) { return isNumber(v, 0.5f); };
  auto isScaled = [&](Value v) {
    return bool(match<arith::MulFOp>(v, isHalf).second);
  };
  auto [scaled, graphFactor] = match<arith::MulFOp>(value, isScaled);
  if (!scaled)
    return {};
  Value x = match<arith::MulFOp>(scaled, isHalf).second;
  Value curve = match<arith::AddFOp>(graphFactor, isOne).second;
  auto tanh = curve ? curve.getDefiningOp<math::TanhOp>() : math::TanhOp();
  if (!tanh || !widened.count(x))
    return {};
  auto isRoot = [](Value v) { return isNumber(v, 0.797884583f); };
  auto isCubic = [](Value v) { return isNumber(v, 0.044715f); };
  auto isX = [&](Value v) { return v == x; };
  Value inner = match<arith::MulFOp>(tanh.getOperand(), isRoot).second;
  Value cubic = match<arith::AddFOp>(inner, isX).second;
  Value cube = match<arith::MulFOp>(cubic, isCubic).second;
  Value square = match<arith::MulFOp>(cube, isX).second;
  if (match<arith::MulFOp>(square, isX).second != x)
    return {};
  // -2u in units of log(2), and from where on the graph's tanh is -1.
  constexpr double linear = -2.0 * 1.4426950408889634 * 0.797884583;
  constexpr float last = 25;
  // Of predicates, which a selection needs, a thread has seven, and beside a
  // product values are computed one after the other for want of them: there
  // what is beyond becomes so large that nothing is left of it.
  const bool isMoved = givenOperand && isa<VectorType>(x.getType());
  if (isMoved)
    x = moveTail(x, findTail(linear, last));
  Value t = emit.fma(emit.mul(x, x), emit.constant(linear * 0.044715),
                     emit.constant(linear));
  Value power = emit.mul(x, t);
  Value half = emit.constant(0.5);
  Value factor = emitReciprocal(emit.add(emit.constant(1.0), emitPower(power)));
  factor = emit.add(emit.sub(factor, half), half);
  if (isMoved)
    return emit.mul(x, factor);
  Value beyond = emit.greater(power, emit.constant(last));
  return emit.mul(x, emit.select(beyond, emit.constant(0.0), factor));
}
