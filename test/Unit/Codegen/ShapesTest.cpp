//===- ShapesTest.cpp - Iteration spaces of generated kernels -------------===//
//
// Part of fp8c, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Integer-valued data, so that every order of additions gives the same sum.
//
//===----------------------------------------------------------------------===//

#include "Harness.h"

#include "fp8c/Support/FP8Rounding.h"

#include <cmath>
#include <gtest/gtest.h>

using namespace fp8c;
using namespace fp8c::test;

/// Small integers without a period that a vector has.
static std::vector<float> makeIntegers(int64_t count, int64_t seed = 0) {
  std::vector<float> values(count);
  for (int64_t i = 0; i < count; ++i)
    values[i] = float(((i + seed) * 7919 % 23) - 11);
  return values;
}

static const char *kColumns = R"mlir(
#out = affine_map<(d0, d1, d2) -> (d0, d1)>
#in = affine_map<(d0, d1, d2) -> (d0, d2, d1)>
#id = affine_map<(d0, d1) -> (d0, d1)>
plan.kernel @columns unit_dims = [2, 1, 1] {
^bb0(%x: tensor<?x?x?xbf16>, %b: index, %n: index):
  %zero = arith.constant 0.0 : f32
  %low = arith.constant 0xFF800000 : f32
  %e = tensor.empty(%b, %n) : tensor<?x?xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<?x?xf32>) -> tensor<?x?xf32>
  %g = linalg.fill ins(%low : f32) outs(%e : tensor<?x?xf32>) -> tensor<?x?xf32>
  %r:2 = linalg.generic {indexing_maps = [#in, #out, #out],
      iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%x : tensor<?x?x?xbf16>) outs(%f, %g : tensor<?x?xf32>, tensor<?x?xf32>) {
  ^bb1(%a: bf16, %s: f32, %m: f32):
    %0 = arith.extf %a : bf16 to f32
    %1 = arith.addf %s, %0 : f32
    %2 = arith.maximumf %m, %0 : f32
    linalg.yield %1, %2 : f32, f32
  } -> (tensor<?x?xf32>, tensor<?x?xf32>)
  fp8.yield %r#0, %r#1 : tensor<?x?xf32>, tensor<?x?xf32>
}
)mlir";

TEST(Shapes, ColumnReductions) {
  Kernels kernels(kColumns);
  ASSERT_EQ(kernels.error, "");
  for (int64_t n : {1, 31, 32, 77, 128})
    for (int64_t s : {1, 5, 64}) {
      std::vector<float> x = makeIntegers(3 * s * n);
      x[2 * s * n] = NAN;
      Tensor xs = Tensor::ofBF16({3, s, n}, x);
      Tensor sum = Tensor::make({3, n}, 4), max = Tensor::make({3, n}, 4);
      kernels.run("columns", {&xs, &sum, &max});
      for (int64_t b = 0; b < 3; ++b)
        for (int64_t j = 0; j < n; ++j) {
          float wantSum = 0, wantMax = -INFINITY;
          bool isNaN = b == 2 && j == 0;
          for (int64_t i = 0; i < s; ++i) {
            wantSum += x[(b * s + i) * n + j];
            wantMax = std::max(wantMax, x[(b * s + i) * n + j]);
          }
          float gotSum = sum.data<float>()[b * n + j];
          float gotMax = max.data<float>()[b * n + j];
          if (isNaN) {
            EXPECT_TRUE(std::isnan(gotSum) && std::isnan(gotMax));
            continue;
          }
          ASSERT_EQ(gotSum, wantSum)
              << b << " " << j << " of " << s << "x" << n;
          ASSERT_EQ(gotMax, wantMax)
              << b << " " << j << " of " << s << "x" << n;
        }
    }
}

/// A sum over both inner dims, then an amax of each block, then a cast; all of
/// y is written too, and its tensor-wide amax.
static const char *kBlocks = R"mlir(
#full = affine_map<(d0, d1, d2) -> (d0, d1, d2)>
#row = affine_map<(d0, d1, d2) -> (d0)>
#block = affine_map<(d0, d1, d2) -> (d0, d1)>
plan.kernel @blocks unit_dims = [2, 2, 1, 2, -1] {
^bb0(%x: tensor<?x?x40xbf16>, %r: index, %k: index):
  %zero = arith.constant 0.0 : f32
  %e0 = tensor.empty(%r) : tensor<?xf32>
  %f0 = linalg.fill ins(%zero : f32) outs(%e0 : tensor<?xf32>) -> tensor<?xf32>
  %sum = linalg.generic {indexing_maps = [#full, #row],
      iterator_types = ["parallel", "reduction", "reduction"]}
      ins(%x : tensor<?x?x40xbf16>) outs(%f0 : tensor<?xf32>) {
  ^bb1(%a: bf16, %s: f32):
    %0 = arith.extf %a : bf16 to f32
    %1 = arith.addf %s, %0 : f32
    linalg.yield %1 : f32
  } -> tensor<?xf32>
  %e1 = tensor.empty(%r, %k) : tensor<?x?x40xbf16>
  %y = linalg.generic {indexing_maps = [#full, #row, #full],
      iterator_types = ["parallel", "parallel", "parallel"]}
      ins(%x, %sum : tensor<?x?x40xbf16>, tensor<?xf32>) outs(%e1 : tensor<?x?x40xbf16>) {
  ^bb1(%a: bf16, %s: f32, %o: bf16):
    %0 = arith.extf %a : bf16 to f32
    %1 = arith.addf %0, %s : f32
    %2 = arith.truncf %1 : f32 to bf16
    linalg.yield %2 : bf16
  } -> tensor<?x?x40xbf16>
  %e2 = tensor.empty(%r, %k) : tensor<?x?xf32>
  %f2 = linalg.fill ins(%zero : f32) outs(%e2 : tensor<?x?xf32>) -> tensor<?x?xf32>
  %m = linalg.generic {indexing_maps = [#full, #block],
      iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%y : tensor<?x?x40xbf16>) outs(%f2 : tensor<?x?xf32>) {
  ^bb1(%a: bf16, %s: f32):
    %0 = arith.extf %a : bf16 to f32
    %1 = math.absf %0 : f32
    %2 = arith.maximumf %s, %1 : f32
    linalg.yield %2 : f32
  } -> tensor<?x?xf32>
  %e3 = tensor.empty(%r, %k) : tensor<?x?x40xf8E4M3FN>
  %q = linalg.generic {indexing_maps = [#full, #block, #full],
      iterator_types = ["parallel", "parallel", "parallel"]}
      ins(%y, %m : tensor<?x?x40xbf16>, tensor<?x?xf32>) outs(%e3 : tensor<?x?x40xf8E4M3FN>) {
  ^bb1(%a: bf16, %s: f32, %o: f8E4M3FN):
    %0 = arith.extf %a : bf16 to f32
    %1 = arith.divf %0, %s : f32
    %2 = fp8.cast %1 : f32 to f8E4M3FN
    linalg.yield %2 : f8E4M3FN
  } -> tensor<?x?x40xf8E4M3FN>
  %amax = fp8.amax %y <?x?x?> : tensor<?x?x40xbf16> -> tensor<1x1x1xf32>
  fp8.yield %q, %m, %y, %amax : tensor<?x?x40xf8E4M3FN>, tensor<?x?xf32>, tensor<?x?x40xbf16>, tensor<1x1x1xf32>
}
)mlir";

TEST(Shapes, BlockScalesUnderARowReduction) {
  Kernels kernels(kBlocks);
  ASSERT_EQ(kernels.error, "");
  const int64_t rows = 5, blocks = 3, width = 40;
  std::vector<float> x = makeIntegers(rows * blocks * width, 3);
  Tensor xs = Tensor::ofBF16({rows, blocks, width}, x);
  Tensor q = Tensor::make({rows, blocks, width}, 1);
  Tensor m = Tensor::make({rows, blocks}, 4);
  Tensor y = Tensor::make({rows, blocks, width}, 2);
  Tensor amax = Tensor::make({1, 1, 1}, 4);
  kernels.run("blocks", {&xs, &q, &m, &y, &amax});
  float wantAmax = 0;
  for (int64_t r = 0; r < rows; ++r) {
    float sum = 0;
    for (int64_t i = 0; i < blocks * width; ++i)
      sum += x[r * blocks * width + i];
    for (int64_t k = 0; k < blocks; ++k) {
      float blockMax = 0;
      const int64_t first = (r * blocks + k) * width;
      for (int64_t i = 0; i < width; ++i)
        blockMax =
            std::max(blockMax, std::abs(fromBF16(toBF16(x[first + i] + sum))));
      EXPECT_EQ(m.data<float>()[r * blocks + k], blockMax);
      wantAmax = std::max(wantAmax, blockMax);
      for (int64_t i = 0; i < width; ++i) {
        float want = fromBF16(toBF16(x[first + i] + sum));
        ASSERT_EQ(fromBF16(y.data<uint16_t>()[first + i]), want);
        ASSERT_EQ(
            q.data<uint8_t>()[first + i],
            encodeF8(want / blockMax, F8Format::E4M3FN, F8Overflow::Saturate));
      }
    }
  }
  EXPECT_EQ(amax.data<float>()[0], wantAmax);
  xs.data<uint16_t>()[rows * blocks * width - 1] = 0xffc0;
  kernels.run("blocks", {&xs, &q, &m, &y, &amax});
  EXPECT_TRUE(std::isnan(amax.data<float>()[0]));
}

/// An expensive value, its row amax, and its cast: kept in scratch between.
static const char *kSaved = R"mlir(
#full = affine_map<(d0, d1) -> (d0, d1)>
#row = affine_map<(d0, d1) -> (d0)>
plan.kernel @saved unit_dims = [1, 1, 1, 0] {
^bb0(%x: tensor<?x?xbf16>, %w: tensor<?x?xbf16>, %r: index, %k: index):
  %zero = arith.constant 0.0 : f32
  %e1 = tensor.empty(%r, %k) : tensor<?x?xbf16>
  %y = linalg.generic {indexing_maps = [#full, #full, #full],
      iterator_types = ["parallel", "parallel"]}
      ins(%x, %w : tensor<?x?xbf16>, tensor<?x?xbf16>) outs(%e1 : tensor<?x?xbf16>) {
  ^bb1(%a: bf16, %b: bf16, %o: bf16):
    %one = arith.constant 1.0 : f32
    %0 = arith.extf %a : bf16 to f32
    %1 = arith.negf %0 : f32
    %2 = math.exp %1 : f32
    %3 = arith.addf %2, %one : f32
    %4 = arith.divf %0, %3 : f32
    %5 = arith.truncf %4 : f32 to bf16
    %6 = arith.mulf %5, %b : bf16
    linalg.yield %6 : bf16
  } -> tensor<?x?xbf16>
  %e2 = tensor.empty(%r) : tensor<?xbf16>
  %z16 = arith.constant 0.0 : bf16
  %f2 = linalg.fill ins(%z16 : bf16) outs(%e2 : tensor<?xbf16>) -> tensor<?xbf16>
  %m = linalg.generic {indexing_maps = [#full, #row],
      iterator_types = ["parallel", "reduction"]}
      ins(%y : tensor<?x?xbf16>) outs(%f2 : tensor<?xbf16>) {
  ^bb1(%a: bf16, %s: bf16):
    %0 = math.absf %a : bf16
    %1 = arith.maximumf %s, %0 : bf16
    linalg.yield %1 : bf16
  } -> tensor<?xbf16>
  %e3 = tensor.empty(%r, %k) : tensor<?x?xf8E4M3FN>
  %q = linalg.generic {indexing_maps = [#full, #row, #full],
      iterator_types = ["parallel", "parallel"]}
      ins(%y, %m : tensor<?x?xbf16>, tensor<?xbf16>) outs(%e3 : tensor<?x?xf8E4M3FN>) {
  ^bb1(%a: bf16, %s: bf16, %o: f8E4M3FN):
    %c = arith.constant 448.0 : f32
    %0 = arith.extf %a : bf16 to f32
    %1 = arith.extf %s : bf16 to f32
    %2 = arith.divf %1, %c : f32
    %3 = arith.divf %0, %2 : f32
    %4 = fp8.cast %3 : f32 to f8E4M3FN
    linalg.yield %4 : f8E4M3FN
  } -> tensor<?x?xf8E4M3FN>
  fp8.yield %q, %m : tensor<?x?xf8E4M3FN>, tensor<?xbf16>
}
)mlir";

TEST(Shapes, CostlyValuesAreKeptInScratch) {
  Kernels kernels(kSaved);
  ASSERT_EQ(kernels.error, "");
  for (int64_t width : {5, 48, 203}) {
    const int64_t rows = 4;
    std::vector<float> x = makeIntegers(rows * width),
                       w = makeIntegers(rows * width, 5);
    Tensor xs = Tensor::ofBF16({rows, width}, x),
           ws = Tensor::ofBF16({rows, width}, w);
    Tensor q = Tensor::make({rows, width}, 1), m = Tensor::make({rows}, 2);
    kernels.run("saved", {&xs, &ws, &q, &m});
    for (int64_t r = 0; r < rows; ++r) {
      std::vector<float> y(width);
      float max = 0;
      for (int64_t i = 0; i < width; ++i) {
        float a = x[r * width + i];
        float silu = fromBF16(toBF16(a / (float(std::exp(double(-a))) + 1.0f)));
        y[i] = fromBF16(toBF16(silu * w[r * width + i]));
        max = std::max(max, std::abs(y[i]));
      }
      EXPECT_EQ(fromBF16(m.data<uint16_t>()[r]), max);
      for (int64_t i = 0; i < width; ++i)
        EXPECT_EQ(q.data<uint8_t>()[r * width + i],
                  encodeF8(y[i] / (max / 448.0f), F8Format::E4M3FN,
                           F8Overflow::Saturate));
    }
  }
}

/// An embedding, a transposed store and a shifted read with a bound.
static const char *kGathers = R"mlir(
#id = affine_map<(d0, d1) -> (d0, d1)>
#first = affine_map<(d0, d1) -> (d0)>
plan.kernel @embed unit_dims = [0, 1, 1] {
^bb0(%ids: tensor<?xi64>, %table: tensor<?x?xbf16>, %n: index, %h: index):
  %e = tensor.empty(%n, %h) : tensor<?x?xbf16>
  %y = linalg.generic {indexing_maps = [#first, #id], iterator_types = ["parallel", "parallel"]}
      ins(%ids : tensor<?xi64>) outs(%e : tensor<?x?xbf16>) {
  ^bb1(%i: i64, %o: bf16):
    %0 = arith.index_cast %i : i64 to index
    %1 = linalg.index 1 : index
    %2 = tensor.extract %table[%0, %1] : tensor<?x?xbf16>
    linalg.yield %2 : bf16
  } -> tensor<?x?xbf16>
  fp8.yield %y : tensor<?x?xbf16>
}
plan.kernel @transpose unit_dims = [1, 1] {
^bb0(%x: tensor<?x?xf32>, %n: index, %h: index):
  %e = tensor.empty(%n, %h) : tensor<?x?xf32>
  %y = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d1, d0)>, #id], iterator_types = ["parallel", "parallel"]}
      ins(%x : tensor<?x?xf32>) outs(%e : tensor<?x?xf32>) {
  ^bb1(%a: f32, %o: f32):
    %0 = arith.negf %a : f32
    linalg.yield %0 : f32
  } -> tensor<?x?xf32>
  fp8.yield %y : tensor<?x?xf32>
}
plan.kernel @shift unit_dims = [1, 1] {
^bb0(%x: tensor<?x?xf32>, %n: index, %h: index):
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %e = tensor.empty(%n, %h) : tensor<?x?xf32>
  %y = linalg.generic {indexing_maps = [#id], iterator_types = ["parallel", "parallel"]}
      outs(%e : tensor<?x?xf32>) {
  ^bb1(%o: f32):
    %zero = arith.constant 0.0 : f32
    %i = linalg.index 0 : index
    %j = linalg.index 1 : index
    %in = arith.cmpi sge, %j, %c1 : index
    %k = arith.subi %j, %c1 : index
    %l = arith.maxsi %k, %c0 : index
    %a = tensor.extract %x[%i, %l] : tensor<?x?xf32>
    %0 = arith.select %in, %a, %zero : f32
    linalg.yield %0 : f32
  } -> tensor<?x?xf32>
  fp8.yield %y : tensor<?x?xf32>
}
plan.kernel @mask unit_dims = [1, 1, 1] {
^bb0(%x: tensor<?x?xf32>, %n: index, %h: index):
  %e = tensor.empty(%n, %h) : tensor<?x?xi1>
  %m = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]}
      ins(%x : tensor<?x?xf32>) outs(%e : tensor<?x?xi1>) {
  ^bb1(%a: f32, %o: i1):
    %zero = arith.constant 0.0 : f32
    %0 = arith.cmpf ogt, %a, %zero : f32
    linalg.yield %0 : i1
  } -> tensor<?x?xi1>
  %e1 = tensor.empty(%n, %h) : tensor<?x?xi64>
  %y = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]}
      ins(%m : tensor<?x?xi1>) outs(%e1 : tensor<?x?xi64>) {
  ^bb1(%a: i1, %o: i64):
    %j = linalg.index 1 : index
    %k = arith.index_cast %j : index to i64
    %z = arith.constant -1 : i64
    %0 = arith.select %a, %k, %z : i64
    linalg.yield %0 : i64
  } -> tensor<?x?xi64>
  fp8.yield %m, %y : tensor<?x?xi1>, tensor<?x?xi64>
}
)mlir";

TEST(Shapes, GathersAndMovedElements) {
  Kernels kernels(kGathers);
  ASSERT_EQ(kernels.error, "");
  for (int64_t h : {1, 16, 37}) {
    const int64_t n = 6, words = 9;
    std::vector<float> table = makeIntegers(words * h);
    Tensor t = Tensor::ofBF16({words, h}, table), ids = Tensor::make({n}, 8);
    for (int64_t i = 0; i < n; ++i)
      ids.data<int64_t>()[i] = i * 5 % words;
    Tensor y = Tensor::make({n, h}, 2);
    kernels.run("embed", {&ids, &t, &y});
    for (int64_t i = 0; i < n; ++i)
      for (int64_t j = 0; j < h; ++j)
        ASSERT_EQ(fromBF16(y.data<uint16_t>()[i * h + j]),
                  table[(i * 5 % words) * h + j]);

    Tensor x = Tensor::ofF32({n, h}, makeIntegers(n * h));
    Tensor z = Tensor::make({h, n}, 4);
    kernels.run("transpose", {&x, &z});
    Tensor s = Tensor::make({n, h}, 4);
    kernels.run("shift", {&x, &s});
    Tensor m = Tensor::make({n, h}, 1), k = Tensor::make({n, h}, 8);
    kernels.run("mask", {&x, &m, &k});
    for (int64_t i = 0; i < n; ++i)
      for (int64_t j = 0; j < h; ++j) {
        float value = x.data<float>()[i * h + j];
        ASSERT_EQ(z.data<float>()[j * n + i], -value);
        ASSERT_EQ(s.data<float>()[i * h + j],
                  j == 0 ? 0.0f : x.data<float>()[i * h + j - 1]);
        ASSERT_EQ(m.data<uint8_t>()[i * h + j], value > 0);
        ASSERT_EQ(k.data<int64_t>()[i * h + j], value > 0 ? j : -1);
      }
  }
}

TEST(Shapes, StridedOperands) {
  Kernels kernels(kColumns);
  ASSERT_EQ(kernels.error, "");
  // A window of a wider tensor.
  std::vector<float> x = makeIntegers(2 * 4 * 50);
  Tensor xs = Tensor::ofBF16({2, 4, 50}, x);
  xs.shape = {2, 4, 33};
  Tensor sum = Tensor::make({2, 33}, 4), max = Tensor::make({2, 33}, 4);
  kernels.run("columns", {&xs, &sum, &max});
  for (int64_t b = 0; b < 2; ++b)
    for (int64_t j = 0; j < 33; ++j) {
      float want = 0;
      for (int64_t i = 0; i < 4; ++i)
        want += x[(b * 4 + i) * 50 + j];
      ASSERT_EQ(sum.data<float>()[b * 33 + j], want);
    }
}
