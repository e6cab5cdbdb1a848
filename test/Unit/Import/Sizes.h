//===- Sizes.h - Sizes that can be computed ---------------------*- C++ -*-===//
//
// Part of fp8c, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef FP8C_TEST_UNIT_IMPORT_SIZES_H
#define FP8C_TEST_UNIT_IMPORT_SIZES_H

#include "fp8c/Import/GraphBuilder.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"

#include <map>
#include <string>

namespace fp8c::test {

/// A module into which sizes are built.
struct SizesModule {
  SizesModule();
  /// The symbol of that name; made with the range at its first use.
  mlir::OpFoldResult symbol(llvm::StringRef name, int64_t min = 0,
                            std::optional<int64_t> max = std::nullopt);
  /// What a size or condition is for values of the symbols; null where it
  /// divides by 0.
  std::optional<int64_t> evaluate(mlir::OpFoldResult size,
                                  const std::map<std::string, int64_t> &values);

  mlir::MLIRContext context;
  mlir::OwningOpRef<mlir::ModuleOp> module;
  mlir::OpBuilder builder;
  import::GraphBuilder graph;

private:
  std::map<std::string, mlir::OpFoldResult> symbols;
};

} // namespace fp8c::test

#endif // FP8C_TEST_UNIT_IMPORT_SIZES_H
