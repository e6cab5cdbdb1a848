//===- ReportSizes.h - Bytes of a report --------------------===//
//
// Part of fp8c, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef FP8C_LIB_PIPELINES_REPORTSIZES_H
#define FP8C_LIB_PIPELINES_REPORTSIZES_H

#include "fp8c/Analysis/SymbolicShape.h"
#include "mlir/IR/BuiltinOps.h"
#include "llvm/Support/JSON.h"

namespace fp8c {

/// Numbers of bytes as expressions of the symbols, and at example sizes.
class ReportSizes {
public:
  explicit ReportSizes(mlir::ModuleOp module);

  SizeExpr zero() { return shapes.constant(0); }
  SizeExpr constant(int64_t value) { return shapes.constant(value); }
  SizeExpr add(SizeExpr a, SizeExpr b) { return shapes.add(a, b); }
  /// The bytes of a tensor or buffer; a dim that repeats counts once.
  SizeExpr getBytes(mlir::Value value);
  /// A dim of a buffer.
  SizeExpr getDim(mlir::Value buffer, unsigned dim);
  std::optional<int64_t> evaluate(SizeExpr expr) const;
  llvm::json::Object describe(SizeExpr expr) const {
    return llvm::json::Object{{"expr", shapes.str(expr)},
                              {"value", evaluate(expr)}};
  }

  llvm::json::Array symbols;
  llvm::json::Object examples;

private:
  SymbolicShape shapes;
};

} // namespace fp8c

#endif // FP8C_LIB_PIPELINES_REPORTSIZES_H
