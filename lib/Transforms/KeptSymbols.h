//===- KeptSymbols.h - Symbols of arguments stay ----------------*- C++ -*-===//
//
// Part of fp8c, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef FP8C_LIB_TRANSFORMS_KEPTSYMBOLS_H
#define FP8C_LIB_TRANSFORMS_KEPTSYMBOLS_H

#include "fp8c/Dialect/FP8/FP8.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace fp8c {

/// Puts back, at its end, the symbols that a pass dropped as dead although the
/// dims of arguments are made of them: their ranges hold for every call, also
/// where no op asks for the size.
class KeptSymbols {
public:
  explicit KeptSymbols(mlir::func::FuncOp func);
  ~KeptSymbols();
  KeptSymbols(const KeptSymbols &) = delete;

private:
  mlir::func::FuncOp func;
  /// Clones without a place.
  llvm::SmallVector<mlir::OwningOpRef<fp8::SymbolOp>> kept;
};

} // namespace fp8c

#endif // FP8C_LIB_TRANSFORMS_KEPTSYMBOLS_H
