//===- SchemaReader.h - Reading the schema's unions -------------*- C++ -*-===//
//
// Part of fp8c, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef FP8C_LIB_IMPORT_SCHEMAREADER_H
#define FP8C_LIB_IMPORT_SCHEMAREADER_H

#include "fp8c/Import/Schema.h"

#include "llvm/Support/JSON.h"

namespace fp8c::import {

/// The one member of a tagged union; null, and an error, where it is none.
const llvm::json::Object::value_type *unionMember(const llvm::json::Value &json,
                                                  llvm::json::Path path);

/// The name in `{"name": ...}`.
bool readName(const llvm::json::Value &json, std::string &out,
              llvm::json::Path path);

/// Reads a size, or a name or number in an argument.
bool fromJSON(const llvm::json::Value &json, SymInt &out,
              llvm::json::Path path);
bool fromJSON(const llvm::json::Value &json, TensorMeta &out,
              llvm::json::Path path);
bool fromJSON(const llvm::json::Value &json, Argument &out,
              llvm::json::Path path);
bool fromJSON(const llvm::json::Value &json, Node &out, llvm::json::Path path);

/// Reads a graph, the program's or a node's argument.
bool readGraph(const llvm::json::Value &json, Graph &out,
               llvm::json::Path path);

/// Puts the nodes of graphs that only run without gradients in place of the
/// nodes that call them.
llvm::Error inlineGraphs(Graph &graph);

} // namespace fp8c::import

#endif // FP8C_LIB_IMPORT_SCHEMAREADER_H
