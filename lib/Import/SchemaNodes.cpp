//===- SchemaNodes.cpp - Nodes with their source positions ----------------===//
//
// Part of fp8c, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "SchemaReader.h"

using namespace llvm;
using namespace fp8c::import;
using json::ObjectMapper;
using json::Path;

/// The model's own line: of the frames `File "f", line n, in g`, the innermost
/// one outside of PyTorch.
static void readStackTrace(StringRef trace, Node &node) {
  SmallVector<StringRef> lines;
  trace.split(lines, '\n');
  for (StringRef text : lines) {
    text = text.trim();
    if (!text.consume_front("File \""))
      continue;
    auto [file, rest] = text.split("\", line ");
    unsigned line = 0;
    if (rest.split(',').first.getAsInteger(10, line) ||
        file.contains("/site-packages/torch/") || file.starts_with("torch/"))
      continue;
    node.file = file.str();
    node.line = line;
  }
}

/// The path of the innermost module: the entries of `key,path,class` are
/// separated by `;`, and both key and path may hold the same commas.
static void readModuleStack(StringRef stack, Node &node) {
  if (stack.empty() || stack.contains("_empty_nn_module_stack"))
    return;
  StringRef last = stack.rsplit(';').second;
  if (last.empty())
    last = stack;
  StringRef keyAndPath = last.rsplit(',').first;
  size_t commas = keyAndPath.count(',');
  if (commas % 2 == 0)
    return;
  size_t at = 0;
  for (size_t i = 0; i <= commas / 2; ++i)
    at = keyAndPath.find(',', at) + 1;
  node.modulePath = keyAndPath.drop_front(at).str();
}

namespace fp8c::import {

static bool fromJSON(const json::Value &json, NamedArgument &out, Path path) {
  ObjectMapper mapper(json, path);
  int64_t kind = 0;
  if (!mapper || !mapper.map("name", out.name) || !mapper.map("arg", out.value))
    return false;
  if (const json::Value *given = json.getAsObject()->get("kind"))
    kind = given->getAsInteger().value_or(0);
  out.keyword = kind == 2;
  return true;
}

bool fromJSON(const json::Value &json, Node &out, Path path) {
  ObjectMapper mapper(json, path);
  if (!mapper || !mapper.map("target", out.target) ||
      !mapper.map("inputs", out.inputs) || !mapper.map("outputs", out.outputs))
    return false;
  StringRef target = out.target;
  if (target.consume_front("torch.ops."))
    out.target = target.str();
  const json::Object &object = *json.getAsObject();
  if (std::optional<StringRef> name = object.getString("name"))
    out.name = name->str();
  if (const json::Object *metadata = object.getObject("metadata")) {
    readStackTrace(metadata->getString("stack_trace").value_or(""), out);
    readModuleStack(metadata->getString("nn_module_stack").value_or(""), out);
  }
  return true;
}

} // namespace fp8c::import
