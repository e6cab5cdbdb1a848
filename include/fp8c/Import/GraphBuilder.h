//===- GraphBuilder.h - Builds graph-level tensors --------------*- C++ -*-===//
//
// Part of fp8c, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The graph level's building blocks with PyTorch's shape rules: broadcasting
// elementwise operations, reductions, views, gathers. Knows nothing of archives
// and of aten.
//
//===----------------------------------------------------------------------===//

#ifndef FP8C_IMPORT_GRAPHBUILDER_H
#define FP8C_IMPORT_GRAPHBUILDER_H

#include "fp8c/Import/Scalars.h"
#include "fp8c/Import/SizeArith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/STLFunctionalExtras.h"

namespace fp8c::import {

/// The type of a tensor value.
inline mlir::RankedTensorType typeOf(mlir::Value tensor) {
  return llvm::cast<mlir::RankedTensorType>(tensor.getType());
}
/// The element type of a tensor value.
inline mlir::Type elementOf(mlir::Value tensor) {
  return typeOf(tensor).getElementType();
}
/// The rank of a tensor value.
inline int64_t rankOf(mlir::Value tensor) { return typeOf(tensor).getRank(); }

/// Builds tensors at the end of one block and knows their sizes.
class GraphBuilder {
public:
  /// Scalars in, one scalar out.
  using Body = llvm::function_ref<mlir::Value(Scalars &, mlir::ValueRange)>;

  explicit GraphBuilder(mlir::OpBuilder &builder)
      : arith(builder), builder(builder), loc(builder.getUnknownLoc()) {}

  /// Sets the location of all that is made from here on.
  void setLoc(mlir::Location newLoc) {
    loc = newLoc;
    arith.setLoc(newLoc);
  }
  mlir::Location getLoc() const { return loc; }

  /// Says that what was asked for is no tensor operation (an archive may state
  /// anything): an error where the builder is, the first time. What is built
  /// goes on with some value, so callers ask `isBroken` once at the end.
  void fail(const llvm::Twine &message);
  /// True after an error, or where sizes have overflown (then it is one).
  bool isBroken();
  mlir::OpBuilder &getBuilder() { return builder; }
  /// Arithmetic on sizes.
  SizeArith arith;

  //===--------------------------------------------------------------------===//
  // Sizes
  //===--------------------------------------------------------------------===//

  /// Says what the sizes of a value are (arguments and globals; what this
  /// builder makes it knows).
  void setSizes(mlir::Value tensor, Sizes sizes);
  /// The sizes of a tensor.
  Sizes sizes(mlir::Value tensor);
  /// One size; negative dims count from the end.
  mlir::OpFoldResult size(mlir::Value tensor, int64_t dim);
  /// A dim in [0, rank), where it may count from the end.
  static int64_t wrapDim(int64_t dim, int64_t rank) {
    return dim < 0 ? dim + (rank ? rank : 1) : dim;
  }
  /// The tensor type with these sizes.
  mlir::RankedTensorType getType(llvm::ArrayRef<mlir::OpFoldResult> sizes,
                                 mlir::Type element);
  /// The sizes of all operands broadcast against each other.
  Sizes broadcastSizes(llvm::ArrayRef<Sizes> all);
  /// The sizes with a -1 (a constant) inferred from the number of elements.
  Sizes inferSizes(llvm::ArrayRef<mlir::OpFoldResult> requested,
                   mlir::OpFoldResult elements);

  //===--------------------------------------------------------------------===//
  // Computation
  //===--------------------------------------------------------------------===//

  /// One linalg.generic over the broadcast sizes of the inputs. `minimum` sizes
  /// take part in the broadcast.
  mlir::Value elementwise(mlir::ValueRange inputs, mlir::Type element,
                          Body body,
                          llvm::ArrayRef<mlir::OpFoldResult> minimum = {});
  /// The tensor converted to another element type.
  mlir::Value convert(mlir::Value tensor, mlir::Type element,
                      bool isUnsigned = false,
                      std::optional<fp8::Overflow> overflow = std::nullopt);
  /// Reduces over dims: converts each element to the type of `init`, applies
  /// `map` to it (may be null) and combines it with the accumulator.
  mlir::Value reduce(mlir::Value tensor, llvm::ArrayRef<int64_t> dims,
                     bool keepDim, mlir::TypedAttr init, Body map,
                     Body combine);
  /// The sum in the type of accumulation (f32, f64 or i64 by element type).
  mlir::Value sum(mlir::Value tensor, llvm::ArrayRef<int64_t> dims,
                  bool keepDim, Body map = nullptr);
  /// The maximum, NaN-propagating; `map` is applied before. Float results have
  /// `element` as their type.
  mlir::Value amax(mlir::Value tensor, llvm::ArrayRef<int64_t> dims,
                   bool keepDim, mlir::Type accumulator);
  /// A tensor of one number.
  mlir::Value full(llvm::ArrayRef<mlir::OpFoldResult> sizes,
                   mlir::TypedAttr value);
  /// The number of elements that a reduction over dims combines, in a float or
  /// integer type, as a scalar value outside of bodies.
  mlir::Value elementCount(mlir::Value tensor, llvm::ArrayRef<int64_t> dims,
                           mlir::Type type);
  /// A tensor whose elements the body makes from the element's indices. The
  /// body may capture tensors (tensor.extract) and indices.
  mlir::Value generate(llvm::ArrayRef<mlir::OpFoldResult> sizes,
                       mlir::Type element, Body body);
  /// The same with tensors, each of whose dims i runs with dim `dims[i]` of the
  /// result (dims of size 1 repeat). The body gets their elements and then
  /// the indices.
  mlir::Value generate(llvm::ArrayRef<mlir::OpFoldResult> sizes,
                       mlir::Type element, mlir::ValueRange inputs,
                       llvm::ArrayRef<llvm::SmallVector<int64_t>> dims,
                       Body body);
  /// One element of a tensor inside of a body.
  static mlir::Value extract(Scalars &s, mlir::Value tensor,
                             mlir::ValueRange indices);

  //===--------------------------------------------------------------------===//
  // Views and movement
  //===--------------------------------------------------------------------===//

  mlir::Value reshape(mlir::Value tensor,
                      llvm::ArrayRef<mlir::OpFoldResult> newSizes);
  /// Merges dims [first, last].
  mlir::Value flatten(mlir::Value tensor, int64_t first, int64_t last);
  mlir::Value unsqueeze(mlir::Value tensor, int64_t dim);
  /// Drops those of the dims that have size 1.
  mlir::Value squeeze(mlir::Value tensor, llvm::ArrayRef<int64_t> dims);
  mlir::Value permute(mlir::Value tensor, llvm::ArrayRef<int64_t> permutation);
  mlir::Value transpose(mlir::Value tensor, int64_t a, int64_t b);
  /// `count` elements of a dim from `start` with a step. The caller has checked
  /// that all are in range.
  mlir::Value slice(mlir::Value tensor, int64_t dim, mlir::OpFoldResult start,
                    mlir::OpFoldResult count, int64_t step = 1);
  /// One index of a dim, in range; the dim goes.
  mlir::Value select(mlir::Value tensor, int64_t dim, mlir::OpFoldResult index);
  /// The tensor with `source` written over such a slice; the other dims are
  /// checked to be equal.
  mlir::Value insertSlice(mlir::Value tensor, mlir::Value source, int64_t dim,
                          mlir::OpFoldResult start, int64_t step = 1);
  /// Repeats dims of size 1 and adds dims in front; the tensor itself where
  /// nothing changes.
  mlir::Value expand(mlir::Value tensor,
                     llvm::ArrayRef<mlir::OpFoldResult> newSizes);
  mlir::Value concat(mlir::ValueRange tensors, int64_t dim);
  /// The same values under a type that says what `newSizes` say.
  mlir::Value refine(mlir::Value tensor,
                     llvm::ArrayRef<mlir::OpFoldResult> newSizes);
  /// A Python index counted from the start: those below 0 count from the end.
  mlir::OpFoldResult wrapIndex(mlir::OpFoldResult index,
                               mlir::OpFoldResult size);
  /// A condition on sizes that the call must meet, unless it is known to hold.
  void checkEqual(mlir::OpFoldResult a, mlir::OpFoldResult b,
                  const llvm::Twine &message);
  /// The same of `a <= b`; an error where that never holds.
  void checkLessEqual(mlir::OpFoldResult a, mlir::OpFoldResult b,
                      const llvm::Twine &message);

private:
  /// Fails unless the dim is one of `rank`.
  bool checkDim(int64_t dim, size_t rank);
  mlir::Value empty(llvm::ArrayRef<mlir::OpFoldResult> sizes,
                    mlir::Type element);
  mlir::Value remember(mlir::Value tensor, Sizes sizes);
  /// A parallel linalg.generic of a new tensor; `maps` are the inputs', `body`
  /// gets their elements.
  mlir::Value compute(llvm::ArrayRef<mlir::OpFoldResult> sizes,
                      mlir::Type element, mlir::ValueRange inputs,
                      llvm::SmallVector<mlir::AffineMap> maps, Body body);

  mlir::OpBuilder &builder;
  mlir::Location loc;
  bool broken = false;
  llvm::DenseMap<mlir::Value, Sizes> knownSizes;
  /// Pairs of sizes that a check compares already.
  llvm::DenseSet<std::pair<mlir::Value, mlir::Value>> checked;
  /// The same where a check orders them.
  llvm::DenseSet<std::pair<mlir::Value, mlir::Value>> ordered;
};

} // namespace fp8c::import

#endif // FP8C_IMPORT_GRAPHBUILDER_H
