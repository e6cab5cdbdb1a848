//===- References.cpp - Products and attention in f64 ---------------------===//
//
// Part of fp8c, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "fp8c/Compare/References.h"

#include "ProductElement.h"

#include <algorithm>
#include <cmath>
#include <limits>

using namespace fp8c;
using namespace fp8c::compare;

double compare::loadScale(const TensorView &scale,
                          const std::vector<int64_t> &index, int64_t blockRow,
                          int64_t blockColumn) {
  const size_t rank = scale.dims.size();
  int64_t offset = 0;
  for (size_t d = 0; d < rank; ++d) {
    // Scales have their operand's rank; a shorter one aligns at the end.
    int64_t i = index[index.size() - rank + d];
    const int64_t block = d + 1 == rank   ? blockColumn
                          : d + 2 == rank ? blockRow
                                          : 1;
    i = block == 0 ? 0 : i / block;
    offset += (scale.dims[d] == 1 ? 0 : i) * scale.strides[d];
  }
  return loadValue(scale.dtype, scale.data, offset);
}

int64_t compare::broadcastOffset(const TensorView &tensor,
                                 const std::vector<int64_t> &index) {
  int64_t offset = 0;
  const size_t rank = tensor.dims.size();
  for (size_t d = 0; d < rank; ++d) {
    const int64_t i = index[index.size() - rank + d];
    offset += (tensor.dims[d] == 1 ? 0 : i) * tensor.strides[d];
  }
  return offset;
}

double compare::sumOfAbsoluteTerms(const Product &product, int64_t linear) {
  ProductElement element(product, linear);
  double sum = 0;
  for (int64_t k = 0; k < element.getDepth(); ++k)
    sum += std::abs(element.getTerm(k) * element.getScale(k));
  return (sum + std::abs(element.getBias())) *
         std::abs(element.getResultScale());
}

double compare::roundBits(DType dtype, double value) {
  if (dtype != DType::BF16 && dtype != DType::F16)
    return value;
  const int bits = dtype == DType::BF16 ? 8 : 11;
  int exponent;
  const double mantissa = std::frexp(value, &exponent);
  return std::ldexp(std::nearbyint(std::ldexp(mantissa, bits)),
                    exponent - bits);
}

/// The elements in row-major order.
static std::vector<double> loadAll(const TensorView &tensor) {
  std::vector<double> values;
  values.reserve(tensor.numElements());
  forEachOffset(tensor, [&](int64_t offset) {
    values.push_back(loadValue(tensor.dtype, tensor.data, offset));
  });
  return values;
}

std::vector<double> compare::computeAttention(const Attention &op,
                                              bool rounded) {
  const int64_t batch = op.query.dims[0], heads = op.query.dims[1],
                queries = op.query.dims[2], width = op.query.dims[3],
                keyHeads = op.key.dims[1], keys = op.key.dims[2],
                valueWidth = op.value.dims[3];
  const std::vector<double> q = loadAll(op.query), k = loadAll(op.key),
                            v = loadAll(op.value);
  const double minusInfinity = -std::numeric_limits<double>::infinity();
  std::vector<double> result;
  result.reserve(op.out.numElements());
  std::vector<double> scores(keys), row(valueWidth);
  for (int64_t b = 0; b < batch; ++b)
    for (int64_t h = 0; h < heads; ++h)
      for (int64_t i = 0; i < queries; ++i) {
        const int64_t head = b * keyHeads + h / (heads / keyHeads);
        const double *query = &q[((b * heads + h) * queries + i) * width];
        const double *key = &k[head * keys * width];
        const double *value = &v[head * keys * valueWidth];
        double top = minusInfinity;
        for (int64_t j = 0; j < keys; ++j) {
          double score = 0;
          for (int64_t c = 0; c < width; ++c)
            score += query[c] * key[j * width + c];
          score *= op.scale;
          if (op.mask) {
            const double mask =
                loadValue(op.mask->dtype, op.mask->data,
                          broadcastOffset(*op.mask, {b, h, i, j}));
            if (op.mask->dtype != DType::Bool)
              score += mask;
            else if (mask == 0)
              score = minusInfinity;
          }
          if (op.causal && j > i)
            score = minusInfinity;
          scores[j] = score;
          top = std::max(top, score);
        }
        std::fill(row.begin(), row.end(), 0.0);
        double sum = 0;
        for (int64_t j = 0; j < keys && top != minusInfinity; ++j) {
          double weight = std::exp(scores[j] - top);
          sum += weight;
          if (rounded)
            weight = roundBits(op.value.dtype, weight);
          for (int64_t c = 0; c < valueWidth; ++c)
            row[c] += weight * value[j * valueWidth + c];
        }
        for (double element : row)
          result.push_back(sum > 0 ? element / sum : 0);
        if (rounded)
          for (size_t c = result.size() - valueWidth; c < result.size(); ++c)
            result[c] = roundBits(op.out.dtype, result[c]);
      }
  return result;
}

double compare::relativeError(const std::vector<double> &got,
                              const std::vector<double> &reference) {
  double difference = 0, norm = 0;
  for (size_t i = 0; i < reference.size(); ++i) {
    const double d = got[i] - reference[i];
    difference += d * d;
    norm += reference[i] * reference[i];
  }
  return norm > 0 ? std::sqrt(difference / norm) : std::sqrt(difference);
}

double compare::relativeError(const TensorView &got,
                              const std::vector<double> &reference) {
  return relativeError(loadAll(got), reference);
}
