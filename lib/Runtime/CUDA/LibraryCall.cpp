//===- LibraryCall.cpp - A call of a library, again and again -------------===//
//
// Part of fp8c, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "LibraryCall.h"

#include "OwnKernels.h"

#include <algorithm>

using namespace fp8c::rt;
using namespace fp8c::rt::cuda;

/// Attributes of kernels that libraries set. Others are the stream's, or order
/// a kernel with what no recording has.
static constexpr LaunchAttributeId kKept[] = {
    kAccessPolicyWindow, kCooperative,          kClusterDims,
    kClusterScheduling,  kPreferredClusterDims, kSharedCarveout};

void LibraryCall::run(const void *const *addresses, size_t count,
                      const std::function<void(Stream)> &call) {
  if (!std::equal(known.begin(), known.end(), addresses, addresses + count)) {
    known.assign(addresses, addresses + count);
    isRecorded = false;
    steps.clear();
    graph.reset();
    // What is recorded comes again, whatever its addresses are.
    if (!queue.isRecorded())
      return call(queue.stream);
  }
  if (!isRecorded && disturbed < kMostDisturbed) {
    try {
      record(call);
      isRecorded = true;
    } catch (const Error &) {
      // The call itself says what is wrong, if it is not the recording.
      ++disturbed;
      steps.clear();
      graph.reset();
    }
  }
  if (steps.empty())
    return call(queue.stream);
  for (Step &step : steps)
    launch(step);
}

void LibraryCall::launch(Step &step) {
  const Driver &driver = queue.driver;
  if (step.function) {
    step.config.stream = queue.stream;
    step.config.numAttributes = unsigned(step.attributes.size()) -
                                unsigned(step.isDependent && !queue.followsOne);
    driver.check(driver.launchConfigured(&step.config, step.function,
                                         step.parameters, step.extra),
                 "cuLaunchKernelEx");
    return;
  }
  const MemsetNode &fill = step.fill;
  if (fill.elementSize == sizeof(uint32_t))
    driver.check(
        driver.set32Async(fill.target, fill.value, fill.width, queue.stream),
        "cuMemsetD32Async");
  else
    driver.check(driver.set8Async(fill.target, uint8_t(fill.value), fill.width,
                                  queue.stream),
                 "cuMemsetD8Async");
}

void LibraryCall::record(const std::function<void(Stream)> &call) {
  const Driver &driver = queue.driver;
  // The edge from a kernel before it says whether it may start early.
  Function before = queue.device.ownKernels().stall();
  {
    RecordedStream recorded(queue.device);
    uint64_t nanoseconds = 0;
    void *arguments[] = {&nanoseconds};
    driver.check(driver.launch(before, 1, 1, 1, 1, 1, 1, 0, recorded.stream(),
                               arguments, nullptr),
                 "cuLaunchKernel");
    call(recorded.stream());
    graph.emplace(recorded.end());
  }
  dropped = 0;
  size_t total = 0, count = 2;
  driver.check(driver.graphNodes(graph->handle, nullptr, &total),
               "cuGraphGetNodes");
  GraphNode nodes[2] = {};
  GraphEdge edges[2] = {};
  bool isChain =
      driver.graphRoots(graph->handle, nodes, &count) == 0 && count == 1;
  while (isChain) {
    count = 2;
    isChain = driver.graphNodeDependents(nodes[0], nodes, edges, &count) == 0 &&
              count == 1 && add(nodes[0], edges[0].type == kProgrammaticEdge);
  }
  if (steps.size() + dropped + 1 != total) {
    steps.clear();
    graph.reset();
    return;
  }
  for (Step &step : steps)
    step.config.attributes = step.attributes.data();
}

bool LibraryCall::add(GraphNode node, bool isDependent) {
  int type = -1;
  if (queue.driver.graphNodeType(node, &type) != 0)
    return false;
  return type == kKernelNode   ? addKernel(node, isDependent)
         : type == kMemsetNode ? addFill(node)
                               : false;
}

bool LibraryCall::addKernel(GraphNode node, bool isDependent) {
  const Driver &driver = queue.driver;
  KernelNode found{};
  if (driver.kernelNode(node, &found) != 0)
    return false;
  Step step;
  step.config = {
      found.gridX,  found.gridY,  found.gridZ, found.blockX, found.blockY,
      found.blockZ, found.shared, nullptr,     nullptr,      0};
  // The driver takes kernels of no context where it takes functions.
  step.function = found.function ? found.function
                                 : reinterpret_cast<Function>(found.kernel);
  step.parameters = found.parameters;
  step.extra = found.extra;
  for (LaunchAttributeId id : kKept) {
    LaunchAttribute attribute{id, 0, {}};
    // An older driver lacks some, and its libraries do not set them.
    if (driver.kernelNodeAttribute(node, id, attribute.value) != 0)
      continue;
    const bool isSet = id == kAccessPolicyWindow
                           ? attribute.value[2] != 0 || attribute.value[3] != 0
                           : std::any_of(std::begin(attribute.value),
                                         std::end(attribute.value),
                                         [](int part) { return part > 0; });
    if (isSet)
      step.attributes.push_back(attribute);
  }
  // Behind a fill that is dropped no edge says it.
  LaunchAttribute early{kProgrammaticSerialization, 0, {}};
  step.isDependent =
      isDependent ||
      (steps.empty() && dropped &&
       driver.kernelNodeAttribute(node, early.id, early.value) == 0 &&
       early.value[0] > 0);
  if (step.isDependent)
    step.attributes.push_back({kProgrammaticSerialization, 0, {1}});
  steps.push_back(std::move(step));
  return true;
}

bool LibraryCall::addFill(GraphNode node) {
  Step step;
  if (queue.driver.memsetNode(node, &step.fill) != 0 || step.fill.height != 1 ||
      (step.fill.elementSize != sizeof(uint32_t) && step.fill.elementSize != 1))
    return false;
  const MemsetNode &fill = step.fill;
  if (steps.empty() && fill.value == 0 &&
      queue.isCleared(fill.target, fill.width * fill.elementSize))
    ++dropped;
  else
    steps.push_back(std::move(step));
  return true;
}
