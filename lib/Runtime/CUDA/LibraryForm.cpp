//===- LibraryForm.cpp - The rules of cuBLASLt's products -----------------===//
//
// Part of fp8c, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "LibraryProduct.h"

using namespace fp8c::rt;
using namespace fp8c::rt::cuda;

/// What leading dims and addresses of f8 operands are multiples of, in bytes.
static constexpr int64_t kF8Alignment = 16;
/// The extent of the library's scale blocks.
static constexpr int64_t kBlock = 128;

static bool isF8(DType dtype) {
  return dtype == DType::E4M3FN || dtype == DType::E5M2;
}

/// One of the two dims is contiguous, and columns do not overlap.
static bool setMatrix(const Tensor &t, int64_t inner, int64_t outer,
                      int64_t innerStride, int64_t outerStride,
                      LibraryForm::Matrix &out) {
  if (inner != 1 && innerStride != 1)
    return false;
  int64_t leading = outer == 1 ? inner : outerStride;
  if (leading < inner)
    return false;
  out.rows = inner;
  out.columns = outer;
  out.leading = leading;
  return true;
}

std::string LibraryForm::setBatches(const MatmulArgs &args) {
  // All batch dims as one: each operand's strides must be those of one dim.
  const Tensor *operands[] = {args.b, args.a, args.d};
  Matrix *matrices[] = {&a, &b, &d};
  for (int i = 0; i < 3; ++i) {
    const Tensor &t = *operands[i];
    int64_t count = 1, stride = 0;
    for (uint32_t back = 2; back < args.d->rank; ++back) {
      int64_t extent = args.d->dims[args.d->rank - 1 - back];
      if (extent == 1)
        continue;
      int64_t step = strideFromLast(t, back);
      if (count == 1)
        stride = step;
      else if (step != stride * count)
        return "batch dims that no stride joins";
      count *= extent;
    }
    batches = count;
    matrices[i]->batchStride = stride;
  }
  return batches > 1 && d.batchStride == 0 ? "batches that share a result" : "";
}

std::string LibraryForm::setScales(const MatmulArgs &args,
                                   const ProductSizes &sizes) {
  const Tensor *sa = args.aScale, *sb = args.bScale;
  if (!isF8)
    return sa || sb || args.resultScale || args.amax
               ? "scales of operands that are not f8"
               : "";
  for (const Tensor *s : {sa, sb})
    if (s && s->dtype != DType::F32)
      return "scales that are not f32";
  auto isOne = [](const Tensor *s) { return !s || s->elements == 1; };
  if (isOne(sa) && isOne(sb))
    return "";
  if (!sa || !sb || batches > 1)
    return "scales of one side alone, or of batches";
  // Dims and strides of the scales' last two dims.
  auto dim = [](const Tensor *s, int back) {
    return s->dims[s->rank - 1 - back];
  };
  if (sa->rank < 2 || sb->rank < 2)
    return "scales of two kinds";
  int64_t am = dim(sa, 1), ak = dim(sa, 0), bk = dim(sb, 1), bn = dim(sb, 0);
  if (am == sizes.m && ak == 1 && bk == 1 && bn == sizes.n) {
    if ((sizes.m > 1 && strideFromLast(*sa, 1) != 1) ||
        (sizes.n > 1 && strideFromLast(*sb, 0) != 1))
      return "row scales that are not contiguous";
    aScale = bScale = LtScaleMode::Outer;
  } else {
    bool aRow = args.aBlockM == 1 && args.aBlockK == kBlock;
    bool aTile = args.aBlockM == kBlock && args.aBlockK == kBlock;
    bool bRow = args.bBlockN == 1 && args.bBlockK == kBlock;
    bool bTile = args.bBlockN == kBlock && args.bBlockK == kBlock;
    if (!(aRow || aTile) || !(bRow || bTile))
      return "scales of two kinds";
    if (aTile && bTile)
      return "128x128 blocks on both sides";
    if (sizes.m % 4 || sizes.n % 4)
      return "block scales with M or N that 4 does not divide";
    // 1x128: one column a block of K; 128x128: one row of blocks of K, rows a
    // multiple of 4 apart.
    auto fits = [](const Tensor *s, bool row, int64_t outer, int64_t blocks,
                   int64_t outerStride, int64_t kStride) {
      if (row)
        return (outer == 1 || outerStride == 1) &&
               (blocks == 1 || kStride == outer);
      return (blocks == 1 || kStride == 1) &&
             (outer == 1 || outerStride == (blocks + 3) / 4 * 4);
    };
    if (!fits(sa, aRow, am, ak, strideFromLast(*sa, 1),
              strideFromLast(*sa, 0)) ||
        !fits(sb, bRow, bn, bk, strideFromLast(*sb, 0), strideFromLast(*sb, 1)))
      return "block scales in another order than the library's";
    // The library's A is our B.
    aScale = bRow ? LtScaleMode::Block1x128 : LtScaleMode::Block128x128;
    bScale = aRow ? LtScaleMode::Block1x128 : LtScaleMode::Block128x128;
  }
  if (args.resultScale || args.amax || ::isF8(args.d->dtype))
    return "a result in f8 with scales that are not one a tensor";
  return "";
}

std::string LibraryForm::set(const MatmulArgs &args,
                             const ProductSizes &sizes) {
  const Tensor &ta = *args.a, &tb = *args.b, &td = *args.d;
  if (!sizes.m || !sizes.n || !sizes.k || !sizes.batch)
    return "an empty product";
  isF8 = ::isF8(ta.dtype);
  if (isF8 ? !::isF8(tb.dtype) : ta.dtype != tb.dtype)
    return std::string("operands of ") + dtypeName(ta.dtype) + " and " +
           dtypeName(tb.dtype);
  if (ta.dtype == DType::E5M2 && tb.dtype == DType::E5M2)
    return "E5M2 on both sides";
  bool isWide = ta.dtype == DType::F32 || ta.dtype == DType::F64;
  if (!isF8 && td.dtype != ta.dtype && (isWide || td.dtype != DType::F32))
    return std::string("a result in ") + dtypeName(td.dtype);
  if (isF8 && td.dtype == DType::E5M2 && ta.dtype == DType::E4M3FN &&
      tb.dtype == DType::E4M3FN)
    return "a result in E5M2 of E4M3FN operands";
  if (::isF8(td.dtype) && !args.saturate)
    return "a result in f8 that overflows to Inf or NaN";
  a.type = CublasLt::getType(tb.dtype);
  b.type = CublasLt::getType(ta.dtype);
  d.type = CublasLt::getType(td.dtype);
  if (a.type < 0 || b.type < 0 || d.type < 0)
    return std::string("operands of ") + dtypeName(ta.dtype);
  if (ta.dtype == DType::F64)
    computeType = kLtCompute64F;

  int64_t bK = strideFromLast(tb, 1), bN = strideFromLast(tb, 0);
  int64_t aM = strideFromLast(ta, 1), aK = strideFromLast(ta, 0);
  a.transposed = setMatrix(tb, sizes.k, sizes.n, bK, bN, a);
  if (!a.transposed && (isF8 || !setMatrix(tb, sizes.n, sizes.k, bN, bK, a)))
    return isF8 ? "b is not contiguous along K" : "b has no contiguous dim";
  b.transposed = !setMatrix(ta, sizes.k, sizes.m, aK, aM, b);
  if (b.transposed && (isF8 || !setMatrix(ta, sizes.m, sizes.k, aM, aK, b)))
    return isF8 ? "a is not contiguous along K" : "a has no contiguous dim";
  if (!setMatrix(td, sizes.n, sizes.m, strideFromLast(td, 0),
                 strideFromLast(td, 1), d))
    return "the result's rows are not contiguous";
  if (std::string reason = setBatches(args); !reason.empty())
    return reason;
  if (isF8) {
    if (sizes.k % kF8Alignment)
      return "K of " + std::to_string(sizes.k) + " is no multiple of 16";
    if (sizes.n * elementSize(td.dtype) % kF8Alignment)
      return "rows of " + std::to_string(sizes.n) +
             " elements are no multiple of 16 bytes";
    auto isOdd = [](const Matrix &m, int64_t bytes) {
      return m.leading * bytes % kF8Alignment ||
             m.batchStride * bytes % kF8Alignment;
    };
    if (isOdd(a, 1) || isOdd(b, 1) || isOdd(d, elementSize(td.dtype)))
      return "rows that are no multiple of 16 bytes apart";
  }
  if (std::string reason = setScales(args, sizes); !reason.empty())
    return reason;
  if (const Tensor *bias = args.bias) {
    if (bias->elements != sizes.n || bias->dims[bias->rank - 1] != sizes.n ||
        (sizes.n > 1 && strideFromLast(*bias, 0) != 1))
      return "a bias that is not one contiguous row";
    bool isHalf = bias->dtype == DType::BF16 || bias->dtype == DType::F16;
    DType result = td.dtype;
    bool fits = isF8 ? isHalf && (bias->dtype == result ||
                                  (bias->dtype == DType::BF16 &&
                                   (::isF8(result) || result == DType::F32)) ||
                                  (bias->dtype == DType::F16 && ::isF8(result)))
                     : bias->dtype == result;
    if (!fits)
      return std::string("a bias in ") + dtypeName(bias->dtype) +
             " with a result in " + dtypeName(result);
  }
  return "";
}
