//===- SymbolicShape.h - Sizes as interned expressions ----------*- C++ -*-===//
//
// Part of fp8c, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Every size of a model is an integer expression over its symbols. This
// analysis maps index values and dims of tensors to such expressions, so that
// passes can ask whether two sizes are equal, and in which range one is.
//
// An expression is a polynomial over atoms: symbols, `floordiv`, `min` and
// `max` of expressions, and values of which nothing is known. It is normalised
// and interned: equal pointers are equal sizes, `s0*s1` is `s1*s0` and
// `(s0*s1*64) floordiv 64` is `s0*s1`. `ceildiv` and `mod` are rewritten to
// `floordiv`. Different pointers may still be equal sizes.
//
//===----------------------------------------------------------------------===//

#ifndef FP8C_ANALYSIS_SYMBOLICSHAPE_H
#define FP8C_ANALYSIS_SYMBOLICSHAPE_H

#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Value.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/ADT/StringMap.h"

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace fp8c {

namespace fp8 {
class SymbolOp;
} // namespace fp8

/// One term of a polynomial: a coefficient times a product of atoms (ids in
/// ascending order, repeated for powers).
struct SizeTerm {
  std::vector<unsigned> atoms;
  int64_t factor;
  bool operator<(const SizeTerm &other) const;
};

/// A normalised polynomial: terms in descending order, none with factor 0.
/// Owned and interned by `SymbolicShape`.
struct SizeExprNode {
  std::vector<SizeTerm> terms;
};

/// An interned size. Equal pointers are equal sizes.
using SizeExpr = const SizeExprNode *;

/// Values that sizes have already been given.
using SizeValues = llvm::DenseMap<SizeExpr, mlir::Value>;

/// Sizes of one function (or of a kernel's body) as expressions. Values that
/// were asked for must not be erased while the analysis is used, except that a
/// pass may erase them and never ask again (`forget` drops one).
class SymbolicShape {
public:
  /// Knows the symbols whose values it is asked for.
  SymbolicShape() = default;
  /// Collects the symbols under `root`, a module or a function.
  explicit SymbolicShape(mlir::Operation *root);

  /// The expression of an index value (or of an integer that is cast from or to
  /// one).
  SizeExpr get(mlir::Value index);
  /// The same of a value or an attribute.
  SizeExpr get(mlir::OpFoldResult index);
  /// The size of dim `dim` of a tensor. Resolved through what made the tensor;
  /// block arguments of a kernel are its captures.
  SizeExpr getDim(mlir::Value tensor, unsigned dim);
  /// The sizes of all dims of a tensor.
  llvm::SmallVector<SizeExpr> getDims(mlir::Value tensor);
  /// The product of all dims.
  SizeExpr getNumElements(mlir::Value tensor);
  /// Parses `s0*16`, `(s0 + 1)//2 % 4`, `min(s0, 4)`: the entries of an
  /// argument's `fp8.dims`. Null if it is no such text.
  SizeExpr parse(llvm::StringRef text);

  /// True after a sum or product with a number beyond 64 bits or with too many
  /// terms: what was made since then means nothing.
  bool isBroken() const { return broken; }

  SizeExpr constant(int64_t value);
  SizeExpr symbol(llvm::StringRef name);
  SizeExpr add(SizeExpr a, SizeExpr b);
  SizeExpr sub(SizeExpr a, SizeExpr b);
  SizeExpr mul(SizeExpr a, SizeExpr b);
  SizeExpr floorDiv(SizeExpr a, SizeExpr b);
  SizeExpr ceilDiv(SizeExpr a, SizeExpr b);
  /// `a / b` where that is exact whatever the symbols are, else null.
  SizeExpr exactDiv(SizeExpr a, SizeExpr b);
  SizeExpr mod(SizeExpr a, SizeExpr b);
  SizeExpr min(SizeExpr a, SizeExpr b);
  SizeExpr max(SizeExpr a, SizeExpr b);
  SizeExpr product(llvm::ArrayRef<SizeExpr> factors);

  /// The value of a constant expression.
  static std::optional<int64_t> getConstant(SizeExpr expr);
  /// True if `expr` is the constant `value`.
  static bool isConstant(SizeExpr expr, int64_t value);
  /// True if the sizes are equal whatever the symbols are.
  static bool isEqual(SizeExpr a, SizeExpr b) { return a == b; }
  /// Lower and upper bound, none where unknown.
  struct Range {
    std::optional<int64_t> lower, upper;
  };
  /// The range of `a - b`; unknown where 64 bits do not hold the difference.
  Range getDifferenceRange(SizeExpr a, SizeExpr b);
  /// A number that the expression is never below; none if unknown.
  std::optional<int64_t> getLowerBound(SizeExpr expr);
  /// A number that the expression is never above; none if unknown.
  std::optional<int64_t> getUpperBound(SizeExpr expr);
  /// True if `factor` divides the expression whatever the symbols are.
  bool isMultipleOf(SizeExpr expr, int64_t factor);

  /// The expression's number where `lookup` gives the symbols' numbers; none
  /// where it depends on something else, or does not fit.
  std::optional<int64_t> evaluate(
      SizeExpr expr,
      llvm::function_ref<std::optional<int64_t>(llvm::StringRef)> lookup) const;

  /// The expression as text: `64*s0*s1`.
  std::string str(SizeExpr expr) const;

  /// An index value of the expression at the insertion point: constants and
  /// arith ops over the function's `fp8.symbol`s, which are used where they are
  /// (at the entry). With `known`, values that are there are used again and
  /// new ones are added.
  mlir::Value materialize(mlir::OpBuilder &builder, mlir::Location loc,
                          SizeExpr expr, SizeValues *known = nullptr);
  /// The same, static sizes as attributes.
  mlir::OpFoldResult materializeFold(mlir::OpBuilder &builder,
                                     mlir::Location loc, SizeExpr expr);

  /// Forgets what is known of a value, before it is erased.
  void forget(mlir::Value value);

private:
  /// What a polynomial is made of.
  struct Atom {
    enum class Kind { Symbol, Value, Dim, FloorDiv, Min, Max };
    Kind kind;
    std::string name;  // Symbol
    mlir::Value value; // Value, Dim: the tensor
    unsigned dim = 0;  // Dim
    SizeExpr lhs = nullptr;
    SizeExpr rhs = nullptr;
  };
  /// What is known of a symbol.
  struct SymbolInfo {
    mlir::Value value;
    int64_t min = 0;
    std::optional<int64_t> max;
    int64_t multiple = 1;
  };

  SizeExpr intern(std::vector<SizeTerm> terms);
  /// Runs what may overflow without harm; false where it did.
  bool attempt(llvm::function_ref<void()> compute);
  SizeExpr atomExpr(unsigned atom);
  unsigned getAtom(Atom atom);
  /// The least (kind Min) or greatest (Max) of two.
  SizeExpr extreme(Atom::Kind kind, SizeExpr a, SizeExpr b);
  SizeExpr compute(mlir::Value index);
  SizeExpr computeDim(mlir::Value tensor, unsigned dim);
  SizeExpr opaqueDim(mlir::Value tensor, unsigned dim);
  void addSymbol(fp8::SymbolOp op);
  Range getRange(SizeExpr expr);
  Range getAtomRange(unsigned atom);
  Range computeAtomRange(unsigned atom);
  mlir::Value materializeAtom(mlir::OpBuilder &builder, mlir::Location loc,
                              unsigned atom, SizeValues *known);

  std::map<std::vector<SizeTerm>, std::unique_ptr<SizeExprNode>> interned;
  std::vector<Atom> atoms;
  /// What getAtomRange found.
  std::vector<std::optional<Range>> ranges;
  bool broken = false;
  /// How many values lie between the one asked for and the one looked at.
  unsigned depth = 0;
  std::map<std::vector<uint64_t>, unsigned> atomIds;
  llvm::StringMap<unsigned> symbolIds;
  llvm::StringMap<SymbolInfo> symbols;
  llvm::DenseMap<mlir::Value, SizeExpr> values;
  llvm::DenseMap<std::pair<mlir::Value, unsigned>, SizeExpr> dims;
};

/// The argument attribute that holds the sizes of an input: integers, names of
/// symbols or expressions of them.
inline constexpr llvm::StringLiteral kDimsAttr = "fp8.dims";

} // namespace fp8c

#endif // FP8C_ANALYSIS_SYMBOLICSHAPE_H
