//===- CastsTest.cpp - Generated casts against the host's -----------------===//
//
// Part of fp8c, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Harness.h"

#include "fp8c/Support/FP8Rounding.h"

#include <cmath>
#include <cstring>
#include <gtest/gtest.h>

using namespace fp8c;
using namespace fp8c::test;

/// A kernel that casts each element.
static std::string makeCast(const std::string &name, const std::string &from,
                            const std::string &to, const std::string &cast) {
  return "plan.kernel @" + name + " unit_dims = [0, 0] {\n^bb0(%x: tensor<?x" +
         from + ">, %n: index):\n  %e = tensor.empty(%n) : tensor<?x" + to +
         ">\n  %y = linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>, "
         "affine_map<(d0) -> (d0)>], iterator_types = [\"parallel\"]} ins(%x : "
         "tensor<?x" +
         from + ">) outs(%e : tensor<?x" + to + ">) {\n  ^bb1(%a: " + from +
         ", %o: " + to + "):\n    %0 = " + cast + " : " + from + " to " + to +
         "\n    linalg.yield %0 : " + to + "\n  } -> tensor<?x" + to +
         ">\n  fp8.yield %y : tensor<?x" + to + ">\n}\n";
}

static std::string getName(F8Format format) {
  return format == F8Format::E4M3FN ? "f8E4M3FN" : "f8E5M2";
}

static bool isNaN(uint8_t code, F8Format format) {
  return std::isnan(decodeF8(code, format));
}

static constexpr F8Format kFormats[] = {F8Format::E4M3FN, F8Format::E5M2};
static constexpr F8Overflow kPolicies[] = {F8Overflow::Saturate,
                                           F8Overflow::IEEE};

TEST(Casts, ToF8IsExact) {
  std::string text;
  for (F8Format format : kFormats)
    for (F8Overflow policy : kPolicies)
      for (std::string from : {"f32", "bf16", "f16"}) {
        std::string mode = policy == F8Overflow::IEEE ? "ieee" : "saturate";
        text += makeCast(from + getName(format) + mode, from, getName(format),
                         "fp8.cast %a overflow = " + mode);
      }
  Kernels kernels(text);
  ASSERT_EQ(kernels.error, "");
  // All 16-bit inputs, and f32 near every place where a result changes.
  std::vector<float> wide;
  for (uint32_t high = 0; high < 65536; ++high)
    for (uint32_t low :
         {0x0000u, 0x0001u, 0x7fffu, 0x8000u, 0x8001u, 0xffffu}) {
      uint32_t bits = high << 16 | low;
      float value;
      std::memcpy(&value, &bits, 4);
      wide.push_back(value);
    }
  Tensor x32 = Tensor::ofF32({int64_t(wide.size())}, wide);
  Tensor x16 = Tensor::make({65536}, 2);
  for (uint32_t bits = 0; bits < 65536; ++bits)
    x16.data<uint16_t>()[bits] = bits;
  for (F8Format format : kFormats)
    for (F8Overflow policy : kPolicies)
      for (std::string from : {"f32", "bf16", "f16"}) {
        std::string mode = policy == F8Overflow::IEEE ? "ieee" : "saturate";
        Tensor &x = from == "f32" ? x32 : x16;
        Tensor q = Tensor::make(x.shape, 1);
        kernels.run(from + getName(format) + mode, {&x, &q});
        int64_t different = 0;
        for (int64_t i = 0; i < x.count(); ++i) {
          float value = from == "f32"    ? x.data<float>()[i]
                        : from == "bf16" ? decodeBF16(x.data<uint16_t>()[i])
                                         : decodeF16(x.data<uint16_t>()[i]);
          uint8_t want = encodeF8(value, format, policy);
          uint8_t got = q.data<uint8_t>()[i];
          different +=
              got != want && !(isNaN(got, format) && isNaN(want, format));
        }
        EXPECT_EQ(different, 0)
            << from << " to " << getName(format) << " " << mode;
      }
}

TEST(Casts, FromF8IsExact) {
  std::string text;
  for (F8Format format : kFormats)
    for (std::string to : {"f32", "bf16", "f16"})
      text +=
          makeCast(getName(format) + to, getName(format), to, "fp8.cast %a");
  Kernels kernels(text);
  ASSERT_EQ(kernels.error, "");
  Tensor q = Tensor::make({256}, 1);
  for (int i = 0; i < 256; ++i)
    q.data<uint8_t>()[i] = i;
  for (F8Format format : kFormats)
    for (std::string to : {"f32", "bf16", "f16"}) {
      Tensor y = Tensor::make({256}, to == "f32" ? 4 : 2);
      kernels.run(getName(format) + to, {&q, &y});
      for (int i = 0; i < 256; ++i) {
        float got = to == "f32"    ? y.data<float>()[i]
                    : to == "bf16" ? decodeBF16(y.data<uint16_t>()[i])
                                   : decodeF16(y.data<uint16_t>()[i]);
        float want = decodeF8(i, format);
        EXPECT_TRUE((std::isnan(got) && std::isnan(want)) ||
                    (got == want && std::signbit(got) == std::signbit(want)))
            << getName(format) << " code " << i << " to " << to;
      }
    }
}

/// Case A8.
TEST(Casts, OddLengthsTouchNothingBehindTheEnd) {
  std::string text = makeCast("cast", "f32", "f8E4M3FN", "fp8.cast %a");
  Kernels kernels(text);
  ASSERT_EQ(kernels.error, "");
  const std::vector<float> pattern = {1.5f, -448.0f, 0.5f, -2.0f};
  const uint8_t want[] = {0x3c, 0xfe, 0x30, 0xc0};
  for (int64_t count : {0, 1, 2, 3, 5, 17, 1023, 4099}) {
    std::vector<float> values;
    for (int64_t i = 0; i < count; ++i)
      values.push_back(pattern[i % 4]);
    Tensor x = Tensor::ofF32({count}, values), q = Tensor::make({count}, 1);
    kernels.run("cast", {&x, &q});
    for (int64_t i = 0; i < count; ++i)
      ASSERT_EQ(q.data<uint8_t>()[i], want[i % 4]) << i << " of " << count;
  }
}

TEST(Casts, BF16AndF16RoundToNearestEven) {
  std::string text = makeCast("bf16", "f32", "bf16", "arith.truncf %a") +
                     makeCast("f16", "f32", "f16", "arith.truncf %a");
  Kernels kernels(text);
  ASSERT_EQ(kernels.error, "");
  std::vector<float> values;
  for (uint64_t bits = 0; bits < (uint64_t(1) << 32); bits += 4093) {
    uint32_t pattern = bits;
    float value;
    std::memcpy(&value, &pattern, 4);
    values.push_back(value);
  }
  int64_t count = values.size();
  Tensor x = Tensor::ofF32({count}, values);
  Tensor b = Tensor::make({count}, 2), h = Tensor::make({count}, 2);
  kernels.run("bf16", {&x, &b});
  kernels.run("f16", {&x, &h});
  int64_t different = 0;
  for (int64_t i = 0; i < count; ++i) {
    uint16_t gotB = b.data<uint16_t>()[i], gotH = h.data<uint16_t>()[i];
    if (std::isnan(values[i]))
      different +=
          !std::isnan(decodeBF16(gotB)) || !std::isnan(decodeF16(gotH));
    else
      different +=
          gotB != encodeBF16(values[i]) || gotH != encodeF16(values[i]);
  }
  EXPECT_EQ(different, 0);
}
