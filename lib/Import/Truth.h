//===- Truth.h - Conditions on sizes ----------------------------*- C++ -*-===//
//
// Part of fp8c, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef FP8C_LIB_IMPORT_TRUTH_H
#define FP8C_LIB_IMPORT_TRUTH_H

#include "fp8c/Import/GraphBuilder.h"
#include "mlir/Dialect/Arith/IR/Arith.h"

namespace fp8c::import {

/// A condition: known, or an i1 value.
struct Truth {
  std::optional<bool> known = true;
  mlir::Value value;
};

/// Builds conditions; what is known builds nothing.
class Logic {
public:
  explicit Logic(GraphBuilder &graph) : graph(graph) {}

  mlir::Value value(const Truth &truth);
  Truth both(const Truth &a, const Truth &b);
  Truth either(const Truth &a, const Truth &b);
  Truth negate(const Truth &a);
  /// Compares two sizes; known where their ranges decide.
  Truth compare(mlir::arith::CmpIPredicate predicate, mlir::OpFoldResult a,
                mlir::OpFoldResult b);

private:
  GraphBuilder &graph;
};

} // namespace fp8c::import

#endif // FP8C_LIB_IMPORT_TRUTH_H
