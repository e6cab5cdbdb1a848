//===- BlockScale.h - Scales of blocks of a tensor --------------*- C++ -*-===//
//
// Part of fp8c, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef FP8C_LIB_TRANSFORMS_BLOCKSCALE_H
#define FP8C_LIB_TRANSFORMS_BLOCKSCALE_H

#include "ScalarTrace.h"

#include "fp8c/Dialect/FP8/FP8.h"
#include "mlir/IR/PatternMatch.h"

namespace fp8c {

/// A scale that holds for blocks of the data.
struct BlockScale {
  mlir::Value tensor;
  fp8::ScalingAttr scaling;
};

/// The scalar, an operand for each element of data with `rank` dims, as a scale
/// of the data's rank, made at the insertion point. Null if it does not hold
/// for whole dims, or has the data's dims in another order.
BlockScale getBlockScale(mlir::RewriterBase &rewriter, TracedScalar scale,
                         int64_t rank);

} // namespace fp8c

#endif // FP8C_LIB_TRANSFORMS_BLOCKSCALE_H
