//===- OpTable.h - The operators that import reads --------------*- C++ -*-===//
//
// Part of fp8c, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

//
// One entry an operator: its schema as PyTorch states it, its family, and how
// it becomes graph level. The families register their entries from
// lib/Import/Ops; the support matrix of the docs is printed from here.
//
//===----------------------------------------------------------------------===//

#ifndef FP8C_IMPORT_OPTABLE_H
#define FP8C_IMPORT_OPTABLE_H

#include "mlir/IR/OpDefinition.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/Support/raw_ostream.h"

#include <string>
#include <vector>

namespace fp8c::import {

class ImportContext;

/// A result of a converter: a tensor value, an i1 or f32/f64 scalar value of
/// sizes, or an index (value or attribute).
using Result = mlir::OpFoldResult;

/// Converts one node; results in the order of the node's outputs, lists
/// flattened. Arguments have been bound to the schema and their kinds checked.
using Converter =
    mlir::FailureOr<llvm::SmallVector<Result>> (*)(ImportContext &);

/// For a view: `base` with `written` in the place of what the view shows. Sees
/// the same arguments as the converter; `getViewIndex` says which result of
/// chunk or unbind was written.
using Scatter = mlir::FailureOr<mlir::Value> (*)(ImportContext &,
                                                 mlir::Value base,
                                                 mlir::Value written);

/// How an operator treats its first tensor argument.
enum class OpKind {
  /// Makes new values.
  Functional,
  /// Shows its first argument's memory in another shape.
  View,
  /// A view where dtype and strides permit, else a copy (reshape, contiguous,
  /// to): import looks at what the archive states of the result.
  MaybeView,
  /// Writes its first argument: the converter gives the new value.
  InPlace
};

/// One parameter of an operator's schema.
struct Parameter {
  enum class Type {
    Tensor,
    OptionalTensor,
    Tensors,
    OptionalTensors,
    Int,
    Ints,
    Size,
    Sizes,
    Scalar,
    Scalars,
    Float,
    Floats,
    Bool,
    Bools,
    String,
    DType,
    /// Device, layout, memory format, generator: accepted and not looked at.
    Ignored
  };
  std::string name;
  Type type;
  /// True for `T?`.
  bool optional = false;
  /// The default's text, or empty where the parameter is required.
  std::string defaultValue;
};

struct OpEntry {
  std::string name;
  std::string family;
  OpKind kind;
  std::vector<Parameter> parameters;
  Converter convert;
  /// Null for views that cannot be written (expand).
  Scatter scatter;
};

/// All operators that import reads, by name ("aten.add.Tensor").
class OpTable {
public:
  /// The table with every family.
  static const OpTable &get();

  /// Adds an operator. `schema` is its parameter list as PyTorch prints it,
  /// e.g. "Tensor self, Scalar other, *, Scalar alpha=1".
  void add(llvm::StringRef family, llvm::StringRef name, llvm::StringRef schema,
           Converter convert, OpKind kind = OpKind::Functional,
           Scatter scatter = nullptr);

  /// The entry of an operator, or null.
  const OpEntry *lookup(llvm::StringRef name) const;

  /// All entries by their names, in no order.
  const llvm::StringMap<OpEntry> &getEntries() const { return entries; }

  /// Writes the support matrix of the docs, in markdown.
  void print(llvm::raw_ostream &os) const;

private:
  llvm::StringMap<OpEntry> entries;
};

} // namespace fp8c::import

#endif // FP8C_IMPORT_OPTABLE_H
