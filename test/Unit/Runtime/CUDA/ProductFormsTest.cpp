//===- ProductFormsTest.cpp - Which of our kernels a product is for -------===//
//
// Part of fp8c, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "TestProduct.h"

#include <gtest/gtest.h>

using namespace fp8c::rt;
using namespace fp8c::rt::cuda;
using Product = fp8c::test::TestProduct;

TEST(ProductForms, DotsAreOfOneToFourRows) {
  for (int64_t m : {1, 2, 3, 4}) {
    EXPECT_TRUE(Product(m, 7, 16).isDots());
    EXPECT_TRUE(Product(m, 7, 16, DType::F16, DType::F16).isDots());
    EXPECT_TRUE(Product(m, 7, 16, DType::E4M3FN, DType::E5M2).isDots());
  }
  for (int64_t m : {5, 16}) {
    EXPECT_FALSE(Product(m, 7, 16).isDots());
    EXPECT_TRUE(Product(m, 7, 16).isFewRows());
  }
  EXPECT_FALSE(Product(17, 7, 16).isFewRows());
}

TEST(ProductForms, RowsAreReadInPiecesOf16Bytes) {
  EXPECT_TRUE(Product(1, 7, 8).isDots());
  EXPECT_FALSE(Product(1, 7, 12).isFewRows());
  EXPECT_FALSE(Product(1, 7, 8, DType::E4M3FN, DType::E4M3FN).isFewRows());
  Product far(2, 7, 16);
  far.strides[1][1] = 24;
  EXPECT_TRUE(far.isDots());
  far.strides[1][1] = 20;
  EXPECT_FALSE(far.isFewRows());
  // Weights that lie along N.
  Product across(2, 16, 16);
  across.strides[1] = {16, 1};
  EXPECT_FALSE(across.isFewRows());
}

TEST(ProductForms, OtherKernelsComputeWhatDotsDoNot) {
  EXPECT_FALSE(Product(1, 7, 16, DType::F32, DType::F32).isFewRows());
  EXPECT_FALSE(Product(1, 7, 16, DType::BF16, DType::F16).isFewRows());
  EXPECT_FALSE(Product(1, 0, 16).isFewRows());
  EXPECT_FALSE(Product(1, 7, 0).isFewRows());
  Product blocks(1, 128, 256, DType::E4M3FN, DType::E4M3FN);
  blocks.args.aScale = blocks.set(3, DType::F32, 1, 2, 2, 1);
  blocks.args.aBlockM = 1;
  blocks.args.aBlockK = 128;
  EXPECT_FALSE(blocks.isDots());
  EXPECT_TRUE(blocks.isFewRows());
  Product decoded(1, 7, 256, DType::BF16, DType::E4M3FN);
  decoded.args.bDecode = decoded.set(3, DType::F32, 1, 1, 1, 1);
  EXPECT_FALSE(decoded.isDots());
  EXPECT_TRUE(decoded.isFewRows());
}

TEST(ProductForms, WarpsShareFewColumns) {
  auto sharing = [](int64_t n, int64_t k) {
    Product product(1, n, k);
    return getDotSharing(product.args, product.sizes, 132);
  };
  EXPECT_EQ(sharing(12288, 4096), 0u);
  EXPECT_EQ(sharing(4096, 4096), 0u);
  EXPECT_EQ(sharing(2048, 4096), 1u);
  EXPECT_EQ(sharing(1024, 4096), 2u);
  EXPECT_EQ(sharing(512, 8192), 3u);
  EXPECT_EQ(sharing(1, 14336), 3u);
  // As long as each has a turn.
  EXPECT_EQ(sharing(512, 4096), 2u);
  EXPECT_EQ(sharing(512, 1024), 0u);
  EXPECT_EQ(sharing(512, 1032), 1u);
  // Batches have blocks of their own.
  Product batches(1, 1024, 4096);
  batches.sizes.batch = 4;
  EXPECT_EQ(getDotSharing(batches.args, batches.sizes, 132), 0u);
}
