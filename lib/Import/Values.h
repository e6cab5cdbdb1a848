//===- Values.h - The values of a graph being imported ----------*- C++ -*-===//
//
// Part of fp8c, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

//
// Makes a graph with in-place operators functional: each value knows its base
// and the views between; a write makes a new version of the base, and later
// reads through any view see it.
//
//===----------------------------------------------------------------------===//

#ifndef FP8C_LIB_IMPORT_VALUES_H
#define FP8C_LIB_IMPORT_VALUES_H

#include "fp8c/Import/OpTable.h"
#include "fp8c/Import/Schema.h"
#include "llvm/ADT/StringMap.h"

namespace fp8c::import {

/// One named value of the graph.
struct NamedValue {
  /// The value, as of `version`.
  Result value;
  /// Grows with each write.
  unsigned version = 0;
  /// What this is a view of, empty for a base.
  std::string parent;
  /// The parent's version that `value` was made from.
  unsigned seen = 0;
  /// The operator that makes the view, null for another name of the parent.
  const Node *node = nullptr;
  const OpEntry *entry = nullptr;
  /// Which of the node's outputs this is.
  unsigned output = 0;
  /// How many views lie between this and the base.
  unsigned depth = 0;
};

/// Converts a view's node again, for a new version of what it shows.
class ViewReplay {
public:
  virtual ~ViewReplay() = default;
  /// Output `output` of `node`, from the current values of its inputs.
  virtual mlir::FailureOr<Result> replay(const Node &node, const OpEntry &entry,
                                         unsigned output) = 0;
  /// `base` with `written` in the place that output `output` of the view `node`
  /// shows.
  virtual mlir::FailureOr<mlir::Value>
  scatter(const Node &node, const OpEntry &entry, unsigned output,
          mlir::Value base, mlir::Value written) = 0;
};

/// All named values.
class Values {
public:
  explicit Values(ViewReplay &replay) : replay(replay) {}

  void defineBase(llvm::StringRef name, Result value);
  /// How many views may lie between a value and its base; reads recurse.
  static constexpr unsigned kMaxDepth = 200;

  /// A view of `parent`, which is another value and defined.
  void defineView(llvm::StringRef name, Result value, llvm::StringRef parent,
                  const Node *node, const OpEntry *entry, unsigned output);
  bool contains(llvm::StringRef name) const { return values.contains(name); }

  /// The current value; a failed replay gives a null one.
  Result get(llvm::StringRef name);
  /// A new value for `name`, and for its base.
  mlir::LogicalResult write(llvm::StringRef name, mlir::Value value);
  /// The name of the base that a value shows.
  llvm::StringRef getBase(llvm::StringRef name) const;
  /// How many views lie between a value and its base.
  unsigned getDepth(llvm::StringRef name) const {
    return values.at(name).depth;
  }
  /// True if the base has been written.
  bool isWritten(llvm::StringRef base) const {
    return values.at(base).version > 0;
  }

private:
  ViewReplay &replay;
  llvm::StringMap<NamedValue> values;
};

} // namespace fp8c::import

#endif // FP8C_LIB_IMPORT_VALUES_H
