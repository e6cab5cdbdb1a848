//===- ProductTest.cpp - Products against double --------------------------===//
//
// Part of fp8c, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "PlanWriter.h"

#include "../../../lib/Runtime/CPU/Convert.h"

#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <random>

using namespace fp8c::test;
using namespace fp8c::rt;
using fp8c::test::kNone;

namespace {
enum class Data { Normal, OneSigned, Integers };
enum class Scaling { None, Tensor, Row, Block1x128, Block128x128 };

/// One product: what is multiplied and how.
struct Case {
  int64_t m, n, k;
  DType a = DType::F32, b = DType::F32, d = DType::F32;
  Data data = Data::Normal;
  Scaling aScaling = Scaling::None, bScaling = Scaling::None;
  bool bias = false, bTransposed = true, resultScale = false;
  int threads = 2;
};

/// Fills a tensor of any float type and gives its exact values.
std::vector<double> fillTensor(TestTensor &t, DType dtype, Data data,
                               unsigned seed) {
  std::mt19937 rng(seed);
  std::normal_distribution<float> normal;
  int64_t count = 1;
  for (int64_t dim : t.dims)
    count *= dim;
  std::vector<float> values(count);
  for (float &v : values) {
    v = normal(rng);
    if (data == Data::OneSigned)
      v = std::fabs(v) + 0.5f;
    if (data == Data::Integers)
      v = float(int(rng() % 5) - 2);
  }
  encode(dtype, values.data(), count, t.bytes.data(), 1, true);
  decode(dtype, t.bytes.data(), 1, count, values.data());
  return {values.begin(), values.end()};
}

int64_t blocks(int64_t extent, int64_t block) {
  return block ? (extent + block - 1) / block : 1;
}

/// Runs a case; gives the result decoded, and through `expected` the f64 one.
std::vector<float> runCase(const Case &c, std::vector<double> &expected,
                           std::string &error, float *amax = nullptr) {
  PlanWriter w;
  uint32_t m = w.symbol("m"), n = w.symbol("n"), k = w.symbol("k");
  uint32_t one = w.constant(1), zero = w.constant(0);
  auto dims = [](std::vector<int64_t> d) { return d; };
  TestTensor ta(c.a, dims({c.m, c.k}));
  TestTensor tb(c.b, c.bTransposed ? dims({c.n, c.k}) : dims({c.k, c.n}));
  std::vector<double> a = fillTensor(ta, c.a, c.data, 1);
  std::vector<double> b = fillTensor(tb, c.b, c.data, 2);
  std::vector<TestTensor *> inputs{&ta, &tb};
  uint32_t va = w.input("a", c.a, {m, k});
  uint32_t vb;
  if (c.bTransposed) {
    uint32_t base = w.input("b", c.b, {n, k});
    vb = w.view(base, c.b, {k, n}, {one, k}, zero);
  } else {
    vb = w.input("b", c.b, {k, n});
  }
  auto bAt = [&](int64_t kk, int64_t nn) {
    return c.bTransposed ? b[nn * c.k + kk] : b[kk * c.n + nn];
  };
  // Scales: block extents of (M, K) and (K, N).
  int64_t aBlock[2] = {0, 0}, bBlock[2] = {0, 0};
  auto setBlocks = [](Scaling s, int64_t &outer, int64_t &alongK) {
    outer = s == Scaling::Row || s == Scaling::Block1x128 ? 1
            : s == Scaling::Block128x128                  ? 128
                                                          : 0;
    alongK = s == Scaling::Block1x128 || s == Scaling::Block128x128 ? 128 : 0;
  };
  setBlocks(c.aScaling, aBlock[0], aBlock[1]);
  setBlocks(c.bScaling, bBlock[1], bBlock[0]);
  TestTensor sa(DType::F32, {blocks(c.m, aBlock[0]), blocks(c.k, aBlock[1])});
  TestTensor sb(DType::F32, {blocks(c.k, bBlock[0]), blocks(c.n, bBlock[1])});
  auto scaleValues = [&](TestTensor &t) {
    for (int64_t i = 0; i < t.dims[0] * t.dims[1]; ++i)
      t.as<float>()[i] = c.data == Data::Integers ? std::ldexp(1.0f, i % 7 - 3)
                                                  : 0.01f + 0.003f * (i % 29);
  };
  scaleValues(sa);
  scaleValues(sb);
  uint32_t vsa = kNone, vsb = kNone, vbias = kNone, vrs = kNone;
  auto constants = [&](const TestTensor &t) {
    Values v;
    for (int64_t dim : t.dims)
      v.push_back(w.constant(dim));
    return v;
  };
  if (c.aScaling != Scaling::None) {
    vsa = w.input("sa", DType::F32, constants(sa));
    inputs.push_back(&sa);
  }
  if (c.bScaling != Scaling::None) {
    vsb = w.input("sb", DType::F32, constants(sb));
    inputs.push_back(&sb);
  }
  TestTensor tbias(DType::BF16, {c.n});
  std::vector<double> bias(c.n);
  if (c.bias) {
    bias = fillTensor(tbias, DType::BF16, c.data, 3);
    vbias = w.input("bias", DType::BF16, {n});
    inputs.push_back(&tbias);
  }
  TestTensor trs(DType::F32, {1});
  *trs.as<float>() = 4;
  if (c.resultScale) {
    vrs = w.input("rs", DType::F32, {one});
    inputs.push_back(&trs);
  }
  TestTensor td(c.d, {c.m, c.n}), tamax(DType::F32, {1});
  uint32_t vd = w.output("d", c.d, {m, n});
  uint32_t vamax = w.output("amax", DType::F32, {one});
  w.step(wire::Command::Matmul,
         wire::CreateMatmul(w.fbb, va, vb, vd, vbias, vsa, vsb, vrs, vamax,
                            kNone, DType::BF16, aBlock[0], aBlock[1], bBlock[0],
                            bBlock[1], true),
         {va, vb}, {vd, vamax});
  TestProgram program(w.finish(), c.threads);
  error = program.call(inputs, {&td, &tamax});
  if (amax)
    *amax = *tamax.as<float>();
  std::vector<float> result(c.m * c.n);
  decode(c.d, td.bytes.data(), 1, c.m * c.n, result.data());
  expected.assign(c.m * c.n, 0);
  auto scale = [](TestTensor &t, int64_t i, int64_t j, int64_t block0,
                  int64_t block1) -> double {
    return t.as<float>()[(block0 ? i / block0 : 0) * t.dims[1] +
                         (block1 ? j / block1 : 0)];
  };
  for (int64_t i = 0; i < c.m; ++i)
    for (int64_t j = 0; j < c.n; ++j) {
      double sum = 0;
      for (int64_t kk = 0; kk < c.k; ++kk) {
        double term = a[i * c.k + kk] * bAt(kk, j);
        if (vsa != kNone)
          term *= scale(sa, i, kk, aBlock[0], aBlock[1]);
        if (vsb != kNone)
          term *= scale(sb, kk, j, bBlock[0], bBlock[1]);
        sum += term;
      }
      expected[i * c.n + j] = (sum + bias[j]) * (c.resultScale ? 4 : 1);
    }
  return result;
}

double relativeError(const std::vector<float> &got,
                     const std::vector<double> &expected) {
  double difference = 0, norm = 0;
  for (size_t i = 0; i < got.size(); ++i) {
    difference += (got[i] - expected[i]) * (got[i] - expected[i]);
    norm += expected[i] * expected[i];
  }
  return norm == 0 ? (difference == 0 ? 0 : 1) : std::sqrt(difference / norm);
}
} // namespace

TEST(Product, IsCloseToDouble) {
  Scaling scalings[] = {Scaling::None, Scaling::Tensor, Scaling::Row,
                        Scaling::Block1x128, Scaling::Block128x128};
  for (Data data : {Data::Normal, Data::OneSigned, Data::Integers})
    for (Scaling scaling : scalings)
      for (auto [m, n, k] : {std::array<int64_t, 3>{37, 65, 515},
                             {1, 130, 4096},
                             {129, 3, 7},
                             {65, 257, 128}}) {
        Case c{m, n, k};
        c.a = c.b = scaling == Scaling::None ? DType::BF16 : DType::E4M3FN;
        c.data = data;
        c.aScaling = scaling;
        c.bScaling =
            scaling == Scaling::Block1x128 ? Scaling::Block128x128 : scaling;
        c.bias = data != Data::Normal;
        std::vector<double> expected;
        std::string error;
        std::vector<float> got = runCase(c, expected, error);
        ASSERT_EQ(error, "");
        double distance = relativeError(got, expected);
        EXPECT_LE(distance, data == Data::Integers ? 0 : 1e-6)
            << m << "x" << n << "x" << k << " scaling " << int(scaling)
            << " data " << int(data);
      }
}

TEST(Product, EveryTypeAndLayout) {
  for (DType type :
       {DType::F32, DType::BF16, DType::F16, DType::E4M3FN, DType::E5M2})
    for (bool transposed : {false, true}) {
      Case c{19, 70, 300};
      c.a = type == DType::E5M2 ? DType::E4M3FN : type;
      c.b = type;
      c.bTransposed = transposed;
      std::vector<double> expected;
      std::string error;
      std::vector<float> got = runCase(c, expected, error);
      ASSERT_EQ(error, "");
      EXPECT_LE(relativeError(got, expected), 1e-6) << dtypeName(type);
    }
}

TEST(Product, OneRoundingOfTheResult) {
  for (DType type : {DType::BF16, DType::F16, DType::E4M3FN, DType::E5M2}) {
    Case c{33, 40, 64};
    c.a = c.b = DType::E4M3FN;
    c.d = type;
    c.data = Data::Integers;
    c.aScaling = c.bScaling = Scaling::Tensor;
    c.resultScale = type == DType::E4M3FN || type == DType::E5M2;
    std::vector<double> expected;
    std::string error;
    float amax = 0;
    std::vector<float> got = runCase(c, expected, error, &amax);
    ASSERT_EQ(error, "");
    double largest = 0;
    for (size_t i = 0; i < got.size(); ++i) {
      float exact = float(expected[i]), rounded;
      char bytes[4];
      encode(type, &exact, 1, bytes, 1, true);
      decode(type, bytes, 1, 1, &rounded);
      EXPECT_EQ(got[i], rounded);
      largest = std::max(largest, std::fabs(expected[i]));
    }
    EXPECT_EQ(amax, largest / (c.resultScale ? 4 : 1));
  }
}

TEST(Product, ThreadsChangeNoByte) {
  Case c{150, 300, 1000};
  std::vector<double> expected;
  std::string error;
  std::vector<float> one, four;
  c.threads = 1;
  one = runCase(c, expected, error);
  c.threads = 4;
  four = runCase(c, expected, error);
  EXPECT_EQ(one, four);
}

TEST(Product, OfNothing) {
  std::vector<double> expected;
  std::string error;
  Case c{3, 4, 0};
  c.bias = true;
  std::vector<float> got = runCase(c, expected, error);
  ASSERT_EQ(error, "");
  EXPECT_EQ(relativeError(got, expected), 0);
  EXPECT_NE(got[0], 0);
  runCase(Case{0, 4, 5}, expected, error);
  EXPECT_EQ(error, "");
}

TEST(Product, DecodesItsWeightAndRounds) {
  // b * scale rounded to bf16 before the product.
  PlanWriter w;
  int64_t n = 5, k = 300;
  uint32_t one = w.constant(1), zero = w.constant(0), ek = w.constant(k),
           en = w.constant(n), three = w.constant(3);
  uint32_t a = w.input("a", DType::BF16, {three, ek});
  uint32_t base = w.input("b", DType::E4M3FN, {en, ek});
  uint32_t b = w.view(base, DType::E4M3FN, {ek, en}, {one, ek}, zero);
  uint32_t s = w.input("s", DType::F32, {w.constant(3), en});
  uint32_t d = w.output("d", DType::F32, {three, en});
  w.step(wire::Command::Matmul,
         wire::CreateMatmul(w.fbb, a, b, d, kNone, kNone, kNone, kNone, kNone,
                            s, DType::BF16, 0, 0, 128, 1),
         {a, b, s}, {d});
  TestTensor ta(DType::BF16, {3, k}), tb(DType::E4M3FN, {n, k}),
      ts(DType::F32, {3, n}), td(DType::F32, {3, n});
  auto va = fillTensor(ta, DType::BF16, Data::Normal, 1);
  auto vb = fillTensor(tb, DType::E4M3FN, Data::Normal, 2);
  for (int i = 0; i < 3 * n; ++i)
    ts.as<float>()[i] = 0.1f + 0.07f * i;
  TestProgram program(w.finish());
  ASSERT_EQ(program.call({&ta, &tb, &ts}, {&td}), "");
  std::vector<double> expected(3 * n);
  for (int64_t i = 0; i < 3; ++i)
    for (int64_t j = 0; j < n; ++j)
      for (int64_t kk = 0; kk < k; ++kk) {
        float decoded =
            float(vb[j * k + kk]) * ts.as<float>()[kk / 128 * n + j];
        roundTo(DType::BF16, &decoded, 1);
        expected[i * n + j] += va[i * k + kk] * double(decoded);
      }
  std::vector<float> got(td.as<float>(), td.as<float>() + 3 * n);
  EXPECT_LE(relativeError(got, expected), 1e-6);
}

TEST(Product, KeepsNaNAndInf) {
  PlanWriter w;
  uint32_t m = w.symbol("m"), k = w.symbol("k"), n = w.symbol("n"),
           one = w.constant(1);
  uint32_t a = w.input("a", DType::F32, {m, k});
  uint32_t b = w.input("b", DType::F32, {k, n});
  uint32_t d = w.output("d", DType::F32, {m, n});
  uint32_t amax = w.output("amax", DType::F32, {one});
  w.step(wire::Command::Matmul,
         wire::CreateMatmul(w.fbb, a, b, d, kNone, kNone, kNone, kNone, amax),
         {a, b}, {d, amax});
  TestProgram program(w.finish());
  TestTensor ta(DType::F32, {4, 300}), tb(DType::F32, {300, 4}),
      td(DType::F32, {4, 4}), tamax(DType::F32, {1});
  fillTensor(ta, DType::F32, Data::Normal, 1);
  fillTensor(tb, DType::F32, Data::OneSigned, 2);
  ta.as<float>()[299] = INFINITY;
  ta.as<float>()[600] = NAN;
  ASSERT_EQ(program.call({&ta, &tb}, {&td, &tamax}), "");
  EXPECT_EQ(td.as<float>()[0], INFINITY);
  EXPECT_TRUE(std::isnan(td.as<float>()[9]));
  EXPECT_TRUE(std::isfinite(td.as<float>()[5]));
  EXPECT_TRUE(std::isnan(*tamax.as<float>()));
}
