//===- DimFactors.h - Dims as products of smaller dims ----------*- C++ -*-===//
//
// Part of fp8c, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef FP8C_LIB_TRANSFORMS_DIMFACTORS_H
#define FP8C_LIB_TRANSFORMS_DIMFACTORS_H

#include "fp8c/Analysis/SymbolicShape.h"

namespace fp8c {

/// Dims that are equal, or ordered products of other dims. Reshapes and loops
/// tie them; what is left unsplit, the *atoms*, spans the finest common
/// iteration space of all that is tied.
class DimFactors {
public:
  /// A dim of extent 1: it has no atoms.
  static constexpr int kUnit = -1;

  explicit DimFactors(SymbolicShape &shapes) : shapes(shapes) {}

  /// A new dim; `kUnit` for the size 1.
  int make(SizeExpr size);
  /// Forbids to split a dim. False if it is split already.
  bool forbidSplit(int dim);
  /// The atoms of a dim, outermost first.
  void getAtoms(int dim, llvm::SmallVectorImpl<int> &atoms);
  /// The size of an atom.
  SizeExpr getSize(int atom) { return dims[find(atom)].size; }
  /// Makes the products of two lists of dims the same dims. False, with
  /// everything still consistent, where no common refinement is known.
  bool tie(llvm::ArrayRef<int> left, llvm::ArrayRef<int> right);

private:
  struct Dim {
    int parent;
    SizeExpr size;
    bool canSplit = true;
    llvm::SmallVector<int, 2> parts;
  };

  int find(int dim);
  /// Splits `dim` into `first` and a rest, which is returned; `kUnit` if it
  /// cannot be.
  int split(int dim, int first);

  SymbolicShape &shapes;
  std::vector<Dim> dims;
};

} // namespace fp8c

#endif // FP8C_LIB_TRANSFORMS_DIMFACTORS_H
