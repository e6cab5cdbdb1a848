//===- DistanceTest.cpp - Tests of distances and references ---------------===//
//
// Part of fp8c, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "fp8c/Compare/Distance.h"
#include "fp8c/Compare/References.h"

#include <cmath>
#include <gtest/gtest.h>

using namespace fp8c::compare;

TEST(Distance, EqualTensorsAreAtZero) {
  const float values[] = {1, -2, 3, NAN};
  TensorView t = TensorView::dense(DType::F32, {2, 2}, values);
  Distance d = measure(t, t);
  EXPECT_EQ(d.relative, 0);
  EXPECT_EQ(d.equal, 1);
  EXPECT_EQ(d.gotNaN, 1);
  EXPECT_FALSE(d.expectedAllZero);
}

TEST(Distance, StridesAreHonoured) {
  const float rows[] = {1, 2, 3, 4, 5, 6};
  const float columns[] = {1, 4, 2, 5, 3, 6};
  TensorView transposed{DType::F32, {2, 3}, {1, 2}, columns};
  EXPECT_EQ(
      measure(transposed, TensorView::dense(DType::F32, {2, 3}, rows)).largest,
      0);
}

TEST(Distance, NaNAgainstNumberIsInfinitelyFar) {
  const float got[] = {1, NAN}, expected[] = {1, 2};
  EXPECT_TRUE(std::isinf(measure(TensorView::dense(DType::F32, {2}, got),
                                 TensorView::dense(DType::F32, {2}, expected))
                             .relative));
}

TEST(Distance, AllZeroIsNoticed) {
  const float zeros[] = {0, -0.0f};
  TensorView t = TensorView::dense(DType::F32, {2}, zeros);
  EXPECT_TRUE(measure(t, t).expectedAllZero);
}

TEST(CompareCodes, CountsNeighboursAcrossZero) {
  // +0, -0, the smallest positive, the smallest negative, NaN, 448.
  const uint8_t got[] = {0x00, 0x80, 0x01, 0x81, 0x7f, 0x7e};
  const uint8_t expected[] = {0x80, 0x80, 0x81, 0x80, 0xff, 0x7f};
  CodeDifference d =
      compareCodes(TensorView::dense(DType::E4M3FN, {6}, got),
                   TensorView::dense(DType::E4M3FN, {6}, expected));
  EXPECT_EQ(d.count, 6);
  EXPECT_EQ(d.equal, 2);    // -0 and -0, NaN and NaN
  EXPECT_EQ(d.adjacent, 2); // +0 and -0, 0x81 and -0
  EXPECT_EQ(d.farCount, 2); // 0x01 and 0x81, 448 and NaN
  EXPECT_EQ(d.far, (std::vector<int64_t>{2, 5}));
}

TEST(References, ProductSumsAbsoluteTerms) {
  const float a[] = {1, -2}, b[] = {3, 4}, bias[] = {-5}, sa[] = {2},
              sb[] = {0.5};
  const float d[] = {0};
  Product product{TensorView::dense(DType::F32, {1, 2}, a),
                  TensorView::dense(DType::F32, {2, 1}, b),
                  TensorView::dense(DType::F32, {1, 1}, d),
                  TensorView::dense(DType::F32, {1}, bias),
                  TensorView::dense(DType::F32, {1, 1}, sa),
                  TensorView::dense(DType::F32, {1, 1}, sb),
                  {},
                  {}};
  EXPECT_EQ(sumOfAbsoluteTerms(product, 0), 3 + 8 + 5);
}

TEST(References, AttentionOfMaskedRowIsZero) {
  const float q[] = {1, 1}, k[] = {1, 1}, v[] = {2, 4};
  const uint8_t mask[] = {0, 0, 1, 1};
  const float out[] = {0, 0};
  Attention attention{TensorView::dense(DType::F32, {1, 1, 2, 1}, q),
                      TensorView::dense(DType::F32, {1, 1, 2, 1}, k),
                      TensorView::dense(DType::F32, {1, 1, 2, 1}, v),
                      TensorView::dense(DType::F32, {1, 1, 2, 1}, out),
                      TensorView::dense(DType::Bool, {1, 1, 2, 2}, mask),
                      1.0,
                      false};
  std::vector<double> result = computeAttention(attention);
  ASSERT_EQ(result.size(), 2u);
  EXPECT_EQ(result[0], 0);
  EXPECT_EQ(result[1], 3);
}
