//===- Products.h - What operators with products share -----------------===//
//
// Part of fp8c, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef FP8C_LIB_IMPORT_OPS_PRODUCTS_H
#define FP8C_LIB_IMPORT_OPS_PRODUCTS_H

#include "Common.h"

namespace fp8c::import {

/// An error unless all are f32, bf16 or f16.
mlir::LogicalResult requireProductTypes(ImportContext &c,
                                        llvm::ArrayRef<mlir::Value> operands);

/// (batch..., M, K) x (batch..., K, N) (+ bias of (N)), rounded once to
/// `element`.
mlir::Value makeMatmul(GraphBuilder &g, mlir::Value lhs, mlir::Value rhs,
                       mlir::Value bias, mlir::Type element);

/// Registers einsum.
void addEinsumOps(OpTable &table);

} // namespace fp8c::import

#endif // FP8C_LIB_IMPORT_OPS_PRODUCTS_H
