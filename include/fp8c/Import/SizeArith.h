//===- SizeArith.h - Arithmetic on sizes ------------------------*- C++ -*-===//
//
// Part of fp8c, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Sizes of tensors while a graph is built: a number, or an index value. Each
// one is kept as a polynomial over atoms (symbols, and the results of floordiv,
// min and max), so that `(s0*s1*64)/64` and `s1*s0` are one SSA value and a
// reshape knows which dims it merges.
//
//===----------------------------------------------------------------------===//

#ifndef FP8C_IMPORT_SIZEARITH_H
#define FP8C_IMPORT_SIZEARITH_H

#include "mlir/IR/Builders.h"
#include "mlir/IR/OpDefinition.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/SmallVector.h"
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace fp8c::import {

/// The sizes of a tensor's dims; each an integer attribute of index type or an
/// index value, never a value that is a known constant.
using Sizes = llvm::SmallVector<mlir::OpFoldResult>;

/// Builds index arithmetic and interns it: equal expressions are one value.
/// Index ops go to the builder's insertion point, so the builder has to stay in
/// one block, at its end, while values are made.
class SizeArith {
public:
  explicit SizeArith(mlir::OpBuilder &builder) : builder(builder) {}

  /// Where new index ops get their location from.
  void setLoc(mlir::Location newLoc) { loc = newLoc; }

  /// The size as a constant attribute.
  mlir::OpFoldResult constant(int64_t value) const;
  /// The number that a size is, if it is one whatever the symbols are.
  std::optional<int64_t> getConstant(mlir::OpFoldResult size);
  /// The size in its canonical form.
  mlir::OpFoldResult canonical(mlir::OpFoldResult size);
  /// The size as an SSA value.
  mlir::Value value(mlir::OpFoldResult size);

  mlir::OpFoldResult add(mlir::OpFoldResult a, mlir::OpFoldResult b);
  mlir::OpFoldResult sub(mlir::OpFoldResult a, mlir::OpFoldResult b);
  mlir::OpFoldResult mul(mlir::OpFoldResult a, mlir::OpFoldResult b);
  /// Python's `//`.
  mlir::OpFoldResult floorDiv(mlir::OpFoldResult a, mlir::OpFoldResult b);
  /// `-(-a // b)`.
  mlir::OpFoldResult ceilDiv(mlir::OpFoldResult a, mlir::OpFoldResult b);
  /// Python's `%`: the sign of the divisor.
  mlir::OpFoldResult mod(mlir::OpFoldResult a, mlir::OpFoldResult b);
  mlir::OpFoldResult min(mlir::OpFoldResult a, mlir::OpFoldResult b);
  mlir::OpFoldResult max(mlir::OpFoldResult a, mlir::OpFoldResult b);
  /// The product of all sizes.
  mlir::OpFoldResult product(llvm::ArrayRef<mlir::OpFoldResult> sizes);

  /// True where both are equal whatever the symbols are.
  bool equal(mlir::OpFoldResult a, mlir::OpFoldResult b);
  /// `a / b` where that is exact whatever the symbols are, else a null result.
  mlir::OpFoldResult exactDiv(mlir::OpFoldResult a, mlir::OpFoldResult b);
  /// The least value that a size can have, from the symbols' ranges.
  std::optional<int64_t> lowerBound(mlir::OpFoldResult size);
  /// True where `a <= b` whatever the symbols are.
  bool knownLessEqual(mlir::OpFoldResult a, mlir::OpFoldResult b);

private:
  /// Sorted atoms of one product.
  using Monomial = std::vector<unsigned>;
  /// The factor of each product; no factor is zero.
  using Poly = std::map<Monomial, int64_t>;

  Poly toPoly(mlir::OpFoldResult size);
  mlir::OpFoldResult fromPoly(const Poly &poly);
  unsigned atom(mlir::Value value);
  static void accumulate(Poly &into, const Poly &from, int64_t factor);
  static Poly multiply(const Poly &a, const Poly &b);
  static std::optional<Poly> divide(const Poly &a, const Poly &b);
  static std::optional<int64_t> asConstant(const Poly &poly);
  std::optional<int64_t> lowerBound(const Poly &poly);
  std::pair<std::optional<int64_t>, std::optional<int64_t>>
  rangeOfAtom(unsigned id);
  /// The one value of `a op b` for an operation that is no polynomial.
  template <typename OpTy> mlir::OpFoldResult opaque(Poly a, Poly b);

  mlir::OpBuilder &builder;
  std::optional<mlir::Location> loc;
  llvm::SmallVector<mlir::Value> atoms;
  llvm::DenseMap<mlir::Value, unsigned> atomIds;
  std::map<Poly, mlir::Value> values;
  std::map<std::tuple<std::string, Poly, Poly>, mlir::Value> opaques;
  mlir::Location location();
};

} // namespace fp8c::import

#endif // FP8C_IMPORT_SIZEARITH_H
