//===- InlineGraphs.cpp - Nodes that call a graph -------------------------===//
//
// Part of fp8c, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What a model computes under torch.no_grad() is a graph of its own in the
// archive, called by one node:
//
//   outputs = wrap_with_set_grad_enabled(enabled, graph, arguments...)
//
// Its names are its own. A value that the graph returns gets the name of the
// node's output, any other the node's name before its own.
//
//===----------------------------------------------------------------------===//

#include "SchemaReader.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringMap.h"

using namespace llvm;
using namespace fp8c::import;

static constexpr StringLiteral kCall =
    "higher_order.wrap_with_set_grad_enabled";

/// The one name that an argument gives a value, null where it gives none.
static const std::string *getName(const Argument &argument) {
  using Kind = Argument::Kind;
  switch (argument.kind) {
  case Kind::Tensor:
  case Kind::SymFloat:
  case Kind::SymBool:
    return &argument.names.front();
  case Kind::SymInt:
    return argument.ints.front().kind == SymInt::Kind::Name
               ? &argument.ints.front().text
               : nullptr;
  default:
    return nullptr;
  }
}

namespace {
/// Moves the nodes of one called graph into the caller.
class Inliner {
public:
  Inliner(Graph &caller, const Node &call, Graph &callee)
      : caller(caller), call(call), callee(callee) {}

  /// Appends the nodes to `nodes`.
  Error run(std::vector<Node> &nodes);

private:
  Error mapInputs(ArrayRef<NamedArgument> given);
  Error mapOutputs();
  void rename(std::string &name);
  void rename(SymInt &size);
  void rename(Argument &argument);
  Error error(const Twine &message) const {
    return createStringError("'" + call.name + "' of " + kCall + " " + message);
  }

  Graph &caller;
  const Node &call;
  Graph &callee;
  /// What stands for an input of the graph, and the names of its results.
  StringMap<const Argument *> inputs;
  StringMap<std::string> results;
  /// Results that the graph only passes on: the caller's name, the graph's.
  std::vector<std::pair<std::string, std::string>> passed;
};
} // namespace

Error Inliner::mapInputs(ArrayRef<NamedArgument> given) {
  if (given.size() != callee.inputs.size())
    return error("must give each input of its graph, expected " +
                 Twine(callee.inputs.size()) + ", got " + Twine(given.size()));
  for (auto [input, argument] : llvm::zip(callee.inputs, given)) {
    const std::string *name = getName(input);
    if (!name)
      continue;
    bool isSize = input.kind == Argument::Kind::SymInt &&
                  argument.value.kind == Argument::Kind::Int;
    if (!isSize && argument.value.kind != input.kind)
      return error("gives '" + *name + "' of its graph another kind of value");
    inputs[*name] = &argument.value;
  }
  return Error::success();
}

Error Inliner::mapOutputs() {
  if (call.outputs.size() != callee.outputs.size())
    return error("must have the outputs of its graph, expected " +
                 Twine(callee.outputs.size()) + ", got " +
                 Twine(call.outputs.size()));
  for (auto [inner, outer] : llvm::zip(callee.outputs, call.outputs)) {
    const std::string *from = getName(inner), *to = getName(outer);
    if (!from || !to)
      continue;
    if (inner.kind != outer.kind)
      return error("has '" + *to + "' of another kind than in its graph");
    if (!inputs.contains(*from) && results.try_emplace(*from, *to).second)
      continue;
    if (inner.kind != Argument::Kind::Tensor)
      return error("returns '" + *from +
                   "' twice or unchanged, which only "
                   "tensors may be");
    passed.emplace_back(*to, *from);
  }
  return Error::success();
}

void Inliner::rename(std::string &name) {
  if (name.empty())
    return;
  if (auto it = inputs.find(name); it != inputs.end()) {
    if (const std::string *given = getName(*it->second))
      name = *given;
    return;
  }
  auto it = results.find(name);
  name = it != results.end() ? it->second : call.name + "." + name;
}

void Inliner::rename(SymInt &size) {
  if (size.kind != SymInt::Kind::Name)
    return;
  auto it = inputs.find(size.text);
  if (it != inputs.end() && !it->second->ints.empty())
    size = it->second->ints.front();
  else
    rename(size.text);
}

void Inliner::rename(Argument &argument) {
  using Kind = Argument::Kind;
  if (argument.kind == Kind::Tensor || argument.kind == Kind::Tensors ||
      argument.kind == Kind::OptionalTensors ||
      argument.kind == Kind::SymFloat || argument.kind == Kind::SymBool)
    for (std::string &name : argument.names)
      rename(name);
  for (SymInt &size : argument.ints)
    rename(size);
}

Error Inliner::run(std::vector<Node> &nodes) {
  if (Error error = mapInputs(ArrayRef(call.inputs).drop_front(2)))
    return error;
  if (Error error = mapOutputs())
    return error;
  for (Node &node : callee.nodes) {
    node.name = call.name + "." + node.name;
    for (NamedArgument &input : node.inputs)
      rename(input.value);
    for (Argument &output : node.outputs)
      rename(output);
    nodes.push_back(std::move(node));
  }
  for (auto &[to, from] : passed) {
    Argument self, output;
    self.kind = output.kind = Argument::Kind::Tensor;
    self.names = {from};
    output.names = {to};
    rename(self);
    Node alias;
    alias.name = to;
    alias.target = "aten.alias.default";
    alias.inputs.push_back({"self", false, std::move(self)});
    alias.outputs.push_back(std::move(output));
    nodes.push_back(std::move(alias));
  }
  // What the caller says of the values that it names itself stays.
  for (auto &[name, meta] : callee.tensors) {
    std::string renamed = name;
    rename(renamed);
    for (SymInt &size : meta.sizes)
      rename(size);
    for (SymInt &stride : meta.strides)
      rename(stride);
    rename(meta.offset);
    caller.tensors.try_emplace(std::move(renamed), std::move(meta));
  }
  using Symbols = std::map<std::string, SymInt> Graph::*;
  for (Symbols symbols : {&Graph::symInts, &Graph::symFloats, &Graph::symBools})
    for (auto &[name, value] : callee.*symbols) {
      std::string renamed = name;
      rename(renamed);
      rename(value);
      (caller.*symbols).try_emplace(std::move(renamed), std::move(value));
    }
  return Error::success();
}

Error fp8c::import::inlineGraphs(Graph &graph) {
  auto calls = [](const Node &node) {
    return node.target == kCall && node.inputs.size() >= 2 &&
           node.inputs[1].value.graph;
  };
  if (llvm::none_of(graph.nodes, calls))
    return Error::success();
  std::vector<Node> nodes;
  for (Node &node : graph.nodes) {
    if (!calls(node)) {
      nodes.push_back(std::move(node));
      continue;
    }
    Graph &callee = *node.inputs[1].value.graph;
    if (Error error = inlineGraphs(callee))
      return error;
    if (Error error = Inliner(graph, node, callee).run(nodes))
      return error;
  }
  graph.nodes = std::move(nodes);
  return Error::success();
}
