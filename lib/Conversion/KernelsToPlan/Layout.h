//===- Layout.h - Where the elements of a tensor are ------------*- C++ -*-===//
//
// Part of fp8c, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef FP8C_LIB_CONVERSION_KERNELSTOPLAN_LAYOUT_H
#define FP8C_LIB_CONVERSION_KERNELSTOPLAN_LAYOUT_H

#include "fp8c/Import/SizeArith.h"

#include "mlir/Dialect/Utils/ReshapeOpsUtils.h"
#include "mlir/IR/BuiltinTypes.h"

namespace fp8c::toplan {

using import::SizeArith;
using import::Sizes;

/// Strides into a root buffer. Strides and offset are in elements, the offset
/// from the root's first one.
struct Layout {
  /// The memref of the root buffer.
  mlir::Value root;
  Sizes sizes;
  Sizes strides;
  mlir::OpFoldResult offset;

  /// A whole buffer, dense and row-major.
  static Layout dense(SizeArith &arith, mlir::Value root, Sizes sizes);
  /// Dim i of the result is dim `permutation[i]` of this.
  Layout transpose(llvm::ArrayRef<int64_t> permutation) const;
  /// What `transpose(permutation)` was applied to.
  Layout untranspose(llvm::ArrayRef<int64_t> permutation) const;
  /// A slice; dims in `dropped` (extent 1) are left out of the result.
  Layout slice(SizeArith &arith, llvm::ArrayRef<mlir::OpFoldResult> offsets,
               llvm::ArrayRef<mlir::OpFoldResult> sizes,
               llvm::ArrayRef<mlir::OpFoldResult> steps,
               const llvm::SmallBitVector &dropped) const;
  /// Merges each group of dims, if strides can express that.
  std::optional<Layout>
  collapse(SizeArith &arith, llvm::ArrayRef<mlir::ReassociationIndices> groups,
           const Sizes &resultSizes) const;
  /// Splits each dim into a group of dims.
  Layout expand(SizeArith &arith,
                llvm::ArrayRef<mlir::ReassociationIndices> groups,
                const Sizes &resultSizes) const;

  /// True where both are the same elements in the same order.
  bool isSame(SizeArith &arith, const Layout &other) const;
  /// True where the elements lie row-major without gaps.
  bool isDense(SizeArith &arith) const;
  /// The dim whose stride is known to be 1, or -1.
  int64_t getUnitDim() const;
  /// The type of a view with this layout.
  mlir::MemRefType getType(mlir::Type element) const;
};

/// The strides of a dense row-major tensor.
Sizes getDenseStrides(SizeArith &arith, llvm::ArrayRef<mlir::OpFoldResult>);

} // namespace fp8c::toplan

#endif // FP8C_LIB_CONVERSION_KERNELSTOPLAN_LAYOUT_H
