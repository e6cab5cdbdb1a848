//===- FakeGraphs.cpp - Recordings of the driver without a GPU ------------===//
//
// Part of fp8c, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "FakeState.h"

using namespace fp8c::test::fake;
using namespace fp8c::rt::cuda;

/// The nodes, as if each waited for the one before it.
static std::vector<Node> &get(Graph graph) {
  return *reinterpret_cast<std::vector<Node> *>(graph);
}
static std::vector<Node> &get(GraphExec graph) {
  return *reinterpret_cast<std::vector<Node> *>(graph);
}
static Node &get(GraphNode node) { return *reinterpret_cast<Node *>(node); }
static GraphNode handleOf(Node &node) {
  return reinterpret_cast<GraphNode>(&node);
}

namespace fp8c::rt::cuda {

Result fake_streamBeginCapture(Stream stream, int mode) {
  ENTER(Context);
  get(stream).capture = std::make_shared<Capture>(
      Capture{mode, std::this_thread::get_id(), false, {}});
  return kOk;
}
Result fake_streamEndCapture(Stream stream, Graph *out) {
  ENTER(Driver);
  const std::shared_ptr<Capture> capture = get(stream).capture;
  for (auto &other : state().streams)
    if (other->capture == capture)
      other->capture.reset();
  if (capture->isInvalid)
    return kCaptureInvalidated;
  // A node marks the end: pointers to nodes can be moved on by one.
  capture->nodes.emplace_back();
  auto &made = state().graphs.emplace_back(
      new std::vector<Node>(std::move(capture->nodes)));
  *out = reinterpret_cast<Graph>(made.get());
  return kOk;
}
Result fake_graphDestroy(Graph graph) {
  ENTER(Freedom);
  take(state().graphs, graph);
  return kOk;
}
Result fake_graphInstantiate(GraphExec *out, Graph graph, uint64_t) {
  ENTER(Freedom);
  auto &made = state().graphs.emplace_back(new std::vector<Node>(get(graph)));
  *out = reinterpret_cast<GraphExec>(made.get());
  return kOk;
}
Result fake_graphExecDestroy(GraphExec graph) {
  ENTER(Freedom);
  take(state().graphs, graph);
  return kOk;
}
Result fake_graphLaunch(GraphExec graph, Stream stream) {
  for (size_t i = 0; i + 1 < get(graph).size(); ++i)
    if (Result result = put(stream, get(graph)[i]))
      return result;
  return kOk;
}

Result fake_graphNodes(Graph graph, GraphNode *, size_t *count) {
  *count = get(graph).size() - 1;
  return kOk;
}
Result fake_graphRoots(Graph graph, GraphNode *nodes, size_t *count) {
  *count = std::min<size_t>(get(graph).size() - 1, 1);
  nodes[0] = handleOf(get(graph).front());
  return kOk;
}
Result fake_graphNodeDependents(GraphNode node, GraphNode *nodes, GraphEdge *,
                                size_t *count) {
  Node &next = (&get(node))[1];
  *count = next.work ? 1 : 0;
  nodes[0] = handleOf(next);
  return kOk;
}
Result fake_graphNodeType(GraphNode node, int *out) {
  *out = get(node).type;
  return kOk;
}
Result fake_kernelNode(GraphNode node, KernelNode *out) {
  *out = {};
  out->function = get(node).function;
  return kOk;
}
Result fake_memsetNode(GraphNode node, MemsetNode *out) {
  *out = get(node).fill;
  return kOk;
}

} // namespace fp8c::rt::cuda
