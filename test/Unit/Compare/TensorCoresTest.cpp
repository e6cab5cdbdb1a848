//===- TensorCoresTest.cpp - Tests of the bar of tensor cores' sums -------===//
//
// Part of fp8c, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "fp8c/Compare/TensorCores.h"

#include <cmath>
#include <gtest/gtest.h>

using namespace fp8c::compare;

namespace {
/// A product with one row whose operands have few bits, as f8 values do, and
/// what it gives.
class TensorCores : public testing::Test {
protected:
  static constexpr int64_t kColumns = 64;

  void make(int64_t depth, bool oneSigned) {
    uint32_t state = 1;
    auto next = [&] {
      state = state * 1664525 + 1013904223;
      const float value = float(int(state >> 24 & 15) + 16) / 16 *
                          float(1 << (state >> 28 & 3));
      return oneSigned || (state >> 30 & 1) ? value : -value;
    };
    a.resize(depth);
    b.resize(depth * kColumns);
    for (auto *values : {&a, &b})
      for (float &value : *values)
        value = next();
    d.assign(kColumns, 0);
  }
  Product getProduct() {
    const int64_t depth = a.size();
    return {TensorView::dense(DType::F32, {1, depth}, a.data()),
            TensorView::dense(DType::F32, {depth, kColumns}, b.data()),
            view(),
            {},
            {},
            {},
            {},
            {}};
  }
  TensorView view() {
    return TensorView::dense(DType::F32, {1, kColumns}, d.data());
  }
  /// Puts what tensor cores give into `d`; without the terms from `depth` on.
  void compute(bool fast, int64_t depth) {
    std::vector<float> rest(a.begin() + depth, a.end());
    std::fill(a.begin() + depth, a.end(), 0.0f);
    for (int64_t i = 0; i < kColumns; ++i)
      d[i] = float(sumLikeTensorCores(getProduct(), i, fast).expected);
    std::copy(rest.begin(), rest.end(), a.begin() + depth);
  }
  std::string check(bool fast) {
    std::vector<float> exact(kColumns);
    for (int64_t i = 0; i < kColumns; ++i)
      exact[i] = float(sumLikeTensorCores(getProduct(), i, fast).exact);
    TensorView expected =
        TensorView::dense(DType::F32, {1, kColumns}, exact.data());
    return checkTensorCores(getProduct(), view(), expected, nullptr, fast,
                            compareCodes(view(), expected));
  }

  std::vector<float> a, b, d;
};
} // namespace

TEST_F(TensorCores, OperandsOf16BitsKeepMoreOfATerm) {
  // 1 * 1 + 2^-10 * 2^-10, in bf16.
  const uint16_t terms[] = {0x3F80, 0x3A80};
  float result = 0;
  const Product product{TensorView::dense(DType::BF16, {1, 2}, terms),
                        TensorView::dense(DType::BF16, {2, 1}, terms),
                        TensorView::dense(DType::F32, {1, 1}, &result),
                        {},
                        {},
                        {},
                        {},
                        {}};
  const TensorCoreSum sum = sumLikeTensorCores(product, 0, false);
  EXPECT_EQ(sum.expected, 1 + std::ldexp(1, -20));
  EXPECT_LE(sum.slack, std::ldexp(1, -21));
}

TEST_F(TensorCores, DecodedWeightsAreRounded) {
  // 1 * bf16(1.125 * 1.0078125): 145.125 units of 2^-7.
  const uint16_t one = 0x3F80;
  const uint8_t code = 0x39;
  const float scale = 1.0078125f;
  float result = 0;
  Product product{TensorView::dense(DType::BF16, {1, 1}, &one),
                  TensorView::dense(DType::E4M3FN, {1, 1}, &code),
                  TensorView::dense(DType::F32, {1, 1}, &result),
                  {},
                  {},
                  {},
                  {},
                  {}};
  product.bDecode = TensorView::dense(DType::F32, {1}, &scale);
  EXPECT_EQ(sumLikeTensorCores(product, 0, false).exact, 145.0 / 128);
}

TEST_F(TensorCores, SmallIntegersAreExact) {
  a.assign(256, 3);
  b.assign(256 * kColumns, 2);
  d.assign(kColumns, 0);
  for (bool fast : {false, true}) {
    const TensorCoreSum sum = sumLikeTensorCores(getProduct(), 5, fast);
    EXPECT_EQ(sum.exact, 256 * 6);
    EXPECT_EQ(sum.expected, 256 * 6);
  }
}

TEST_F(TensorCores, SumsOfOneSignLoseBits) {
  make(2048, /*oneSigned=*/true);
  double slack[2];
  for (bool fast : {false, true}) {
    const TensorCoreSum sum = sumLikeTensorCores(getProduct(), 0, fast);
    EXPECT_LT(sum.expected, sum.exact);
    EXPECT_LE(sum.exact - sum.expected, sum.slack);
    slack[fast] = sum.slack;
  }
  EXPECT_LT(10 * slack[0], slack[1]);
}

TEST_F(TensorCores, ScalesHoldForTheirBlocks) {
  make(256, /*oneSigned=*/false);
  const float scales[] = {2, 4};
  Product product = getProduct();
  product.aScale = TensorView::dense(DType::F32, {1, 2}, scales);
  product.aBlockM = 1;
  product.aBlockK = 128;
  double exact = 0;
  for (int64_t k = 0; k < 256; ++k)
    exact += double(a[k]) * b[k * kColumns] * scales[k / 128];
  const TensorCoreSum sum = sumLikeTensorCores(product, 0, /*fast=*/true);
  EXPECT_EQ(sum.exact, exact);
  EXPECT_LE(std::abs(sum.expected - exact), sum.slack);
}

TEST_F(TensorCores, WhatTheyGivePasses) {
  for (int64_t depth : {256, 4096})
    for (bool oneSigned : {false, true})
      for (bool fast : {false, true}) {
        make(depth, oneSigned);
        compute(fast, depth);
        EXPECT_EQ(check(fast), "");
      }
}

TEST_F(TensorCores, MissingTermsAreFound) {
  for (bool fast : {false, true}) {
    make(256, /*oneSigned=*/false);
    compute(fast, 255);
    EXPECT_NE(check(fast).find("farther apart"), std::string::npos);
  }
}

TEST_F(TensorCores, FastSumsWhereTheyAreNotAllowedAreFound) {
  for (bool oneSigned : {false, true}) {
    make(4096, oneSigned);
    compute(/*fast=*/true, 4096);
    EXPECT_NE(check(/*fast=*/false), "");
  }
}
