//===- Unary.cpp - Elementwise operators of one tensor --------------------===//
//
// Part of fp8c, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Each is what PyTorch's CPU kernel computes: f16 and bf16 are widened to f32
// and the result is rounded once.
//
//===----------------------------------------------------------------------===//

#include "Common.h"

using namespace mlir;
using namespace fp8c;
using namespace fp8c::import;

namespace {
/// The scalar function of a unary operator, in the type of computation.
using Function = Value (*)(Scalars &, Value);
} // namespace

/// An operator whose result has the type that it computes in.
template <Function function> static Results unary(ImportContext &c) {
  Value self = c.tensor("self");
  if (failed(refuseF8(c, self)))
    return failure();
  Type result = c.outputType();
  // Integers in, floats out: computed in the float type.
  Type common = isa<FloatType>(result) ? result : elementOf(self);
  return one(elementwise(
      c, Operand{self, {}}, common, result,
      [](Scalars &s, ValueRange values) { return function(s, values[0]); }));
}

/// An operator whose result is a bool.
template <Function function> static Results predicate(ImportContext &c) {
  Value self = c.tensor("self");
  if (failed(refuseF8(c, self)))
    return failure();
  return one(elementwise(
      c, Operand{self, {}}, elementOf(self), c.outputType(),
      [](Scalars &s, ValueRange values) { return function(s, values[0]); }));
}

//===----------------------------------------------------------------------===//
// Functions
//===----------------------------------------------------------------------===//

static Value like(Scalars &s, Value x, double number) {
  return s.number(x.getType(), number);
}

template <typename OpTy> static Value mathOp(Scalars &s, Value x) {
  return s.math<OpTy>(x);
}

/// Rounding functions: the identity for integers.
template <typename OpTy> static Value rounding(Scalars &s, Value x) {
  return isa<FloatType>(x.getType()) ? s.math<OpTy>(x) : x;
}

static Value absolute(Scalars &s, Value x) { return s.abs(x); }
static Value negate(Scalars &s, Value x) { return s.neg(x); }
static Value square(Scalars &s, Value x) { return s.mul(x, x); }

static Value reciprocal(Scalars &s, Value x) { return s.div(like(s, x, 1), x); }

/// PyTorch's CPU divides by the square root, both correctly rounded.
static Value rsqrt(Scalars &s, Value x) {
  return s.div(like(s, x, 1), s.math<math::SqrtOp>(x));
}

static Value sigmoid(Scalars &s, Value x) {
  Value one = like(s, x, 1);
  return s.div(one, s.add(one, s.math<math::ExpOp>(s.neg(x))));
}

static Value silu(Scalars &s, Value x) {
  return s.div(x, s.add(like(s, x, 1), s.math<math::ExpOp>(s.neg(x))));
}

static Value logSigmoid(Scalars &s, Value x) {
  // min(x, 0) - log1p(exp(-|x|))
  Value small = s.math<math::Log1pOp>(s.math<math::ExpOp>(s.neg(s.abs(x))));
  return s.sub(s.min(x, like(s, x, 0)), small);
}

static Value relu(Scalars &s, Value x) { return s.notNegative(x); }

static Value relu6(Scalars &s, Value x) {
  return s.min(s.notNegative(x), like(s, x, 6));
}

static Value hardSigmoid(Scalars &s, Value x) {
  return s.div(relu6(s, s.add(x, like(s, x, 3))), like(s, x, 6));
}

static Value hardSwish(Scalars &s, Value x) {
  return s.div(s.mul(x, relu6(s, s.add(x, like(s, x, 3)))), like(s, x, 6));
}

/// log1p(exp(x)), and x itself where that is the same.
static Value softplusOf(Scalars &s, Value x, Value scaled, Value beta,
                        Value threshold) {
  Value smooth =
      s.div(s.math<math::Log1pOp>(s.math<math::ExpOp>(scaled)), beta);
  return s.select(s.compare(Compare::GT, scaled, threshold), x, smooth);
}

static Value mish(Scalars &s, Value x) {
  Value soft = s.math<math::Log1pOp>(s.math<math::ExpOp>(x));
  Value bounded = s.math<math::TanhOp>(soft);
  return s.mul(x, bounded);
}

static Value sign(Scalars &s, Value x) {
  Value zero = like(s, x, 0);
  Value positive = s.compare(Compare::GT, x, zero);
  Value negative = s.compare(Compare::LT, x, zero);
  return s.select(positive, like(s, x, 1),
                  s.select(negative, like(s, x, -1), zero));
}

static Value isNaN(Scalars &s, Value x) { return s.compare(Compare::NE, x, x); }

static Value isInf(Scalars &s, Value x) {
  if (!isa<FloatType>(x.getType()))
    return s.integer(s.getBuilder().getI1Type(), 0);
  return s.compare(Compare::EQ, s.abs(x),
                   like(s, x, std::numeric_limits<double>::infinity()));
}

static Value isFinite(Scalars &s, Value x) {
  if (!isa<FloatType>(x.getType()))
    return s.integer(s.getBuilder().getI1Type(), 1);
  return s.compare(Compare::LT, s.abs(x),
                   like(s, x, std::numeric_limits<double>::infinity()));
}

static Value logicalNot(Scalars &s, Value x) {
  return s.compare(Compare::EQ, x, like(s, x, 0));
}

static Value bitwiseNot(Scalars &s, Value x) {
  return arith::XOrIOp::create(s.getBuilder(), s.getLoc(), x,
                               s.integer(x.getType(), -1));
}

//===----------------------------------------------------------------------===//
// Operators with parameters
//===----------------------------------------------------------------------===//

static Results
parametric(ImportContext &c,
           llvm::function_ref<Value(Scalars &, Value)> function) {
  Value self = c.tensor("self");
  if (failed(refuseF8(c, self)))
    return failure();
  return one(elementwise(
      c, Operand{self, {}}, c.outputType(), c.outputType(),
      [&](Scalars &s, ValueRange values) { return function(s, values[0]); }));
}

static Results gelu(ImportContext &c) {
  StringRef approximate = c.string("approximate");
  if (approximate != "none" && approximate != "tanh")
    return c.error() << "'approximate' must be none or tanh, got '"
                     << approximate << "'";
  if (approximate == "none")
    return parametric(c, [](Scalars &s, Value x) {
      Value erf = s.math<math::ErfOp>(s.mul(x, like(s, x, M_SQRT1_2)));
      return s.mul(s.mul(x, like(s, x, 0.5)), s.add(like(s, x, 1), erf));
    });
  return parametric(c, [](Scalars &s, Value x) {
    Value cube = s.mul(s.mul(x, x), x);
    Value inner = s.mul(like(s, x, M_SQRT2 * M_2_SQRTPI * 0.5),
                        s.add(x, s.mul(like(s, x, 0.044715), cube)));
    Value tanh = s.math<math::TanhOp>(inner);
    return s.mul(s.mul(like(s, x, 0.5), x), s.add(like(s, x, 1), tanh));
  });
}

static Results leakyRelu(ImportContext &c) {
  double slope = c.number("negative_slope").asDouble();
  return parametric(c, [&](Scalars &s, Value x) {
    return s.select(s.compare(Compare::GT, x, like(s, x, 0)), x,
                    s.mul(x, like(s, x, slope)));
  });
}

static Results elu(ImportContext &c) {
  double alpha = c.number("alpha").asDouble();
  double scale = c.number("scale").asDouble();
  double inputScale = c.number("input_scale").asDouble();
  return parametric(c, [&](Scalars &s, Value x) {
    Value negative =
        s.mul(like(s, x, alpha * scale),
              s.math<math::ExpM1Op>(s.mul(x, like(s, x, inputScale))));
    return s.select(s.compare(Compare::GT, x, like(s, x, 0)),
                    s.mul(x, like(s, x, scale)), negative);
  });
}

static Results softplus(ImportContext &c) {
  double beta = c.number("beta").asDouble();
  double threshold = c.number("threshold").asDouble();
  return parametric(c, [&](Scalars &s, Value x) {
    Value b = like(s, x, beta);
    return softplusOf(s, x, s.mul(x, b), b, like(s, x, threshold));
  });
}

static Results hardTanh(ImportContext &c) {
  double low = c.number("min_val").asDouble();
  double high = c.number("max_val").asDouble();
  return parametric(c, [&](Scalars &s, Value x) {
    Value raised = low == 0 ? s.notNegative(x) : s.max(x, like(s, x, low));
    return s.min(raised, like(s, x, high));
  });
}

//===----------------------------------------------------------------------===//
// Table
//===----------------------------------------------------------------------===//

void fp8c::import::addUnaryOps(OpTable &table) {
  auto add = [&](StringRef name, StringRef schema, Converter convert) {
    addElementwise(table, name, "default", schema, convert);
  };
  StringRef self = "Tensor self";
  add("abs", self, unary<absolute>);
  add("neg", self, unary<negate>);
  add("square", self, unary<square>);
  add("reciprocal", self, unary<reciprocal>);
  add("sqrt", self, unary<mathOp<math::SqrtOp>>);
  add("rsqrt", self, unary<rsqrt>);
  add("exp", self, unary<mathOp<math::ExpOp>>);
  add("exp2", self, unary<mathOp<math::Exp2Op>>);
  add("expm1", self, unary<mathOp<math::ExpM1Op>>);
  add("log", self, unary<mathOp<math::LogOp>>);
  add("log2", self, unary<mathOp<math::Log2Op>>);
  add("log10", self, unary<mathOp<math::Log10Op>>);
  add("log1p", self, unary<mathOp<math::Log1pOp>>);
  add("sin", self, unary<mathOp<math::SinOp>>);
  add("cos", self, unary<mathOp<math::CosOp>>);
  add("tan", self, unary<mathOp<math::TanOp>>);
  add("tanh", self, unary<mathOp<math::TanhOp>>);
  add("erf", self, unary<mathOp<math::ErfOp>>);
  add("floor", self, unary<rounding<math::FloorOp>>);
  add("ceil", self, unary<rounding<math::CeilOp>>);
  add("round", self, unary<rounding<math::RoundEvenOp>>);
  add("trunc", self, unary<rounding<math::TruncOp>>);
  add("sign", self, unary<sign>);
  add("sigmoid", self, unary<sigmoid>);
  add("silu", self, unary<silu>);
  add("relu", self, unary<relu>);
  add("relu6", self, unary<relu6>);
  add("hardsigmoid", self, unary<hardSigmoid>);
  add("hardswish", self, unary<hardSwish>);
  add("mish", self, unary<mish>);
  add("log_sigmoid", self, unary<logSigmoid>);
  add("logical_not", self, predicate<logicalNot>);
  add("bitwise_not", self, predicate<bitwiseNot>);
  add("isnan", self, predicate<isNaN>);
  add("isinf", self, predicate<isInf>);
  add("isfinite", self, predicate<isFinite>);
  add("gelu", "Tensor self, *, str approximate=\"none\"", gelu);
  add("leaky_relu", "Tensor self, Scalar negative_slope=0.01", leakyRelu);
  add("elu",
      "Tensor self, Scalar alpha=1, Scalar scale=1, Scalar input_scale=1", elu);
  add("softplus", "Tensor self, Scalar beta=1, Scalar threshold=20", softplus);
  add("hardtanh", "Tensor self, Scalar min_val=-1, Scalar max_val=1", hardTanh);
}
