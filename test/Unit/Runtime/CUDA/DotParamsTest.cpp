//===- DotParamsTest.cpp - Parameters of dot products ---------------------===//
//
// Part of fp8c, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "../../../../lib/Runtime/CUDA/DotParams.h"

#include <gtest/gtest.h>

using namespace fp8c::rt::cuda;

TEST(DotParams, StridesAreInBytes) {
  ProductParams p{};
  p.a = {nullptr, Type::BF16, 64, 1, {192, 7}};
  p.b = {nullptr, Type::BF16, 1, 32, {320}};
  p.d = {nullptr, Type::F32, 10, 1, {30}};
  p.bias = {nullptr, Type::F16, 0, 2, {5}};
  p.aScale = {{nullptr, Type::F32, 1, 9, {3}}, 1, 32};
  p.bScale = {{nullptr, Type::E8M0FNU, 9, 1, {2}}, 32, 5};
  p.m = 3;
  p.n = 10;
  p.k = 32;
  p.batchRank = 1;
  p.batchDims[0] = 6;
  const DotParams dots = makeDots(p, 2);
  EXPECT_EQ(dots.aStride, 128);
  EXPECT_EQ(dots.bStride, 64);
  EXPECT_EQ(dots.chunks, 4u);
  EXPECT_EQ(dots.m, 3);
  EXPECT_EQ(dots.n, 10);
  EXPECT_EQ(dots.sharing, 2);
  EXPECT_EQ(dots.d.rowStride, 40);
  EXPECT_EQ(dots.bias.columnStride, 4);
  EXPECT_EQ(dots.aScale.stride, 4);
  EXPECT_EQ(dots.aScale.block, 1u);
  EXPECT_EQ(dots.bScale.stride, 1);
  EXPECT_EQ(dots.bScale.block, 5u);
  const DotBatch &batch = dots.batches[0];
  EXPECT_EQ(batch.extent, 6u);
  EXPECT_EQ(batch.a, 384);
  EXPECT_EQ(batch.b, 640);
  EXPECT_EQ(batch.aScale, 12);
  EXPECT_EQ(batch.bScale, 2);
  EXPECT_EQ(batch.bias, 10);
  EXPECT_EQ(batch.d, 120);
  // Of dims that are not batches there is nothing.
  EXPECT_EQ(dots.batches[1].a, 0);
}
