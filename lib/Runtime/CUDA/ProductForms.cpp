//===- ProductForms.cpp - Which of our kernels a product is for -----------===//
//
// Part of fp8c, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ProductForms.h"

#include "Device/Kernels.h"

using namespace fp8c::rt;
using namespace fp8c::rt::cuda;

static bool isF8(DType type) {
  return type == DType::E4M3FN || type == DType::E5M2;
}

/// Elements of K over which scales of a product on tensor cores do not change.
static int64_t getDepth(const MatmulArgs &args) {
  constexpr int64_t kBytes = 128;
  return kBytes / elementSize(args.a->dtype);
}

std::string fp8c::rt::cuda::whyNoTensorCores(const MatmulArgs &args) {
  DType a = args.a->dtype, b = args.b->dtype;
  bool isHalf = (a == DType::BF16 || a == DType::F16) && a == b;
  if (args.bDecode)
    return "weights that are decoded";
  if (!isHalf && !(isF8(a) && isF8(b)))
    return std::string("operands of ") + dtypeName(a) + " and " + dtypeName(b);
  int64_t segment = getScaleSegment(args);
  if (segment % getDepth(args))
    return "scales of " + std::to_string(segment) + " elements of K";
  return "";
}

bool fp8c::rt::cuda::hasFewRows(const MatmulArgs &args,
                                const ProductSizes &sizes) {
  DType a = args.a->dtype, b = args.b->dtype;
  if (sizes.m > kMostRows || sizes.n == 0 || sizes.k == 0)
    return false;
  if (args.bDecode) {
    bool isBlock = args.bDecode->elements == 1 ||
                   args.bDecode->dims[args.bDecode->rank - 2] == 1 ||
                   args.bBlockK % (2 * getDepth(args)) == 0;
    if (a != args.bDecodeDType || (a != DType::BF16 && a != DType::F16) ||
        !isF8(b) || !isBlock || args.bDecode->rank < 2 || getScaleSegment(args))
      return false;
  } else if (!whyNoTensorCores(args).empty()) {
    return false;
  }
  constexpr int64_t kUnit = 16;
  auto isAligned = [&](const Tensor &t, uint32_t alongK) {
    int64_t size = elementSize(t.dtype);
    if (strideFromLast(t, alongK) != 1)
      return false;
    for (uint32_t back = 0; back < t.rank; ++back)
      if (back != alongK && strideFromLast(t, back) * size % kUnit)
        return false;
    return sizes.k * size % kUnit == 0;
  };
  return isAligned(*args.a, 0) && isAligned(*args.b, 1);
}

bool fp8c::rt::cuda::hasDots(const MatmulArgs &args,
                             const ProductSizes &sizes) {
  return sizes.m <= kMostDotRows && !args.bDecode && !getScaleSegment(args) &&
         hasFewRows(args, sizes);
}

uint32_t fp8c::rt::cuda::getDotSharing(const MatmulArgs &args,
                                       const ProductSizes &sizes,
                                       int multiprocessors) {
  // One block a multiprocessor has too little under way; of 4096 columns and
  // 132 multiprocessors almost all have two.
  const int64_t least = 3 * int64_t(multiprocessors) / 2;
  const int64_t bytes = sizes.k * elementSize(args.b->dtype);
  uint32_t sharing = 0;
  while (sharing < kMostDotSharing &&
         sizes.batch * ((sizes.n << sharing) / kDotBlockColumns) < least &&
         bytes > int64_t(kDotTurnBytes) << sharing)
    ++sharing;
  return sharing;
}
