//===- ProductsTest.cpp - Who computes a product --------------------------===//
//
// Part of fp8c, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "CudaFixture.h"
#include "TestProduct.h"

#include "../../../../lib/Runtime/CUDA/Products.h"

using namespace fp8c::rt;
using namespace fp8c::rt::cuda;
using namespace fp8c::test;

namespace {

/// By a library whose products take as long as 280 blocks of a kernel.
class Products : public testing::Test {
protected:
  /// What the device says of a product with K of 512.
  std::string describe(int64_t m, int64_t n,
                       fp8c::rt::DType type = fp8c::rt::DType::BF16,
                       fp8rt_backends_t backends = FP8RT_BACKENDS_AUTO) {
    QueueOptions options;
    options.backends = backends;
    std::unique_ptr<Queue> made = program.makeQueue(options);
    CudaQueue &queue = static_cast<CudaQueue &>(*made);
    TestProduct product(m, n, 512, type, type);
    PreparedStep step;
    step.matmul = product.args;
    step.product = product.sizes;
    queue.begin(stream.stream);
    std::string text = makeProduct(queue, step)->describe();
    queue.end();
    return text;
  }

  CallersStream stream;
  CudaProgramOfCopies copies;
  CudaProgram program{openFake(), copies.programs->first()};
  const std::string library =
      "cuBLASLt 130100, algorithm 0, tile 0, workspace 0";
  const std::string dots =
      "own kernel, dot products: measured, faster than " + library;
  const std::string asked = "its own kernels are asked for";
};

} // namespace

TEST_F(Products, OfFewRowsAreOursWhereThatIsClearlyFaster) {
  // 4096 columns are 256 blocks, 4400 are 275.
  for (int64_t m : {1, 2, 3, 4})
    EXPECT_EQ(describe(m, 4096), dots);
  EXPECT_EQ(describe(1, 4096, fp8c::rt::DType::F16), dots);
  EXPECT_EQ(describe(1, 4400), library);
}

TEST_F(Products, OfMoreRowsOrFewElementsAreTheLibrarys) {
  EXPECT_EQ(describe(5, 4096), library);
  EXPECT_EQ(describe(1, 1024), library);
}

TEST_F(Products, OfF8AreTheLibrarys) {
  EXPECT_EQ(describe(1, 4096, fp8c::rt::DType::E4M3FN), library);
}

TEST_F(Products, OfTheLibraryGetTheirAddresses) {
  std::unique_ptr<Queue> made = program.makeQueue({});
  CudaQueue &queue = static_cast<CudaQueue &>(*made);
  TestProduct product(5, 4096, 512, fp8c::rt::DType::E4M3FN,
                      fp8c::rt::DType::E4M3FN);
  product.args.aScale = product.set(3, fp8c::rt::DType::F32, 1, 1, 1, 1);
  product.args.bScale = product.set(4, fp8c::rt::DType::F32, 1, 1, 1, 1);
  alignas(16) static char memory[5][16];
  for (size_t i = 0; i < product.tensors.size(); ++i)
    product.tensors[i].data = memory[i];
  PreparedStep step;
  step.matmul = product.args;
  step.product = product.sizes;
  queue.begin(stream.stream);
  step.command = makeProduct(queue, step);
  queue.reserve(step.command->scratchBytes());
  EXPECT_NO_THROW(step.command->run());
  queue.end();
}

TEST_F(Products, AreWhosIsAskedFor) {
  EXPECT_EQ(describe(1, 4096, fp8c::rt::DType::BF16, FP8RT_BACKENDS_FIXED),
            library);
  for (fp8c::rt::DType type :
       {fp8c::rt::DType::BF16, fp8c::rt::DType::E4M3FN}) {
    EXPECT_EQ(describe(4, 4096, type, FP8RT_BACKENDS_OWN),
              "own kernel, dot products: " + asked);
    EXPECT_EQ(describe(5, 4096, type, FP8RT_BACKENDS_OWN),
              "own kernel, few rows: " + asked);
  }
}
