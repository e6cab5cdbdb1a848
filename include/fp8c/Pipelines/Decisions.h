//===- Decisions.h - What the compiler decided, and why ---------*- C++ -*-===//
//
// Part of fp8c, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef FP8C_PIPELINES_DECISIONS_H
#define FP8C_PIPELINES_DECISIONS_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"

#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace mlir {
class MLIRContext;
} // namespace mlir

namespace fp8c {

/// One decision: an MLIR remark of a pass.
struct Decision {
  enum class Kind { Passed, Missed, Failed, Analysis };
  Kind kind;
  /// The pass, what it decided about, the function.
  std::string pass, name, function;
  /// What was decided, and why; no reason where it is what was wanted.
  std::string message, reason;
  /// More of it: the node, what it is fused with.
  std::vector<std::pair<std::string, std::string>> facts;

  /// A fact; empty if there is none of that name.
  llvm::StringRef getFact(llvm::StringRef key) const;
};

/// Collects the remarks of the passes that run in a context.
class DecisionLog {
public:
  /// Becomes the context's remark engine.
  explicit DecisionLog(mlir::MLIRContext &context);
  ~DecisionLog();

  /// What was decided so far, function by function, in the order of each.
  std::vector<Decision> get() const;

private:
  struct Records;
  std::shared_ptr<Records> records;
};

} // namespace fp8c

#endif // FP8C_PIPELINES_DECISIONS_H
