//===- SizeTable.h - Index values as the expressions of a plan --*- C++ -*-===//
//
// Part of fp8c, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef FP8C_LIB_PACKAGE_SIZETABLE_H
#define FP8C_LIB_PACKAGE_SIZETABLE_H

#include "fp8c/Package/plan_generated.h"
#include "mlir/IR/Value.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/StringMap.h"

#include <map>
#include <tuple>
#include <vector>

namespace fp8c::package {

/// The expressions and symbols of a plan; equal expressions are one entry.
class SizeTable {
public:
  /// The entry of a number.
  uint32_t constant(int64_t value);
  /// The entry of an index or i1 value. An op that is no size arithmetic is an
  /// error at its location.
  mlir::FailureOr<uint32_t> get(mlir::Value value);
  /// The entry of a product.
  uint32_t mul(uint32_t a, uint32_t b);

  const std::vector<plan::wire::Expr> &getExprs() const { return exprs; }
  std::vector<flatbuffers::Offset<plan::wire::Symbol>>
  writeSymbols(flatbuffers::FlatBufferBuilder &builder) const;

private:
  struct Symbol {
    std::string name;
    int64_t min, max, multiple;
  };

  uint32_t add(plan::wire::ExprKind kind, uint32_t lhs, uint32_t rhs,
               int64_t value);

  std::vector<plan::wire::Expr> exprs;
  std::map<std::tuple<plan::wire::ExprKind, uint32_t, uint32_t, int64_t>,
           uint32_t>
      interned;
  llvm::DenseMap<mlir::Value, uint32_t> known;
  std::vector<Symbol> symbols;
  llvm::StringMap<uint32_t> symbolIds;
};

} // namespace fp8c::package

#endif // FP8C_LIB_PACKAGE_SIZETABLE_H
