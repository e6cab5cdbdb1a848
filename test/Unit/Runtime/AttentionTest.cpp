//===- AttentionTest.cpp - Attention against double -----------------------===//
//
// Part of fp8c, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "PlanWriter.h"

#include "../../../lib/Runtime/CPU/Convert.h"

#include <gtest/gtest.h>

#include <cmath>
#include <random>

using namespace fp8c::test;
using namespace fp8c::rt;
using fp8c::test::kNone;

namespace {
enum class Mask { None, Bool, Additive, Broadcast };

/// One attention.
struct Case {
  int64_t batch, heads, kvHeads, queries, keys, d, dv;
  bool causal = false;
  Mask mask = Mask::None;
  DType dtype = DType::F32;
  int threads = 2;
};

/// Runs a case and gives its relative error against double. With bool masks one
/// row is fully masked.
double runCase(const Case &c, std::string &error,
               std::vector<float> *result = nullptr) {
  PlanWriter w;
  auto exprs = [&](std::vector<int64_t> dims) {
    Values v;
    for (int64_t dim : dims)
      v.push_back(w.constant(dim));
    return v;
  };
  // As the model has it: (batch, length, heads, D) seen as (batch, heads, ...).
  auto input = [&](const char *name, int64_t heads, int64_t length, int64_t d) {
    uint32_t base = w.input(name, c.dtype, exprs({c.batch, length, heads, d}));
    return w.view(base, c.dtype, exprs({c.batch, heads, length, d}),
                  exprs({length * heads * d, d, heads * d, 1}), w.constant(0));
  };
  uint32_t q = input("q", c.heads, c.queries, c.d);
  uint32_t k = input("k", c.kvHeads, c.keys, c.d);
  uint32_t v = input("v", c.kvHeads, c.keys, c.dv);
  uint32_t mask = kNone;
  DType maskType = c.mask == Mask::Additive ? DType::F32 : DType::Bool;
  bool wide = c.mask == Mask::Broadcast;
  std::vector<int64_t> maskDims = {c.batch, 1, wide ? 1 : c.queries, c.keys};
  if (c.mask != Mask::None)
    mask = w.input("mask", maskType, exprs(maskDims));
  uint32_t out =
      w.output("out", c.dtype, exprs({c.batch, c.heads, c.queries, c.dv}));
  double scale = 1 / std::sqrt(double(c.d));
  w.step(wire::Command::Attention,
         wire::CreateAttention(w.fbb, q, k, v, out, mask, scale, c.causal),
         {q, k, v}, {out});
  TestTensor tq(c.dtype, {c.batch, c.queries, c.heads, c.d}),
      tk(c.dtype, {c.batch, c.keys, c.kvHeads, c.d}),
      tv(c.dtype, {c.batch, c.keys, c.kvHeads, c.dv}), tm(maskType, maskDims),
      to(c.dtype, {c.batch, c.heads, c.queries, c.dv});
  std::mt19937 rng(7);
  std::normal_distribution<float> normal;
  auto fill = [&](TestTensor &t, int64_t count) {
    std::vector<float> values(count);
    for (float &x : values)
      x = normal(rng);
    encode(c.dtype, values.data(), count, t.bytes.data(), 1, true);
    decode(c.dtype, t.bytes.data(), 1, count, values.data());
    return values;
  };
  auto fq = fill(tq, c.batch * c.queries * c.heads * c.d);
  auto fk = fill(tk, c.batch * c.keys * c.kvHeads * c.d);
  auto fv = fill(tv, c.batch * c.keys * c.kvHeads * c.dv);
  int64_t maskCount = c.batch * maskDims[2] * c.keys;
  for (int64_t i = 0; i < maskCount; ++i) {
    bool keep = rng() % 4 != 0 && (wide || i / c.keys != 1);
    if (maskType == DType::Bool)
      tm.bytes[i] = keep;
    else
      tm.as<float>()[i] = keep ? normal(rng) : -INFINITY;
  }
  TestProgram program(w.finish(), c.threads);
  std::vector<TestTensor *> inputs{&tq, &tk, &tv};
  if (mask != kNone)
    inputs.push_back(&tm);
  error = program.call(inputs, {&to});
  std::vector<float> got(c.batch * c.heads * c.queries * c.dv);
  decode(c.dtype, to.bytes.data(), 1, int64_t(got.size()), got.data());
  if (result)
    *result = got;
  double difference = 0, norm = 0;
  for (int64_t b = 0; b < c.batch; ++b)
    for (int64_t h = 0; h < c.heads; ++h)
      for (int64_t i = 0; i < c.queries; ++i) {
        int64_t kv = h / (c.heads / c.kvHeads);
        std::vector<double> scores(c.keys);
        double max = -INFINITY, sum = 0;
        for (int64_t j = 0; j < c.keys; ++j) {
          double s = 0;
          for (int64_t e = 0; e < c.d; ++e)
            s += double(fq[((b * c.queries + i) * c.heads + h) * c.d + e]) *
                 fk[((b * c.keys + j) * c.kvHeads + kv) * c.d + e];
          s *= scale;
          int64_t at = (b * maskDims[2] + (wide ? 0 : i)) * c.keys + j;
          if (mask != kNone && maskType == DType::Bool && !tm.bytes[at])
            s = -INFINITY;
          if (mask != kNone && maskType == DType::F32)
            s += tm.as<float>()[at];
          if (c.causal && j > i)
            s = -INFINITY;
          scores[j] = s;
          max = std::max(max, s);
        }
        for (double &s : scores)
          sum += s = max == -INFINITY ? 0 : std::exp(s - max);
        for (int64_t e = 0; e < c.dv; ++e) {
          double o = 0;
          for (int64_t j = 0; j < c.keys; ++j)
            o += scores[j] * fv[((b * c.keys + j) * c.kvHeads + kv) * c.dv + e];
          o = sum == 0 ? 0 : o / sum;
          float mine = got[((b * c.heads + h) * c.queries + i) * c.dv + e];
          difference += (mine - o) * (mine - o);
          norm += o * o;
        }
      }
  return norm == 0 ? (difference == 0 ? 0 : 1) : std::sqrt(difference / norm);
}
} // namespace

TEST(Attention, IsCloseToDouble) {
  std::string error;
  for (bool causal : {false, true})
    for (Mask mask :
         {Mask::None, Mask::Bool, Mask::Additive, Mask::Broadcast}) {
      Case c{2, 6, 2, 70, 131, 17, 9};
      c.causal = causal;
      c.mask = mask;
      double distance = runCase(c, error);
      ASSERT_EQ(error, "");
      EXPECT_LE(distance, 1e-6) << causal << " " << int(mask);
    }
}

TEST(Attention, CarriesBlocksOn) {
  std::string error;
  for (bool causal : {false, true}) {
    Case c{1, 2, 2, 1100, 1100, 8, 8};
    c.causal = causal;
    EXPECT_LE(runCase(c, error), 1e-6) << causal;
    EXPECT_EQ(error, "");
  }
}

/// Two roundings to bf16, each an error of 1.6e-3 (its root mean square): of
/// the exponentials and of the result.
TEST(Attention, RoundsExponentialsAndResult) {
  std::string error;
  for (int64_t keys : {300, 1100}) {
    Case c{1, 4, 4, 33, keys, 64, 64};
    c.dtype = DType::BF16;
    EXPECT_LE(runCase(c, error), 0.0025) << keys;
    EXPECT_EQ(error, "");
    c.dtype = DType::F16;
    EXPECT_LE(runCase(c, error), 0.00032) << keys;
    EXPECT_EQ(error, "");
  }
}

TEST(Attention, OfNothing) {
  std::string error;
  std::vector<float> result;
  EXPECT_EQ(runCase(Case{1, 2, 2, 3, 0, 4, 4}, error, &result), 0);
  EXPECT_EQ(error, "");
  EXPECT_EQ(result, std::vector<float>(24, 0.0f));
  runCase(Case{0, 2, 2, 3, 4, 4, 4}, error);
  EXPECT_EQ(error, "");
}

TEST(Attention, ThreadsChangeNoByte) {
  std::string error;
  std::vector<float> one, four;
  Case c{2, 2, 1, 200, 150, 32, 32};
  c.threads = 1;
  runCase(c, error, &one);
  c.threads = 4;
  runCase(c, error, &four);
  EXPECT_EQ(one, four);
}
