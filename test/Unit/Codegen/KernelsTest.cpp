//===- KernelsTest.cpp - Generated kernels against plain loops ------------===//
//
// Part of fp8c, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Harness.h"

#include "fp8c/Support/FP8Rounding.h"

#include <cmath>
#include <gtest/gtest.h>
#include <random>

using namespace fp8c;
using namespace fp8c::test;

static std::vector<float> makeNormal(int64_t count, unsigned seed) {
  std::mt19937 generator(seed);
  std::normal_distribution<float> normal(0.2f, 1.0f);
  std::vector<float> values(count);
  for (float &value : values)
    value = fromBF16(toBF16(normal(generator)));
  return values;
}

/// An RMS norm of rows and a cast by a scale of the whole tensor.
static const char *kRmsStatic = R"mlir(
#row = affine_map<(d0, d1, d2) -> (d0, d1)>
#all = affine_map<(d0, d1, d2) -> (d0, d1, d2)>
#last = affine_map<(d0, d1, d2) -> (d2)>
#one = affine_map<(d0, d1, d2) -> ()>
plan.kernel @rms unit_dims = [2, 0, -1, 2] {
^bb0(%x: tensor<?x?x?xbf16>, %w: tensor<?xbf16>, %s: tensor<f32>,
     %b: index, %t: index, %h: index):
  %zero = arith.constant 0.0 : f32
  %eps = arith.constant 1.0e-6 : f32
  %e0 = tensor.empty(%b, %t) : tensor<?x?xf32>
  %f0 = linalg.fill ins(%zero : f32) outs(%e0 : tensor<?x?xf32>) -> tensor<?x?xf32>
  %sum = linalg.generic {indexing_maps = [#all, #row],
      iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%x : tensor<?x?x?xbf16>) outs(%f0 : tensor<?x?xf32>) {
  ^bb1(%a: bf16, %acc: f32):
    %0 = arith.extf %a : bf16 to f32
    %1 = arith.mulf %0, %0 : f32
    %2 = arith.addf %acc, %1 : f32
    linalg.yield %2 : f32
  } -> tensor<?x?xf32>
  %e1 = tensor.empty(%b, %t, %h) : tensor<?x?x?xbf16>
  %n = linalg.generic {indexing_maps = [#all, #row, #last, #all],
      iterator_types = ["parallel", "parallel", "parallel"]}
      ins(%x, %sum, %w : tensor<?x?x?xbf16>, tensor<?x?xf32>, tensor<?xbf16>)
      outs(%e1 : tensor<?x?x?xbf16>) {
  ^bb1(%a: bf16, %r: f32, %g: bf16, %out: bf16):
    %i = arith.index_cast %h : index to i64
    %k = arith.sitofp %i : i64 to f32
    %0 = arith.extf %a : bf16 to f32
    %1 = arith.divf %r, %k : f32
    %2 = arith.addf %1, %eps : f32
    %3 = math.rsqrt %2 : f32
    %4 = arith.mulf %0, %3 : f32
    %5 = arith.extf %g : bf16 to f32
    %6 = arith.mulf %4, %5 : f32
    %7 = arith.truncf %6 : f32 to bf16
    linalg.yield %7 : bf16
  } -> tensor<?x?x?xbf16>
  %e2 = tensor.empty(%b, %t, %h) : tensor<?x?x?xf8E4M3FN>
  %q = linalg.generic {indexing_maps = [#all, #one, #all],
      iterator_types = ["parallel", "parallel", "parallel"]}
      ins(%n, %s : tensor<?x?x?xbf16>, tensor<f32>) outs(%e2 : tensor<?x?x?xf8E4M3FN>) {
  ^bb1(%a: bf16, %sc: f32, %out: f8E4M3FN):
    %0 = arith.extf %a : bf16 to f32
    %1 = arith.divf %0, %sc : f32
    %2 = fp8.cast %1 : f32 to f8E4M3FN
    linalg.yield %2 : f8E4M3FN
  } -> tensor<?x?x?xf8E4M3FN>
  fp8.yield %q : tensor<?x?x?xf8E4M3FN>
}
)mlir";

TEST(Kernels, RmsNormAndStaticCast) {
  Kernels kernels(kRmsStatic);
  ASSERT_EQ(kernels.error, "");
  for (int64_t width : {1, 7, 16, 33, 256, 1000}) {
    std::vector<float> x = makeNormal(2 * 3 * width, 1),
                       w = makeNormal(width, 2);
    float scale = 0.0175f;
    Tensor xs = Tensor::ofBF16({2, 3, width}, x),
           ws = Tensor::ofBF16({width}, w);
    Tensor ss = Tensor::ofF32({}, {scale});
    Tensor q = Tensor::make({2, 3, width}, 1);
    kernels.run("rms", {&xs, &ws, &ss, &q}, {2, 3, width});
    int64_t different = 0;
    for (int64_t row = 0; row < 6; ++row) {
      double sum = 0;
      for (int64_t i = 0; i < width; ++i)
        sum += double(x[row * width + i]) * x[row * width + i];
      float mean = float(sum) / float(width);
      float factor = 1.0f / std::sqrt(mean + 1.0e-6f);
      for (int64_t i = 0; i < width; ++i) {
        float n = fromBF16(toBF16(x[row * width + i] * factor * w[i]));
        uint8_t want =
            encodeF8(n / scale, F8Format::E4M3FN, F8Overflow::Saturate);
        different += q.data<uint8_t>()[row * width + i] != want;
      }
    }
    EXPECT_LE(different, 6 * width / 1000) << "rows of " << width;
  }
}
