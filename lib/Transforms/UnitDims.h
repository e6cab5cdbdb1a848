//===- UnitDims.h - Reshapes that only move dims of size 1 ------*- C++ -*-===//
//
// Part of fp8c, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef FP8C_LIB_TRANSFORMS_UNITDIMS_H
#define FP8C_LIB_TRANSFORMS_UNITDIMS_H

#include "mlir/Dialect/Utils/ReshapeOpsUtils.h"

namespace fp8c {

/// The groups of dims of a reshape that drops or adds the dims of size 1: one a
/// dim that is no unit; units go with the next such dim, or with the last.
inline llvm::SmallVector<mlir::ReassociationIndices>
groupUnits(llvm::ArrayRef<bool> isUnit) {
  llvm::SmallVector<mlir::ReassociationIndices> groups;
  mlir::ReassociationIndices waiting;
  for (auto [dim, unit] : llvm::enumerate(isUnit)) {
    waiting.push_back(dim);
    if (!unit) {
      groups.push_back(waiting);
      waiting.clear();
    }
  }
  if (!groups.empty())
    groups.back().append(waiting);
  return groups;
}

} // namespace fp8c

#endif // FP8C_LIB_TRANSFORMS_UNITDIMS_H
