//===- Functions.cpp - Functions as arithmetic ----------------------------===//
//
// Part of fp8c, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Argument reductions and polynomials are those of the Cephes library (Moshier)
// unless said. Bounds are measured by FunctionsTest over f32 inputs.
//
// One file of over 400 lines: the functions share their reductions and steps.
//
//===----------------------------------------------------------------------===//

#include "fp8c/Codegen/Functions.h"
#include "fp8c/Codegen/FunctionOps.h"

#include "FunctionEmitter.h"

#include "mlir/Transforms/GreedyPatternRewriteDriver.h"

using namespace mlir;
using namespace fp8c;
using namespace fp8c::codegen;
using Emitter = FunctionEmitter;

static constexpr double kInfinity = std::numeric_limits<double>::infinity();
static constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

//===----------------------------------------------------------------------===//
// Exponentials
//===----------------------------------------------------------------------===//

namespace {
/// e^x = 2^n * (1 + r + tail), with n an integer and r + tail < 0.42.
struct ReducedExp {
  Value n, r, tail;
};
} // namespace

static ReducedExp reduceExp(Emitter &e, Value x) {
  Value n = e.nearest(e.mul(x, e.constant(1.44269504088896341)));
  // The first is exact; what the second rounds off goes to the tail.
  Value high = e.fma(n, e.constant(-0.693359375), x);
  Value low = e.constant(2.12194440e-4);
  Value r = e.fma(n, low, high);
  Value rest = e.fma(n, low, e.sub(high, r));
  Value p =
      e.polynomial(r, {1.9875691500e-4, 1.3981999507e-3, 8.3334519073e-3,
                       4.1665795894e-2, 1.6666665459e-1, 5.0000001201e-1});
  return {e.toInt(e.integer(), n), r, e.fma(e.mul(r, r), p, rest)};
}

/// `x` kept in low .. high; NaN stays.
static Value clamp(Emitter &e, Value x, double low, double high) {
  Value a = e.constant(low), b = e.constant(high);
  x = e.select(e.less(x, a), a, x);
  return e.select(e.greater(x, b), b, x);
}

/// value * 2^n in two steps, so that n may reach beyond the exponents.
static Value scale(Emitter &e, Value value, Value n) {
  Value half = e.shiftRight(n, e.bits(1));
  return e.mul(e.mul(value, e.power(half)), e.power(e.subInt(n, half)));
}

static Value emitExp(Emitter &e, Value x) {
  // NaN: no integer follows from it, so it is put back at the end.
  Value isNaN = e.compare(Emitter::Predicate::UNO, x, x);
  Value finite = e.select(isNaN, e.constant(0.0), clamp(e, x, -104.0, 89.0));
  ReducedExp exp = reduceExp(e, finite);
  // 1 + r with what that sum loses: nearly all of the error is the last sum's.
  Value one = e.constant(1.0);
  Value sum = e.add(one, exp.r);
  Value lost = e.sub(exp.r, e.sub(sum, one));
  Value result = e.add(sum, e.add(lost, exp.tail));
  return e.select(isNaN, x, scale(e, result, exp.n));
}

static Value emitExp2(Emitter &e, Value x) {
  Value isNaN = e.compare(Emitter::Predicate::UNO, x, x);
  Value finite = e.select(isNaN, e.constant(0.0), clamp(e, x, -151.0, 129.0));
  Value whole = e.nearest(finite);
  Value r = e.sub(finite, whole);
  Value p = e.polynomial(r, {1.535336188319500e-4, 1.339887440266574e-3,
                             9.618437357674640e-3, 5.550332471162809e-2,
                             2.402264791363012e-1, 6.931472028550421e-1, 1.0});
  return e.select(isNaN, x, scale(e, p, e.toInt(e.integer(), whole)));
}

static Value emitExpM1(Emitter &e, Value x) {
  Value isNaN = e.compare(Emitter::Predicate::UNO, x, x);
  Value finite = e.select(isNaN, e.constant(0.0), clamp(e, x, -40.0, 89.0));
  ReducedExp exp = reduceExp(e, finite);
  // Half of 2^n, which is a number up to the end.
  Value s = e.power(e.subInt(exp.n, e.bits(1)));
  Value p = e.add(exp.r, exp.tail);
  Value half = e.fma(p, s, e.sub(s, e.constant(0.5)));
  Value result = e.add(half, half);
  // -0 and the smallest arguments.
  result = e.select(e.less(e.abs(x), e.constant(1e-7)), x, result);
  return e.select(isNaN, x, result);
}

//===----------------------------------------------------------------------===//
// Logarithms
//===----------------------------------------------------------------------===//

/// x = 2^exponent * (1 + z), with z in sqrt(1/2) - 1 .. sqrt(2) - 1, for a
/// normal or subnormal x > 0.
static std::pair<Value, Value> splitLog(Emitter &e, Value x) {
  Value isTiny = e.less(x, e.constant(1.17549435e-38));
  Value scaled = e.select(isTiny, e.mul(x, e.constant(8388608.0)), x);
  Value bits = e.bitcast(e.integer(), scaled);
  // The bits of sqrt(1/2).
  Value above = e.subInt(bits, e.bits(0x3f3504f3));
  Value exponent = e.shiftRight(above, e.bits(23));
  Value mantissa =
      e.bitcast(e.real(), e.subInt(bits, e.shiftLeft(exponent, e.bits(23))));
  Value whole = e.toReal(e.real(), exponent);
  whole = e.select(isTiny, e.sub(whole, e.constant(23.0)), whole);
  return {whole, e.sub(mantissa, e.constant(1.0))};
}

/// log(1 + z) - z.
static Value logTail(Emitter &e, Value z) {
  Value square = e.mul(z, z);
  Value p =
      e.polynomial(z, {7.0376836292e-2, -1.1514610310e-1, 1.1676998740e-1,
                       -1.2420140846e-1, 1.4249322787e-1, -1.6668057665e-1,
                       2.0000714765e-1, -2.4999993993e-1, 3.3333331174e-1});
  return e.fma(square, e.constant(-0.5), e.mul(e.mul(square, z), p));
}

/// Puts in what logarithms of 0, negative numbers, Inf and NaN are.
static Value logSpecials(Emitter &e, Value x, Value result) {
  Value zero = e.constant(0.0), infinity = e.constant(kInfinity);
  result = e.select(e.equal(x, infinity), infinity, result);
  result = e.select(e.equal(x, zero), e.constant(-kInfinity), result);
  result = e.select(e.less(x, zero), e.constant(kNaN), result);
  return e.select(e.compare(Emitter::Predicate::UNO, x, x), x, result);
}

static Value emitLog(Emitter &e, Value x) {
  auto [whole, z] = splitLog(e, x);
  Value tail = e.fma(whole, e.constant(-2.12194440e-4), logTail(e, z));
  Value result = e.fma(whole, e.constant(0.693359375), e.add(z, tail));
  return logSpecials(e, x, result);
}

/// The logarithm to another base: `perLog` = 1 / log(base) as two numbers, and
/// `perTwo` = log(2) / log(base).
static Value emitLogBase(Emitter &e, Value x, double perLog, double perTwo) {
  auto [whole, z] = splitLog(e, x);
  Value tail = logTail(e, z);
  double high = static_cast<float>(perLog), two = static_cast<float>(perTwo);
  Value low =
      e.fma(z, e.constant(perLog - high), e.mul(tail, e.constant(high)));
  low = e.fma(whole, e.constant(perTwo - two), low);
  Value result = e.fma(z, e.constant(high), low);
  return logSpecials(e, x, e.fma(whole, e.constant(two), result));
}

static Value emitLog2(Emitter &e, Value x) {
  return emitLogBase(e, x, 1.4426950408889634, 1.0);
}

static Value emitLog10(Emitter &e, Value x) {
  return emitLogBase(e, x, 0.43429448190325183, 0.30102999566398120);
}

static Value emitLog1p(Emitter &e, Value x) {
  Value one = e.constant(1.0);
  Value sum = e.add(one, x);
  Value result = emitLog(e, sum);
  // What the sum lost, over the sum.
  Value lost = e.sub(x, e.sub(sum, one));
  Value exact = e.equal(lost, e.constant(0.0));
  Value special = e.compare(Emitter::Predicate::UNO, lost, lost);
  Value fixed = e.add(result, e.div(lost, sum));
  result = e.select(e.select(special, special, exact), result, fixed);
  return e.select(e.less(e.abs(x), e.constant(1e-8)), x, result);
}

//===----------------------------------------------------------------------===//
// tanh, erf
//===----------------------------------------------------------------------===//

static Value emitTanh(Emitter &e, Value x) {
  Value magnitude = e.abs(x);
  Value z = e.mul(x, x);
  Value small =
      e.polynomial(z, {-5.70498872745e-3, 2.06390887954e-2, -5.37397155531e-2,
                       1.33314422036e-1, -3.33332819422e-1});
  small = e.fma(e.mul(small, z), x, x);
  Value power = emitExp(e, e.add(magnitude, magnitude));
  Value large = e.sub(e.constant(1.0),
                      e.div(e.constant(2.0), e.add(power, e.constant(1.0))));
  Value result = e.select(e.less(magnitude, e.constant(0.625)), small, large);
  // Where the library of PyTorch's CPU kernels says 1, within a unit: GELU's
  // 1 + tanh is 0 or not by this.
  Value isOne = e.greater(magnitude, e.constant(8.664339742));
  result = e.select(isOne, e.constant(1.0), result);
  return e.withSign(result, x);
}

/// Both parts after N. Juffa's erff.
static Value emitErf(Emitter &e, Value x) {
  Value t = e.abs(x), s = e.mul(x, x);
  Value r = e.fma(e.constant(-1.72853470e-5), t, e.constant(3.83197126e-4));
  Value u = e.fma(e.constant(-3.88396438e-3), t, e.constant(2.42546219e-2));
  r = e.fma(r, s, u);
  for (double coefficient : {-1.06777877e-1, -6.34846687e-1, -1.28717512e-1})
    r = e.fma(r, t, e.constant(coefficient));
  r = e.fma(r, t, e.neg(t));
  // The exponent falls to the point where nothing is left of it.
  Value beyond = e.greater(t, e.constant(4.0));
  r = e.select(beyond, e.constant(-kInfinity), r);
  Value large = e.withSign(e.sub(e.constant(1.0), emitExp(e, r)), x);
  Value small = e.polynomial(s, {-5.96761703e-4, 4.99119423e-3, -2.67681349e-2,
                                 1.12819925e-1, -3.76125336e-1, 1.28379166e-1});
  small = e.fma(small, x, x);
  Value isLarge = e.greater(t, e.constant(0.927734375));
  return e.select(isLarge, large, small);
}

//===----------------------------------------------------------------------===//
// sin, cos, tan
//===----------------------------------------------------------------------===//

/// sin(x) and cos(x) for |x| up to 1e5, NaN beyond 1.5e9; pi/2 as three
/// numbers.
static std::pair<Value, Value> emitSinCos(Emitter &e, Value x) {
  Value k = e.nearest(e.mul(x, e.constant(0.63661977236758134)));
  Value r = e.fma(k, e.constant(-1.57079637050628662109375), x);
  r = e.fma(k, e.constant(4.371139000186241e-8), r);
  r = e.fma(k, e.constant(1.7151245100059e-15), r);
  Value isSane = e.less(e.abs(k), e.constant(1e9));
  Value quadrant = e.toInt(e.integer(), e.select(isSane, k, e.constant(0.0)));
  r = e.select(isSane, r, e.constant(kNaN));
  Value z = e.mul(r, r);
  Value sine =
      e.polynomial(z, {-1.9515295891e-4, 8.3321608736e-3, -1.6666654611e-1});
  sine = e.fma(e.mul(sine, z), r, r);
  Value cosine = e.polynomial(
      z, {2.443315711809948e-5, -1.388731625493765e-3, 4.166664568298827e-2});
  cosine =
      e.fma(e.mul(cosine, z), z, e.fma(z, e.constant(-0.5), e.constant(1.0)));
  Value isOdd = e.isEqualInt(e.andInt(quadrant, e.bits(1)), e.bits(1));
  Value sinValue = e.select(isOdd, cosine, sine);
  Value cosValue = e.select(isOdd, sine, cosine);
  Value sinTurns = e.isEqualInt(e.andInt(quadrant, e.bits(2)), e.bits(2));
  Value next = e.addInt(quadrant, e.bits(1));
  Value cosTurns = e.isEqualInt(e.andInt(next, e.bits(2)), e.bits(2));
  return {e.select(sinTurns, e.neg(sinValue), sinValue),
          e.select(cosTurns, e.neg(cosValue), cosValue)};
}

/// `result`, but x where x is 0, for its sign.
static Value keepZero(Emitter &e, Value x, Value result) {
  return e.select(e.equal(x, e.constant(0.0)), x, result);
}

static Value emitSin(Emitter &e, Value x) {
  return keepZero(e, x, emitSinCos(e, x).first);
}
static Value emitCos(Emitter &e, Value x) { return emitSinCos(e, x).second; }
static Value emitTan(Emitter &e, Value x) {
  auto [sine, cosine] = emitSinCos(e, x);
  return keepZero(e, x, e.div(sine, cosine));
}

//===----------------------------------------------------------------------===//
// Roots and powers
//===----------------------------------------------------------------------===//

static Value emitRsqrt(Emitter &e, Value x) {
  return e.div(e.constant(1.0), e.sqrt(x));
}

/// log2 of an f64 that was an f32 > 0, to about 1e-14.
static Value emitWideLog2(Emitter &e, Value magnitude) {
  auto [whole, z] = splitLog(e, magnitude);
  Value wide = e.widen(z);
  Value s = e.div(wide, e.add(wide, e.constant(e.wide(), 2.0)));
  SmallVector<double> terms;
  for (int power = 17; power >= 1; power -= 2)
    terms.push_back(2.0 * 1.4426950408889634 / power);
  Value series = e.polynomial(e.mul(s, s), terms);
  return e.fma(series, s, e.widen(whole));
}

static Value emitPow(Emitter &e, Value x, Value y) {
  Value zero = e.constant(0.0), one = e.constant(1.0);
  Value infinity = e.constant(kInfinity);
  Value magnitude = e.abs(x);
  Value product = e.mul(
      emitWideLog2(e, e.select(e.greater(magnitude, zero), magnitude, one)),
      e.widen(y));
  // 2^product in f64 for -1000 .. 1000, which is beyond f32 on both sides.
  Value low = e.constant(e.wide(), -1000.0),
        high = e.constant(e.wide(), 1000.0);
  product = e.select(e.less(product, low), low, product);
  product = e.select(e.greater(product, high), high, product);
  Value isNumber = e.equal(product, product);
  product = e.select(isNumber, product, e.constant(e.wide(), 0.0));
  Value whole = e.nearest(product);
  SmallVector<double> terms;
  double term = 1.0;
  terms.push_back(1.0);
  for (int i = 1; i <= 12; ++i)
    terms.push_back(term *= 0.69314718055994531 / i);
  std::reverse(terms.begin(), terms.end());
  Value p = e.polynomial(e.sub(product, whole), terms);
  Type i64 = e.of(IntegerType::get(x.getContext(), 64));
  Value exponent = e.addInt(e.toInt(i64, whole), e.constant(i64, 1023));
  Value power = e.bitcast(e.wide(), e.shiftLeft(exponent, e.constant(i64, 52)));
  Value result = e.narrow(e.mul(p, power));

  // Zeros and infinities of the base: by the sign of the exponent.
  Value yNegative = e.less(y, zero);
  Value atZero = e.select(yNegative, infinity, zero);
  Value atInfinity = e.select(yNegative, zero, infinity);
  result = e.select(e.equal(magnitude, zero), atZero, result);
  result = e.select(e.equal(magnitude, infinity), atInfinity, result);
  // Negative bases: whole exponents alone, odd ones keep the sign.
  Value halfY = e.mul(y, e.constant(0.5));
  Value isWhole = e.equal(e.truncate(y), y);
  Value isEven = e.equal(e.truncate(halfY), halfY);
  Value signedResult = e.select(isEven, result, e.withSign(result, x));
  Value ofNegative = e.select(isWhole, signedResult, e.constant(kNaN));
  Value isSigned = e.equal(e.withSign(one, x), e.constant(-1.0));
  // A negative zero or infinity takes any exponent.
  Value isPlain =
      e.both(e.greater(magnitude, zero), e.less(magnitude, infinity));
  Value ofSigned =
      e.select(isPlain, ofNegative, e.select(isWhole, signedResult, result));
  result = e.select(isSigned, ofSigned, result);
  // NaN, but for an exponent of 0, a base of 1, and -1 to an infinity.
  Value unordered = e.compare(Emitter::Predicate::UNO, x, y);
  result = e.select(unordered, e.add(x, y), result);
  Value isUnit = e.both(e.equal(magnitude, one), e.equal(e.abs(y), infinity));
  result = e.select(isUnit, one, result);
  result = e.select(e.equal(x, one), one, result);
  return e.select(e.equal(y, zero), one, result);
}

/// The remainder with the sign of x, exactly. Each step takes 52 bits off the
/// quotient, which has up to 277.
static Value emitRem(Emitter &e, Value x, Value y) {
  Value a = e.widen(e.abs(x)), b = e.widen(e.abs(y)), r = a;
  for (int step = 0; step < 6; ++step)
    r = e.fma(e.neg(e.truncate(e.div(r, b))), b, r);
  // The quotient may have been rounded to the next whole number.
  r = e.select(e.less(r, e.constant(e.wide(), 0.0)), e.add(r, b), r);
  r = e.select(e.compare(Emitter::Predicate::OGE, r, b), e.sub(r, b), r);
  // Nothing goes into an infinite divisor.
  return e.withSign(e.narrow(e.select(e.less(a, b), a, r)), x);
}

//===----------------------------------------------------------------------===//
// The patterns
//===----------------------------------------------------------------------===//

namespace {

/// Replaces an op on f32, or on bf16 or f16 by way of f32.
template <typename OpTy, typename Function>
struct ExpandOp : OpRewritePattern<OpTy> {
  ExpandOp(MLIRContext *context, Function function)
      : OpRewritePattern<OpTy>(context), function(function) {}

  LogicalResult matchAndRewrite(OpTy op,
                                PatternRewriter &rewriter) const override {
    Type type = op->getResult(0).getType();
    Type element = getElementTypeOrSelf(type);
    if (!isa<Float32Type, BFloat16Type, Float16Type>(element))
      return rewriter.notifyMatchFailure(op, "expected f32, bf16 or f16");
    Emitter emitter(rewriter, op.getLoc(), type);
    SmallVector<Value> operands(op->getOperands());
    if (!element.isF32())
      for (Value &operand : operands)
        operand = arith::ExtFOp::create(rewriter, op.getLoc(), emitter.real(),
                                        operand);
    Value result;
    if constexpr (std::is_invocable_v<Function, Emitter &, Value>)
      result = function(emitter, operands[0]);
    else
      result = function(emitter, operands[0], operands[1]);
    if (!element.isF32())
      result = arith::TruncFOp::create(rewriter, op.getLoc(), type, result);
    rewriter.replaceOp(op, result);
    return success();
  }

  Function function;
};

/// Adds pattern after pattern.
class Table {
public:
  explicit Table(RewritePatternSet &patterns) : patterns(patterns) {}
  template <typename OpTy, typename Function> Table &add(Function function) {
    patterns.add<ExpandOp<OpTy, Function>>(patterns.getContext(), function);
    return *this;
  }

private:
  RewritePatternSet &patterns;
};

} // namespace

void codegen::populateExpandFunctionsPatterns(RewritePatternSet &patterns) {
  Table(patterns)
      .add<math::ExpOp>(emitExp)
      .add<math::Exp2Op>(emitExp2)
      .add<math::ExpM1Op>(emitExpM1)
      .add<math::LogOp>(emitLog)
      .add<math::Log2Op>(emitLog2)
      .add<math::Log10Op>(emitLog10)
      .add<math::Log1pOp>(emitLog1p)
      .add<math::TanhOp>(emitTanh)
      .add<math::ErfOp>(emitErf)
      .add<math::SinOp>(emitSin)
      .add<math::CosOp>(emitCos)
      .add<math::TanOp>(emitTan)
      .add<math::RsqrtOp>(emitRsqrt)
      .add<math::PowFOp>(emitPow)
      .add<arith::RemFOp>(emitRem);
}

LogicalResult codegen::expandFunctions(Operation *root) {
  RewritePatternSet patterns(root->getContext());
  populateExpandFunctionsPatterns(patterns);
  FrozenRewritePatternSet frozen(std::move(patterns));
  SmallVector<Operation *> functions;
  root->walk([&](Operation *op) {
    if (isa<arith::RemFOp>(op) || isa<math::MathDialect>(op->getDialect()))
      functions.push_back(op);
  });
  GreedyRewriteConfig config;
  config.setStrictness(GreedyRewriteStrictness::ExistingOps);
  config.enableFolding(false);
  config.enableConstantCSE(false);
  (void)applyOpPatternsGreedily(functions, frozen, config);
  WalkResult result = root->walk([&](Operation *op) {
    if (!isFunction(op))
      return WalkResult::advance();
    op->emitError() << "no expansion of '" << op->getName() << "' on "
                    << op->getResult(0).getType();
    return WalkResult::interrupt();
  });
  return failure(result.wasInterrupted());
}
