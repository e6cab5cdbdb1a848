//===- Operations.cpp - Operands of the operations of a plan --------------===//
//
// Part of fp8c, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Operations.h"

#include <numeric>

using namespace fp8c::rt;

static void checkScale(const Tensor *scale, const Tensor &operand,
                       int64_t block0, int64_t block1, const std::string &where,
                       const char *name) {
  if (!scale || scale->elements == 1)
    return;
  uint32_t r = scale->rank;
  require(r == operand.rank, FP8RT_INVALID_PACKAGE, "plan: ", where, ": ", name,
          " of rank ", r, " for an operand of rank ", operand.rank);
  for (uint32_t i = 0; i < r; ++i) {
    int64_t block = i + 2 == r ? block0 : i + 1 == r ? block1 : 1;
    int64_t extent = operand.dims[i], got = scale->dims[i];
    bool fits = got == 1 || (block > 0 && got == (extent + block - 1) / block);
    require(fits, FP8RT_INVALID_PACKAGE, "plan: ", where, ": ", name, ": dim ",
            i, ": got ", got, " scales for ", extent, " elements in blocks of ",
            block);
  }
}

ProductSizes fp8c::rt::checkMatmul(const MatmulArgs &args,
                                   const std::string &where) {
  const Tensor &a = *args.a, &b = *args.b, &d = *args.d;
  auto check = [&](bool condition, const char *what) {
    require(condition, FP8RT_INVALID_PACKAGE, "plan: ", where, ": ", what);
  };
  uint32_t r = d.rank;
  ProductSizes sizes{d.dims[r - 2], d.dims[r - 1], a.dims[r - 1], 1};
  check(a.dims[r - 2] == sizes.m && b.dims[r - 1] == sizes.n &&
            b.dims[r - 2] == sizes.k,
        "the operands' M, N and K differ");
  for (uint32_t i = 0; i + 2 < r; ++i) {
    sizes.batch *= d.dims[i];
    check((a.dims[i] == d.dims[i] || a.dims[i] == 1) &&
              (b.dims[i] == d.dims[i] || b.dims[i] == 1),
          "the operands' batch dims differ");
  }
  checkScale(args.aScale, a, args.aBlockM, args.aBlockK, where, "a_scale");
  checkScale(args.bScale, b, args.bBlockK, args.bBlockN, where, "b_scale");
  checkScale(args.bDecode, b, args.bBlockK, args.bBlockN, where, "b_decode");
  if (args.bias)
    for (uint32_t back = 0; back < args.bias->rank; ++back) {
      int64_t extent = args.bias->dims[args.bias->rank - 1 - back];
      check(extent == 1 || extent == d.dims[r - 1 - back],
            "the bias does not broadcast to the result");
    }
  check(!args.resultScale || args.resultScale->elements == 1,
        "result_scale has more than one element");
  check(!args.amax || args.amax->elements == 1,
        "amax has more than one element");
  check(!args.aPadded || (args.aPadded->dims[0] == sizes.m &&
                          args.aPadded->dims[1] >= sizes.k),
        "a_padded is not a with longer rows");
  return sizes;
}

ProductSizes fp8c::rt::checkAttention(const AttentionArgs &args,
                                      const std::string &where) {
  const int64_t *q = args.query->dims, *k = args.key->dims;
  const int64_t *v = args.value->dims, *o = args.out->dims;
  auto check = [&](bool condition, const char *what) {
    require(condition, FP8RT_INVALID_PACKAGE, "plan: ", where, ": ", what);
  };
  check(k[0] == q[0] && v[0] == q[0] && o[0] == q[0],
        "the operands' batches differ");
  check(o[1] == q[1] && k[1] == v[1] &&
            (q[1] == 0 || (k[1] > 0 && q[1] % k[1] == 0)),
        "the heads of query are not a multiple of those of key and value");
  check(k[3] == q[3] && v[2] == k[2] && o[2] == q[2] && o[3] == v[3],
        "the operands' queries, keys or head dims differ");
  const int64_t extents[] = {q[0], q[1], q[2], k[2]};
  if (args.mask)
    for (int i = 0; i < 4; ++i)
      check(args.mask->dims[i] == extents[i] || args.mask->dims[i] == 1,
            "the mask does not broadcast to batch, heads, queries and keys");
  return {q[2], k[2], q[3], q[0] * q[1]};
}

void fp8c::rt::checkCopy(const Tensor &source, const Tensor &target,
                         const std::string &where) {
  for (uint32_t i = 0; i < source.rank; ++i)
    require(source.dims[i] == target.dims[i], FP8RT_INVALID_PACKAGE,
            "plan: ", where, ": copy of ", source.dims[i], " to ",
            target.dims[i], " elements in dim ", i);
}

int64_t fp8c::rt::getScaleSegment(const MatmulArgs &args) {
  auto alongK = [&](const Tensor *scale, uint32_t fromLast, int64_t block) {
    return scale && scale->elements > 1 &&
                   scale->dims[scale->rank - 1 - fromLast] > 1
               ? block
               : 0;
  };
  return std::gcd(alongK(args.aScale, 0, args.aBlockK),
                  alongK(args.bScale, 1, args.bBlockK));
}

int64_t fp8c::rt::getBatchOffset(const Tensor &t, const Tensor &d,
                                 int64_t index) {
  int64_t offset = 0;
  if (t.rank < 3)
    return 0;
  for (uint32_t back = 2; back < d.rank; ++back) {
    int64_t extent = d.dims[d.rank - 1 - back];
    if (back < t.rank)
      offset += index % extent * strideFromLast(t, back);
    index /= extent;
  }
  return offset;
}
