//===- ScaledOpsTest.cpp - The scaled ops of the fp8 dialect, executed ----===//
//
// Part of fp8c, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Expanded by expandScaledOps, compiled, and compared with the host's exact
// casts and scales, byte by byte.
//
//===----------------------------------------------------------------------===//

#include "Harness.h"

#include "fp8c/Support/FP8Rounding.h"

#include <cfloat>
#include <cmath>
#include <cstring>
#include <gtest/gtest.h>

using namespace fp8c;
using namespace fp8c::test;

static uint8_t toE4M3(float value) {
  return encodeF8(value, F8Format::E4M3FN, F8Overflow::Saturate);
}

static const char *kQuantize = R"mlir(
plan.kernel @divide unit_dims = [1, 1, 1] {
^bb0(%x: tensor<?x?xbf16>, %s: tensor<?x1xf32>):
  %q = fp8.quantize %x by %s <1x?> : tensor<?x?xbf16>, tensor<?x1xf32> -> tensor<?x?xf8E4M3FN>
  fp8.yield %q : tensor<?x?xf8E4M3FN>
}
plan.kernel @multiply unit_dims = [1, 1, 1] {
^bb0(%x: tensor<?x?xbf16>, %s: tensor<?x1xf32>):
  %q = fp8.quantize %x by %s <1x?> mode = multiply : tensor<?x?xbf16>, tensor<?x1xf32> -> tensor<?x?xf8E4M3FN>
  fp8.yield %q : tensor<?x?xf8E4M3FN>
}
)mlir";

TEST(ScaledOps, DivideAndMultiplyDiffer) {
  Kernels kernels(kQuantize);
  ASSERT_EQ(kernels.error, "");
  Tensor x = Tensor::ofBF16({1, 1}, {3.171875f});
  Tensor s = Tensor::ofF32({1, 1}, {0.109375f});
  Tensor inverse = Tensor::ofF32({1, 1}, {1.0f / 0.109375f});
  Tensor q = Tensor::make({1, 1}, 1);
  kernels.run("divide", {&x, &s, &q});
  EXPECT_EQ(int(q.data<uint8_t>()[0]), 0x5E);
  kernels.run("multiply", {&x, &inverse, &q});
  EXPECT_EQ(int(q.data<uint8_t>()[0]), 0x5F);
}

TEST(ScaledOps, ZeroRowDividedByZero) {
  Kernels kernels(kQuantize);
  ASSERT_EQ(kernels.error, "");
  std::vector<float> values(4 * 64, 1.0f);
  std::fill_n(values.begin() + 2 * 64, 64, 0.0f);
  Tensor x = Tensor::ofBF16({4, 64}, values);
  Tensor s = Tensor::ofF32({4, 1}, {0.5f, 0.25f, 0.0f, 2.0f});
  Tensor q = Tensor::make({4, 64}, 1);
  kernels.run("divide", {&x, &s, &q});
  for (int i = 0; i < 4 * 64; ++i) {
    if (i / 64 == 2)
      EXPECT_EQ(q.data<uint8_t>()[i] & 0x7F, 0x7F);
    else
      EXPECT_EQ(q.data<uint8_t>()[i], toE4M3(1.0f / s.data<float>()[i / 64]));
  }
}

static const char *kAmax = R"mlir(
plan.kernel @row unit_dims = [1, 1, 1] {
^bb0(%x: tensor<?x?xbf16>):
  %a = fp8.amax %x <1x?> : tensor<?x?xbf16> -> tensor<?x1xf32>
  %b = fp8.amax %x <1x?> : tensor<?x?xbf16> -> tensor<?x1xbf16>
  fp8.yield %a, %b : tensor<?x1xf32>, tensor<?x1xbf16>
}
plan.kernel @blocks unit_dims = [1, 1] {
^bb0(%x: tensor<3x200xbf16>):
  %a = fp8.amax %x <1x128> : tensor<3x200xbf16> -> tensor<3x2xf32>
  fp8.yield %a : tensor<3x2xf32>
}
)mlir";

TEST(ScaledOps, AmaxKeepsNaN) {
  Kernels kernels(kAmax);
  ASSERT_EQ(kernels.error, "");
  for (int64_t width : {1, 3, 16, 37, 256}) {
    // A NaN first, last, nowhere; Inf; the largest is negative.
    std::vector<float> values(5 * width, 1.0f);
    values[0] = NAN;
    values[2 * width - 1] = NAN;
    values[3 * width - 1] = -3.0f;
    values[3 * width] = INFINITY;
    Tensor x = Tensor::ofBF16({5, width}, values);
    Tensor a = Tensor::make({5, 1}, 4), b = Tensor::make({5, 1}, 2);
    kernels.run("row", {&x, &a, &b});
    const float *amax = a.data<float>();
    EXPECT_TRUE(std::isnan(amax[0]) && std::isnan(amax[1])) << width;
    EXPECT_EQ(amax[2], 3.0f);
    EXPECT_EQ(amax[3], INFINITY);
    EXPECT_EQ(amax[4], 1.0f);
    EXPECT_TRUE(std::isnan(fromBF16(b.data<uint16_t>()[1])));
    EXPECT_EQ(fromBF16(b.data<uint16_t>()[2]), 3.0f);
  }
}

TEST(ScaledOps, AmaxOfBlocksThatDoNotDivide) {
  Kernels kernels(kAmax);
  ASSERT_EQ(kernels.error, "");
  std::vector<float> values(3 * 200);
  for (int i = 0; i < 600; ++i)
    values[i] = float((i * 7919) % 251) - 125.0f;
  Tensor x = Tensor::ofBF16({3, 200}, values);
  Tensor a = Tensor::make({3, 2}, 4);
  kernels.run("blocks", {&x, &a});
  for (int row = 0; row < 3; ++row)
    for (int block = 0; block < 2; ++block) {
      float want = 0;
      for (int i = block * 128; i < std::min(200, block * 128 + 128); ++i)
        want = std::max(want, std::fabs(values[row * 200 + i]));
      EXPECT_EQ(a.data<float>()[row * 2 + block], want);
    }
}

static const char *kScales = R"mlir(
plan.kernel @plain unit_dims = [0, 0, 0] {
^bb0(%a: tensor<?xf32>):
  %s, %i = fp8.compute_scale %a for f8E4M3FN : tensor<?xf32> -> tensor<?xf32>, tensor<?xf32>
  fp8.yield %s, %i : tensor<?xf32>, tensor<?xf32>
}
plan.kernel @all unit_dims = [0, 0, 0] {
^bb0(%a: tensor<?xf32>):
  %s, %i = fp8.compute_scale %a for f8E5M2 pow2 {margin = 3 : i32, eps = 1.0e-6 : f32} : tensor<?xf32> -> tensor<?xf32>, tensor<?xf32>
  fp8.yield %s, %i : tensor<?xf32>, tensor<?xf32>
}
)mlir";

TEST(ScaledOps, ScalesAreTheHosts) {
  Kernels kernels(kScales);
  ASSERT_EQ(kernels.error, "");
  std::vector<float> amax = {0.0f,  -0.0f,   1e-40f,  3.0f,   447.0f,
                             448.f, 1e-3f,   3e38f,   NAN,    INFINITY,
                             1e-7f, FLT_MIN, FLT_MAX, 5.875f, 1e-6f};
  int64_t count = amax.size();
  ScaleRule all;
  all.max = 57344.0f;
  all.margin = 3;
  all.eps = 1e-6f;
  all.pow2 = true;
  Tensor a = Tensor::ofF32({count}, amax);
  Tensor s = Tensor::make({count}, 4), i = Tensor::make({count}, 4);
  for (auto [name, rule] : {std::pair<const char *, ScaleRule>("plain", {}),
                            std::pair<const char *, ScaleRule>("all", all)}) {
    kernels.run(name, {&a, &s, &i});
    for (int64_t k = 0; k < count; ++k) {
      ScalePair want = computeScale(amax[k], rule);
      EXPECT_EQ(s.data<float>()[k], want.scale) << name << " " << amax[k];
      EXPECT_EQ(i.data<float>()[k], want.inverse) << name << " " << amax[k];
    }
  }
}

static const char *kHistory = R"mlir(
plan.kernel @max unit_dims = [0, -1, -1, 0] {
^bb0(%h: tensor<1024xf32>, %a: tensor<f32>):
  %u, %n = fp8.update_history %h, %a reduce = max : tensor<1024xf32>, tensor<f32> -> tensor<f32>, tensor<1024xf32>
  fp8.yield %u, %n : tensor<f32>, tensor<1024xf32>
}
plan.kernel @recent unit_dims = [0, -1, -1, 0] {
^bb0(%h: tensor<1024xf32>, %a: tensor<f32>):
  %u, %n = fp8.update_history %h, %a reduce = most_recent : tensor<1024xf32>, tensor<f32> -> tensor<f32>, tensor<1024xf32>
  fp8.yield %u, %n : tensor<f32>, tensor<1024xf32>
}
)mlir";

/// Steps that each read, roll and write, in that order.
TEST(ScaledOps, HistoryOverSteps) {
  Kernels kernels(kHistory);
  ASSERT_EQ(kernels.error, "");
  for (const char *name : {"max", "recent"}) {
    std::vector<float> history(1024, 0.0f);
    history[0] = 5, history[1] = 1, history[2] = 2, history[1023] = 7;
    for (float amax : {4.0f, 1.0f, 9.0f, NAN, 2.0f, 3.0f}) {
      Tensor h = Tensor::ofF32({1024}, history);
      Tensor a = Tensor::ofF32({}, {amax});
      Tensor used = Tensor::make({}, 4), updated = Tensor::make({1024}, 4);
      kernels.run(name, {&h, &a, &used, &updated});
      float want = history[0];
      if (std::strcmp(name, "max") == 0)
        for (float value : history)
          want = std::isnan(want) || want > value ? want : value;
      float got = used.data<float>()[0];
      EXPECT_TRUE(got == want || (std::isnan(got) && std::isnan(want))) << name;
      history.insert(history.begin(), amax);
      history.pop_back();
      EXPECT_EQ(std::memcmp(updated.bytes.data(), history.data(), 4096), 0);
    }
  }
}
