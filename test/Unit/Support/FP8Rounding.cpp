//===- FP8Rounding.cpp - Tests of the exact f8 casts ----------------------===//
//
// Part of fp8c, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The reference shares nothing with the implementation: it lists a format's
// values by its definition, as numbers, and looks the nearest up. Twice a
// value and the sum of two neighbours are exact doubles.
//
//===----------------------------------------------------------------------===//

#include "fp8c/Support/FP8Rounding.h"

#include "gtest/gtest.h"
#include <algorithm>
#include <cfloat>
#include <cmath>
#include <cstring>
#include <functional>
#include <limits>
#include <vector>

using namespace fp8c;

namespace {

float floatOf(uint32_t bits) {
  float value;
  std::memcpy(&value, &bits, sizeof(value));
  return value;
}

/// The values of a format's codes without sign: `finite` of them, then the one
/// that the next code would have.
struct Grid {
  std::vector<double> values;
  int finite;

  Grid(int mantissa, int bias, int finite) : finite(finite) {
    for (int code = 0; code <= finite; ++code) {
      int exponent = code / (1 << mantissa);
      double fraction = code % (1 << mantissa) / double(1 << mantissa);
      values.push_back(exponent == 0
                           ? fraction * std::pow(2.0, 1 - bias)
                           : (1 + fraction) * std::pow(2.0, exponent - bias));
    }
  }

  /// The code without sign that |value| rounds to; `finite` means beyond.
  int nearest(double value) const {
    value = std::fabs(value);
    if (value >= values.back())
      return finite;
    int above =
        std::upper_bound(values.begin(), values.end(), value) - values.begin();
    double twice = 2 * value, sum = values[above - 1] + values[above];
    if (twice != sum)
      return twice < sum ? above - 1 : above;
    return above % 2 ? above - 1 : above;
  }
};

const Grid kE4M3FN(3, 7, 0x7F), kE5M2(2, 15, 0x7C);

uint8_t reference(double value, F8Format format, F8Overflow overflow) {
  const Grid &grid = format == F8Format::E4M3FN ? kE4M3FN : kE5M2;
  int code = grid.nearest(value);
  if (code == grid.finite)
    code = overflow == F8Overflow::Saturate ? grid.finite - 1
           : format == F8Format::E4M3FN     ? 0x7F
                                            : 0x7C;
  return code | (std::signbit(value) ? 0x80 : 0);
}

bool isNaNCode(uint8_t code, F8Format format) {
  return format == F8Format::E4M3FN ? (code & 0x7F) == 0x7F
                                    : (code & 0x7F) > 0x7C;
}

/// Calls `check` with both formats and both policies.
void forAllCasts(const std::function<void(F8Format, F8Overflow)> &check) {
  for (F8Format format : {F8Format::E4M3FN, F8Format::E5M2})
    for (F8Overflow overflow : {F8Overflow::Saturate, F8Overflow::IEEE})
      check(format, overflow);
}

/// Checks one cast of an f32 and of the same value as a double.
void checkCast(float value, F8Format format, F8Overflow overflow) {
  uint8_t code = encodeF8(value, format, overflow);
  uint8_t fromDouble = encodeF8(double(value), format, overflow);
  ASSERT_EQ(code, fromDouble) << value;
  if (std::isnan(value))
    ASSERT_TRUE(isNaNCode(code, format)) << value;
  else
    ASSERT_EQ(int(code), int(reference(value, format, overflow))) << value;
}

TEST(FP8Rounding, EveryBF16) {
  forAllCasts([](F8Format format, F8Overflow overflow) {
    for (uint32_t bits = 0; bits < 0x10000; ++bits)
      checkCast(floatOf(bits << 16), format, overflow);
  });
}

TEST(FP8Rounding, EveryF16) {
  const Grid grid(10, 15, 0x7C00);
  forAllCasts([&](F8Format format, F8Overflow overflow) {
    for (uint32_t bits = 0; bits < 0x10000; ++bits) {
      float value = decodeF16(bits);
      int magnitude = bits & 0x7FFF;
      if (magnitude > 0x7C00)
        ASSERT_TRUE(std::isnan(value));
      else if (magnitude == 0x7C00)
        ASSERT_TRUE(std::isinf(value));
      else
        ASSERT_EQ(std::fabs(value), grid.values[magnitude]);
      if (!std::isnan(value))
        ASSERT_EQ(std::signbit(value), bits > 0x7FFF);
      checkCast(value, format, overflow);
    }
  });
}

/// Around each value and each midpoint of neighbours: the last bit counts.
TEST(FP8Rounding, Boundaries) {
  const float kInf = std::numeric_limits<float>::infinity();
  forAllCasts([&](F8Format format, F8Overflow overflow) {
    const Grid &grid = format == F8Format::E4M3FN ? kE4M3FN : kE5M2;
    for (int code = 0; code < grid.finite; ++code) {
      double low = grid.values[code], high = grid.values[code + 1];
      for (double center : {low, (low + high) / 2})
        for (float sign : {1.0f, -1.0f}) {
          float value = sign * float(center);
          for (float near : {std::nextafterf(value, -kInf), value,
                             std::nextafterf(value, kInf)})
            checkCast(near, format, overflow);
          double exact = sign * center;
          for (double near : {std::nextafter(exact, -INFINITY), exact,
                              std::nextafter(exact, INFINITY)})
            ASSERT_EQ(int(encodeF8(near, format, overflow)),
                      int(reference(near, format, overflow)))
                << near;
        }
    }
    for (float value :
         {kInf, -kInf, FLT_MAX, -FLT_MAX, FLT_MIN, -FLT_MIN, floatOf(1),
          floatOf(0x80000001), 0.0f, -0.0f, std::nanf(""), -std::nanf("")})
      checkCast(value, format, overflow);
  });
}

TEST(FP8Rounding, EveryCodeBack) {
  for (F8Format format : {F8Format::E4M3FN, F8Format::E5M2}) {
    const Grid &grid = format == F8Format::E4M3FN ? kE4M3FN : kE5M2;
    for (int code = 0; code < 256; ++code) {
      float value = decodeF8(code, format);
      int magnitude = code & 0x7F;
      if (isNaNCode(code, format)) {
        EXPECT_TRUE(std::isnan(value)) << code;
        continue;
      }
      if (magnitude == grid.finite)
        EXPECT_TRUE(std::isinf(value)) << code;
      else
        EXPECT_EQ(std::fabs(value), grid.values[magnitude]) << code;
      EXPECT_EQ(std::signbit(value), code > 0x7F) << code;
      // What is widened narrows to itself, through every wide type.
      EXPECT_EQ(encodeF8(value, format, F8Overflow::IEEE), code);
      EXPECT_EQ(decodeBF16(encodeBF16(value)), value);
      EXPECT_EQ(decodeF16(encodeF16(value)), value);
    }
  }
}

/// bf16 and f16 themselves, at every value and midpoint.
TEST(FP8Rounding, SixteenBits) {
  struct {
    Grid grid;
    uint16_t (*encode)(float);
    float (*decode)(uint16_t);
  } formats[] = {{Grid(7, 127, 0x7F80), encodeBF16, decodeBF16},
                 {Grid(10, 15, 0x7C00), encodeF16, decodeF16}};
  for (auto &format : formats) {
    for (int code = 0; code < format.grid.finite; ++code) {
      double low = format.grid.values[code];
      double middle = (low + format.grid.values[code + 1]) / 2;
      ASSERT_EQ(double(format.decode(code)), low);
      for (float value :
           {float(low), float(middle), std::nextafterf(float(middle), 0.0f),
            std::nextafterf(float(middle), INFINITY)}) {
        ASSERT_EQ(int(format.encode(value)), format.grid.nearest(value));
        ASSERT_EQ(int(format.encode(-value)),
                  format.grid.nearest(value) | 0x8000);
      }
    }
    EXPECT_TRUE(std::isnan(format.decode(format.encode(std::nanf("")))));
  }
}

/// Values out of public reports (cases A1, A4, A5 of the collection).
TEST(FP8Rounding, KnownCases) {
  auto e4 = [](float value, F8Overflow overflow = F8Overflow::Saturate) {
    return int(encodeF8(value, F8Format::E4M3FN, overflow));
  };
  auto e5 = [](float value) {
    return int(encodeF8(value, F8Format::E5M2, F8Overflow::IEEE));
  };
  EXPECT_EQ(e4(464.0f), 0x7E);
  EXPECT_EQ(e4(464.0f, F8Overflow::IEEE), 0x7E);
  EXPECT_EQ(e4(floatOf(0x43E80001)), 0x7E);
  EXPECT_EQ(e4(floatOf(0x43E80001), F8Overflow::IEEE), 0x7F);
  EXPECT_EQ(e4(-1e30f), 0xFE);
  EXPECT_EQ(e4(-1e-8f), 0x80);
  EXPECT_EQ(e4(floatOf(0x3A800001)), 0x01);
  EXPECT_EQ(e4(floatOf(0x3C7FFFFF)), 0x08);
  EXPECT_EQ(e4(floatOf(0x3F880008)), 0x39);
  EXPECT_EQ(e4(1.0625f), 0x38);
  EXPECT_EQ(e4(288.0f), 0x79);
  EXPECT_EQ(e5(floatOf(0x37000001)), 0x01);
  EXPECT_EQ(e5(1.375f), 0x3E);
}

TEST(FP8Rounding, PowersOfTwo) {
  auto cast = [](double value, F8Overflow overflow = F8Overflow::Saturate) {
    return int(encodeF8(value, F8Format::E8M0FNU, overflow));
  };
  for (int code = 0; code < 255; ++code) {
    double value = std::pow(2.0, code - 127);
    EXPECT_EQ(double(decodeF8(code, F8Format::E8M0FNU)), value);
    EXPECT_EQ(cast(value), code);
    EXPECT_EQ(cast(std::nextafter(1.5 * value, 0)), code);
    EXPECT_EQ(cast(1.5 * value), std::min(code + 1, 254));
    EXPECT_EQ(
        int(encodeF8(float(value), F8Format::E8M0FNU, F8Overflow::Saturate)),
        code);
  }
  EXPECT_TRUE(std::isnan(decodeF8(0xFF, F8Format::E8M0FNU)));
  EXPECT_EQ(cast(0.0), 0);
  EXPECT_EQ(cast(NAN), 0xFF);
  EXPECT_EQ(cast(INFINITY), 0xFE);
  EXPECT_EQ(cast(INFINITY, F8Overflow::IEEE), 0xFF);
}

TEST(FP8Rounding, ScaleTable) {
  auto scale = [](float amax, bool pow2 = false) {
    ScaleRule rule;
    rule.pow2 = pow2;
    return computeScale(amax, rule).scale;
  };
  EXPECT_EQ(scale(0.0f), 1.0f);
  EXPECT_EQ(scale(std::nanf("")), 1.0f);
  EXPECT_EQ(scale(INFINITY), 1.0f);
  EXPECT_EQ(scale(1e-40f), FLT_MAX);
  EXPECT_EQ(scale(3.0f), 149.33333f);
  EXPECT_EQ(scale(3.0f, true), 128.0f);
  EXPECT_EQ(scale(447.0f), 1.0022371f);
  EXPECT_EQ(scale(447.0f, true), 1.0f);
  EXPECT_EQ(scale(1e-3f), 447999.97f);
  EXPECT_EQ(scale(3e38f), 1.4933333e-36f);
  // The reciprocal of FLT_MAX is subnormal and stays.
  EXPECT_EQ(computeScale(1e-40f, ScaleRule()).inverse, floatOf(0x00200000));

  ScaleRule rule;
  rule.margin = 3;
  EXPECT_EQ(computeScale(7.0f, rule).scale, 8.0f);
  EXPECT_EQ(computeScale(1e-40f, rule).scale, FLT_MAX);
  rule = ScaleRule();
  rule.eps = 1.0f;
  EXPECT_EQ(computeScale(0.5f, rule).scale, 448.0f);
  EXPECT_EQ(computeScale(0.0f, rule).scale, 448.0f);
}

} // namespace
