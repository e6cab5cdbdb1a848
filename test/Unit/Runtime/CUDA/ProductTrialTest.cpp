//===- ProductTrialTest.cpp - Products that are measured ------------------===//
//
// Part of fp8c, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "CudaFixture.h"

#include "../../../../lib/Runtime/CUDA/ProductTrial.h"

using namespace fp8c::rt;
using namespace fp8c::rt::cuda;
using namespace fp8c::test;

namespace {
class ProductTrials : public testing::TestWithParam<unsigned> {
protected:
  ProductTrials() {
    args.a = args.b = args.d = &matrix;
    args.aScale = args.bScale = &scale;
  }
  void measure(Stream stream) {
    queue->begin(stream);
    findFastest(*queue, args, 1 << 10, 2,
                [&](size_t, const ProductData &data, Stream into) {
                  const Driver &driver = queue->driver;
                  return driver.set8Async(reinterpret_cast<Pointer>(data.d), 1,
                                          64, into) == 0;
                });
    queue->end();
  }

  CudaProgramOfCopies copies;
  CudaProgram program{openFake(), copies.programs->first()};
  std::unique_ptr<Queue> made = program.makeQueue({});
  CudaQueue *queue = static_cast<CudaQueue *>(made.get());
  const int64_t dims[2] = {64, 64}, strides[2] = {64, 1}, one[1] = {1};
  const Tensor matrix{
      fp8c::rt::DType::BF16, 2, dims, strides, 64 * 64, nullptr};
  const Tensor scale{fp8c::rt::DType::F32, 0, one, one, 1, nullptr};
  MatmulArgs args;
};
} // namespace

TEST_P(ProductTrials, LeaveRecordingsAloneAndNothingBehind) {
  CallersStream recorded(GetParam()), stream;
  measure(stream.stream);
  const size_t allocations = fake::countAllocations(),
               events = fake::countEvents(), streams = fake::countStreams();
  recorded.begin(fake::kGlobal);
  runInThread([&] { measure(stream.stream); });
  EXPECT_NE(recorded.end().handle, nullptr);
  EXPECT_EQ(fake::countAllocations(), allocations);
  EXPECT_EQ(fake::countEvents(), events);
  EXPECT_EQ(fake::countStreams(), streams);
}

INSTANTIATE_TEST_SUITE_P(Streams, ProductTrials,
                         testing::Values(0u, kNonBlocking));

TEST_P(ProductTrials, WaitForTheCallersWork) {
  CallersStream stream, blocking(0);
  char memory[3] = {};
  for (Stream s : {stream.stream, blocking.stream, Stream(nullptr)}) {
    const Driver &driver = openFake()->driver;
    const int i = s == stream.stream ? 0 : s ? 1 : 2;
    driver.check(
        driver.set8Async(reinterpret_cast<Pointer>(memory + i), 1, 1, s),
        "fill");
  }
  measure(stream.stream);
  for (char byte : memory)
    EXPECT_EQ(byte, 1);
}
