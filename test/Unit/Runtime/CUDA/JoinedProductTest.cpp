//===- JoinedProductTest.cpp - Which products join the next launch --------===//
//
// Part of fp8c, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "TestProduct.h"

#include "../../../../lib/Runtime/CUDA/JoinedProduct.h"

#include <gtest/gtest.h>

#include <functional>

using namespace fp8c::rt;
using namespace fp8c::rt::cuda;
using fp8c::rt::DType;
using fp8c::test::TestProduct;

namespace {

/// A product with a bias and a launch of its result and one more operand.
struct Joined {
  Joined(int64_t m, int64_t n, int64_t k)
      : product(m, n, k, DType::E4M3FN, DType::E4M3FN),
        more(m, n, k, DType::BF16), result(*product.args.d) {
    MatmulArgs &args = product.args;
    args.aScale = product.set(3, DType::F32, 1, 1, 1, 1);
    args.bScale = product.set(4, DType::F32, 1, 1, 1, 1);
    args.bias = more.set(0, DType::BF16, 1, n, n, 1);
    args.fastAccum = true;
    more.set(1, DType::BF16, m, n, n, 1);
  }
  bool isAllowed() {
    PreparedStep matmul, launch;
    matmul.matmul = product.args;
    matmul.product = product.sizes;
    launch.operands = {&result, &more.tensors[1]};
    return canJoin(matmul, launch, result);
  }

  TestProduct product, more;
  Tensor result;
};

bool canJoinWith(const std::function<void(Joined &)> &change, int64_t m = 96,
                 int64_t n = 96, int64_t k = 48) {
  Joined joined(m, n, k);
  change(joined);
  return joined.isAllowed();
}

} // namespace

TEST(JoinedProduct, OfSizes) {
  auto isAllowed = [](int64_t m, int64_t n, int64_t k) {
    return canJoinWith([](Joined &) {}, m, n, k);
  };
  EXPECT_TRUE(isAllowed(96, 96, 48));
  EXPECT_TRUE(isAllowed(1, 32, 16));
  EXPECT_FALSE(isAllowed(96, 80, 48)) << "columns 32 by 32";
  EXPECT_FALSE(isAllowed(96, 96, 40)) << "rows at multiples of 16 bytes";
  EXPECT_FALSE(isAllowed(0, 96, 48));
  EXPECT_FALSE(isAllowed(96, 0, 48));
  EXPECT_FALSE(isAllowed(96, 96, 0));
  EXPECT_FALSE(isAllowed(int64_t(1) << 31, 96, 48));
}

TEST(JoinedProduct, OfOperands) {
  EXPECT_FALSE(canJoinWith(
      [](Joined &j) { j.product.set(0, DType::E5M2, 96, 48, 48, 1); }));
  EXPECT_FALSE(canJoinWith([](Joined &j) { j.product.args.aScale = nullptr; }));
  EXPECT_FALSE(canJoinWith([](Joined &j) {
    j.product.set(4, DType::F32, 1, 96, 96, 1);
  })) << "a scale a column";
  EXPECT_FALSE(
      canJoinWith([](Joined &j) { j.product.args.fastAccum = false; }));
  EXPECT_FALSE(canJoinWith(
      [](Joined &j) { j.product.args.amax = j.product.args.aScale; }));
  for (int64_t stride : {0, -48, 56})
    EXPECT_FALSE(canJoinWith([&](Joined &j) {
      j.product.strides[0][0] = stride;
    })) << stride;
  EXPECT_FALSE(canJoinWith([](Joined &j) {
    j.product.set(1, DType::E4M3FN, 48, 96, 96, 1);
  })) << "b along N";
}

TEST(JoinedProduct, OfBiases) {
  EXPECT_TRUE(canJoinWith([](Joined &j) { j.product.args.bias = nullptr; }));
  EXPECT_FALSE(canJoinWith([](Joined &j) {
    j.more.set(0, DType::BF16, 1, 96, 192, 2);
  })) << "every other element";
  EXPECT_FALSE(canJoinWith([](Joined &j) {
    j.more.set(0, DType::BF16, 1, 1, 1, 1);
  })) << "one for all columns";
  EXPECT_FALSE(canJoinWith([](Joined &j) {
    j.more.set(0, DType::BF16, 96, 1, 1, 1);
  })) << "one a row";
  EXPECT_FALSE(
      canJoinWith([](Joined &j) { j.more.set(0, DType::F32, 1, 96, 96, 1); }));
}

TEST(JoinedProduct, OfResults) {
  EXPECT_FALSE(canJoinWith([](Joined &j) {
    j.product.set(2, DType::BF16, 96, 96, 1, 96);
  })) << "the launch reads it the other way";
  EXPECT_FALSE(canJoinWith([](Joined &j) { j.result.dtype = DType::F16; }));
  EXPECT_FALSE(canJoinWith([](Joined &j) { j.product.strides[2][0] = 128; }))
      << "longer rows";
}

TEST(JoinedProduct, OfOperandsOfTheLaunch) {
  auto isAllowed = [](int64_t rows, int64_t columns, int64_t rowStride,
                      int64_t columnStride) {
    return canJoinWith([&](Joined &j) {
      j.more.set(1, DType::BF16, rows, columns, rowStride, columnStride);
    });
  };
  EXPECT_TRUE(isAllowed(96, 96, 104, 1));
  EXPECT_FALSE(isAllowed(96, 96, 100, 1));
  EXPECT_FALSE(isAllowed(96, 96, 1, 100)) << "vectors along its first dim";
  EXPECT_TRUE(isAllowed(96, 96, 1, 96));
  EXPECT_TRUE(isAllowed(96, 1, 1, 1)) << "one a row";
  EXPECT_TRUE(isAllowed(1, 96, 96, 1)) << "one a column";
  EXPECT_TRUE(isAllowed(96, 96, 201, 2)) << "single elements";
}
