//===- FunctionsTest.cpp - The table of functions against double ----------===//
//
// Part of fp8c, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Harness.h"

#include <cmath>
#include <cstring>
#include <gtest/gtest.h>
#include <random>

using namespace fp8c;
using namespace fp8c::test;

namespace {

/// A function of the table, with its bound.
struct Function {
  const char *op;
  double (*exact)(double);
  /// Units in the last place of an f32.
  double bound;
  /// Arguments beyond this are not promised.
  double largest;
};

double rsqrt(double x) { return 1.0 / std::sqrt(x); }

const Function kFunctions[] = {
    {"exp", std::exp, 0.75, INFINITY},   {"exp2", std::exp2, 1.5, INFINITY},
    {"expm1", std::expm1, 2, INFINITY}, {"log", std::log, 1, INFINITY},
    {"log2", std::log2, 1.5, INFINITY}, {"log10", std::log10, 1.5, INFINITY},
    {"log1p", std::log1p, 2, INFINITY}, {"tanh", std::tanh, 1.5, INFINITY},
    {"erf", std::erf, 1.5, INFINITY},   {"sin", std::sin, 1.6, 1e5},
    {"cos", std::cos, 1.6, 1e5},        {"tan", std::tan, 3.5, 1e5},
    {"rsqrt", rsqrt, 1.5, INFINITY},    {"sqrt", std::sqrt, 0.5, INFINITY},
};

/// How far `got` is from `want`, in units of the last place of an f32.
double ulps(float got, double want) {
  if (std::isnan(want) || std::isnan(got))
    return std::isnan(want) == std::isnan(got) ? 0 : INFINITY;
  float nearest = static_cast<float>(want);
  if (std::isinf(nearest) || std::isinf(got))
    return nearest == got ? 0 : INFINITY;
  int exponent = std::max(std::ilogb(want == 0 ? 1e-300 : want), -126);
  return std::abs(got - want) / std::ldexp(1.0, exponent - 23);
}

std::string makeUnary(const std::string &op) {
  return R"mlir(
#id = affine_map<(d0) -> (d0)>
plan.kernel @)mlir" +
         op + R"mlir( unit_dims = [0, 0] {
^bb0(%x: tensor<?xf32>, %n: index):
  %e = tensor.empty(%n) : tensor<?xf32>
  %y = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]}
      ins(%x : tensor<?xf32>) outs(%e : tensor<?xf32>) {
  ^bb1(%a: f32, %o: f32):
    %0 = math.)mlir" +
         op + R"mlir( %a : f32
    linalg.yield %0 : f32
  } -> tensor<?xf32>
  fp8.yield %y : tensor<?xf32>
})mlir";
}

} // namespace

TEST(Functions, WithinTheirBounds) {
  std::string text;
  for (const Function &function : kFunctions) {
    std::string one = makeUnary(function.op);
    // One alias for all of them.
    text += text.empty() ? one : one.substr(one.find("plan.kernel"));
    text += "\n";
  }
  Kernels kernels(text);
  ASSERT_EQ(kernels.error, "");
  // A prime step through all bit patterns.
  std::vector<float> inputs;
  for (uint64_t bits = 0; bits < (uint64_t(1) << 32); bits += 2003) {
    uint32_t pattern = bits;
    float value;
    std::memcpy(&value, &pattern, 4);
    inputs.push_back(value);
  }
  for (float value : {0.0f, -0.0f, 1.0f, -1.0f, INFINITY, -INFINITY, NAN})
    inputs.push_back(value);
  int64_t count = inputs.size();
  Tensor x = Tensor::ofF32({count}, inputs);
  for (const Function &function : kFunctions) {
    Tensor y = Tensor::make({count}, 4);
    kernels.run(function.op, {&x, &y});
    double worst = 0;
    float at = 0;
    for (int64_t i = 0; i < count; ++i) {
      if (std::abs(inputs[i]) > function.largest)
        continue;
      double want = function.exact(inputs[i]);
      double error = ulps(y.data<float>()[i], want);
      if (error > worst) {
        worst = error;
        at = inputs[i];
      }
      if (want == 0 && inputs[i] == 0)
        EXPECT_EQ(std::signbit(want), std::signbit(y.data<float>()[i]))
            << function.op;
    }
    RecordProperty(function.op, std::to_string(worst));
    printf("%-6s %.3f ulp at %.9g\n", function.op, worst, at);
    EXPECT_LE(worst, function.bound) << function.op << "(" << at << ")";
  }
}

static const char *kBinary = R"mlir(
#id = affine_map<(d0) -> (d0)>
plan.kernel @pow unit_dims = [0, 0, 0, 0] {
^bb0(%x: tensor<?xf32>, %z: tensor<?xf32>, %n: index):
  %e = tensor.empty(%n) : tensor<?xf32>
  %y:2 = linalg.generic {indexing_maps = [#id, #id, #id, #id], iterator_types = ["parallel"]}
      ins(%x, %z : tensor<?xf32>, tensor<?xf32>) outs(%e, %e : tensor<?xf32>, tensor<?xf32>) {
  ^bb1(%a: f32, %b: f32, %o: f32, %p: f32):
    %0 = math.powf %a, %b : f32
    %1 = arith.remf %a, %b : f32
    linalg.yield %0, %1 : f32, f32
  } -> (tensor<?xf32>, tensor<?xf32>)
  fp8.yield %y#0, %y#1 : tensor<?xf32>, tensor<?xf32>
})mlir";

TEST(Functions, PowersAndRemainders) {
  Kernels kernels(kBinary);
  ASSERT_EQ(kernels.error, "");
  std::vector<float> a, b;
  std::vector<float> special = {
      0.0f,  -0.0f, 1.0f,   -1.0f,    2.0f,      -2.0f, 0.5f,   -0.5f,   3.0f,
      -3.0f, 1e30f, -1e30f, INFINITY, -INFINITY, NAN,   1e-40f, 10000.0f};
  for (float x : special)
    for (float y : special) {
      a.push_back(x);
      b.push_back(y);
    }
  std::mt19937 generator(1);
  std::uniform_real_distribution<float> exponent(-30, 30), power(-12, 12);
  for (int i = 0; i < 1000000; ++i) {
    a.push_back(std::exp2(exponent(generator)) * (i % 3 == 0 ? -1 : 1));
    b.push_back(i % 3 == 0 ? std::round(power(generator)) : power(generator));
  }
  int64_t count = a.size();
  Tensor xs = Tensor::ofF32({count}, a), ys = Tensor::ofF32({count}, b);
  Tensor p = Tensor::make({count}, 4), r = Tensor::make({count}, 4);
  kernels.run("pow", {&xs, &ys, &p, &r});
  double worst = 0;
  for (int64_t i = 0; i < count; ++i) {
    double error =
        ulps(p.data<float>()[i], std::pow(double(a[i]), double(b[i])));
    EXPECT_LE(error, 1.0) << "pow(" << a[i] << ", " << b[i]
                          << ") = " << p.data<float>()[i];
    worst = std::max(worst, error);
    if (std::abs(a[i] / b[i]) < 1e7)
      EXPECT_EQ(ulps(r.data<float>()[i], std::fmod(a[i], b[i])), 0)
          << "rem(" << a[i] << ", " << b[i] << ") = " << r.data<float>()[i];
  }
  printf("pow    %.3f ulp\n", worst);
}
