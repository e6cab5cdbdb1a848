//===- Report.h - What became of a model, and why ---------------*- C++ -*-===//
//
// Part of fp8c, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The report is a JSON object:
//
//   "version"    1
//   "symbols"    name, min, max, multiple, hint: the size at export
//   "sizes"      the sizes that every "value" is for: a symbol's hint, else its
//                least size
//   "casts"      a row a cast to f8 or amax: node, function, "fused" or not,
//                what it reads, the reason where it is not
//   "counts"     casts and amaxs, fused and left
//   "kernels"    a row a launch: its entry, the nodes that it computes, bytes
//                read and written
//   "products"   a row a product: node, m, n, k, types, back end and its reason
//   "attention"  the same for attention
//   "traffic"    bytes moved by a call of @forward, each node of the exported
//                graph a launch of its own ("before"), and by the plan's
//                commands ("after")
//   "state"      a row a buffer that carries over to the next call
//   "memory"     weights, state, inputs, outputs; buffers: all of them, and the
//                most that is live at once
//   "decisions"  every remark: pass, name, kind, function, message, reason
//
// A number of bytes is an object: "expr" over the symbols and its "value".
//
//===----------------------------------------------------------------------===//

#ifndef FP8C_PIPELINES_REPORT_H
#define FP8C_PIPELINES_REPORT_H

#include "fp8c/Pipelines/Decisions.h"
#include "mlir/IR/BuiltinOps.h"
#include "llvm/Support/JSON.h"

namespace fp8c {

/// The traffic of the graph as imported: "before". Every node of the exported
/// graph reads and writes its tensors once; views are free.
llvm::json::Object describeGraph(mlir::ModuleOp graph);

/// The report of a module at the level of the plan, for the first target.
llvm::json::Object makeReport(mlir::ModuleOp plan,
                              llvm::ArrayRef<Decision> decisions,
                              llvm::json::Object before);

/// Whether any product at the level of kernels has an f8 operand: one is
/// scaled, or decodes its weight.
bool hasF8Product(mlir::ModuleOp kernels);

enum class ReportFormat { Text, Json, Html };

/// The report for people (text, html) or programs.
std::string renderReport(const llvm::json::Object &report, ReportFormat format);

/// What --report[=text|json|html][:FILE] asks for.
struct ReportRequest {
  ReportFormat format = ReportFormat::Text;
  /// "-" for stdout.
  std::string file = "-";

  /// Reads the option's value; the error names the option and the rule.
  static llvm::Expected<ReportRequest> parse(llvm::StringRef text);
  /// Renders the report there.
  llvm::Error write(const llvm::json::Object &report) const;
};

} // namespace fp8c

#endif // FP8C_PIPELINES_REPORT_H
