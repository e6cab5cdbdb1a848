//===- SymExpr.h - Sympy expressions of sizes -------------------*- C++ -*-===//
//
// Part of fp8c, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef FP8C_IMPORT_SYMEXPR_H
#define FP8C_IMPORT_SYMEXPR_H

#include "fp8c/Import/SizeArith.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/Support/Error.h"

#include <memory>

namespace fp8c::import {

/// An integer expression over symbols, as an archive states sizes.
struct SymExpr {
  enum class Kind {
    Number,
    Symbol,
    Add,
    Mul,
    FloorDiv,
    CeilDiv,
    Mod,
    Min,
    Max
  };
  Kind kind = Kind::Number;
  int64_t number = 0;
  /// The symbol's name.
  std::string name;
  /// None, or two.
  std::vector<SymExpr> operands;
  /// How many nodes there are, this one counted.
  unsigned nodes = 1;

  /// Reads sympy's `srepr`, "Mul(Integer(17), Symbol('s77', ...))", or Python,
  /// "(s0 + 1)//2". Quotients occur where they are rounded,
  /// "CeilToInt(IntTrueDiv(s0, 2))", and as factors, "Rational(1, 2)"; PyTorch
  /// has no size that is not whole, so one that is not rounded is exact.
  static llvm::Expected<SymExpr> parse(llvm::StringRef text);

  /// The expression in infix form: "17*s77".
  std::string str() const;

  /// Builds the expression; `symbol` gives the value of a symbol, null for an
  /// unknown one. The result is null where a symbol is unknown.
  mlir::OpFoldResult
  build(SizeArith &arith,
        llvm::function_ref<mlir::OpFoldResult(llvm::StringRef)> symbol) const;
};

} // namespace fp8c::import

#endif // FP8C_IMPORT_SYMEXPR_H
