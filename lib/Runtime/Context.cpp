//===- Context.cpp - Calls of an entry point ------------------------------===//
//
// Part of fp8c, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Context.h"

#include "MemoryPlanner.h"

#include <algorithm>
#include <cstring>

using namespace fp8c::rt;
using wire::ValueKind;

/// Shapes that stay prepared unless the caller says more.
static constexpr size_t kCachedShapes = 16;
/// Graphs of a shape: callers may take turns with as many sets of inputs and
/// outputs.
static constexpr size_t kGraphs = 8;

namespace {
/// A call on a queue, or a query.
struct QueueScope {
  QueueScope(Queue &queue, void *stream) : queue(queue) { queue.begin(stream); }
  explicit QueueScope(Queue &queue) : queue(queue) { queue.beginQuery(); }
  ~QueueScope() { queue.end(); }
  Queue &queue;
};
} // namespace

Context::Context(std::shared_ptr<Device> where, std::shared_ptr<Program> owner,
                 std::shared_ptr<State> shared,
                 const fp8rt_context_options_t &options)
    : device(std::move(where)), program(std::move(owner)),
      loaded(program->loadOn(*device)), state(std::move(shared)),
      entry(program->entry(options.entry)),
      // State is read and written from the host.
      queue(loaded->makeQueue({options.threads, options.lanes,
                               !program->states.empty(),
                               fp8rt_backends_t(options.backends)})),
      cachedShapes(options.cached_shapes ? size_t(options.cached_shapes)
                                         : kCachedShapes),
      graphs(device->dlpack().device_type == kDLCPU
                 ? FP8RT_GRAPHS_OFF
                 : fp8rt_graphs_t(options.graphs)),
      poisons(options.poison != 0) {
  const wire::Plan &plan = program->plan();
  std::vector<bool> seen(plan.values()->size());
  for (const wire::Step *step : *entry.wire->steps())
    forEachOperand(*step, [&](uint32_t value, bool) {
      uint32_t root = rootOf(plan, value);
      const wire::Value &v = *plan.values()->Get(root);
      if (seen[root] ||
          (v.kind() != ValueKind::Weight && v.kind() != ValueKind::State))
        return;
      seen[root] = true;
      storedRoots.push_back(root);
      if (v.kind() != ValueKind::Weight)
        return;
      const SignatureItem &weight = program->weights[v.index()];
      bool empty = std::count(weight.dims.begin(), weight.dims.end(), 0) != 0;
      require(empty || loaded->weightData(v.index()), FP8RT_INVALID_STATE,
              "weight \"", weight.name,
              "\" is not bound and not in the package");
    });
  size_t total = 0;
  for (const SignatureItem &input : entry.inputs)
    total += input.dims.size();
  dims.resize(total);
}

ShapeInstance &Context::instanceFor(const DLTensor *const *inputs,
                                    size_t numInputs, bool checkData) {
  require(numInputs == entry.inputs.size(), FP8RT_INVALID_ARGUMENT, "got ",
          numInputs, " inputs, expected ", entry.inputs.size());
  size_t next = 0;
  for (size_t i = 0; i < numInputs; ++i) {
    const SignatureItem &item = entry.inputs[i];
    require(inputs && inputs[i], FP8RT_INVALID_ARGUMENT, "input \"", item.name,
            "\" is missing");
    checkLayout(*inputs[i], item.dtype, item.dims.size(), "input",
                item.name.c_str(), checkData, device->dlpack());
    for (size_t d = 0; d < item.dims.size(); ++d)
      dims[next++] = inputs[i]->shape[d];
  }
  for (size_t i = 0; i < instances.size(); ++i)
    if (instances[i]->inputDims() == dims) {
      std::rotate(instances.begin(), instances.begin() + i,
                  instances.begin() + i + 1);
      return *instances.front();
    }
  auto instance =
      std::make_unique<ShapeInstance>(*program, entry, *queue, dims);
  bindStored(*instance);
  // Graphs hold addresses of the arena and of scratch memory.
  auto clearGraphs = [&] {
    for (auto &other : instances)
      other->graphs.clear();
  };
  // Memory first: when there is none, what is prepared runs as before. Tensors
  // without elements lie at the arena's start, so there always is some.
  const int64_t bytes = std::max(instance->arenaBytes(), kAlignment);
  if (bytes > arena.size()) {
    arena = DeviceMemory(device, bytes);
    clearGraphs();
  }
  if (queue->reserve(instance->scratchBytes()))
    clearGraphs();
  if (instances.size() >= cachedShapes)
    instances.pop_back();
  instances.insert(instances.begin(), std::move(instance));
  return *instances.front();
}

void Context::bindStored(ShapeInstance &instance) {
  const wire::Plan &plan = program->plan();
  for (uint32_t root : storedRoots) {
    const wire::Value &v = *plan.values()->Get(root);
    // Weights are never written: the plan was checked.
    char *data = v.kind() == ValueKind::State
                     ? state->data(v.index())
                     : const_cast<char *>(static_cast<const char *>(
                           loaded->weightData(v.index())));
    instance.setRoot(root, data);
  }
}

void Context::bindOutputs(ShapeInstance &instance,
                          const DLTensor *const *inputs,
                          DLTensor *const *outputs) {
  auto range = [](const DLTensor &t, int64_t bytes) {
    uintptr_t begin = reinterpret_cast<uintptr_t>(tensorData(t));
    return std::make_pair(begin, begin + uintptr_t(bytes));
  };
  for (size_t i = 0; i < entry.outputs.size(); ++i) {
    const wire::Output &output = *entry.wire->outputs()->Get(i);
    const SignatureItem &item = entry.outputs[i];
    if (output.kind() == wire::OutputKind::None)
      continue;
    bool tensor = output.kind() == wire::OutputKind::Tensor;
    if (!tensor && (!outputs || !outputs[i]))
      continue;
    require(outputs && outputs[i], FP8RT_INVALID_ARGUMENT, "output \"",
            item.name, "\" is missing");
    checkLayout(*outputs[i], item.dtype, item.dims.size(), "output",
                item.name.c_str(), true,
                tensor ? device->dlpack() : DLDevice{kDLCPU, 0});
    if (!tensor)
      continue;
    const Tensor &t = instance.tensor(output.value());
    for (uint32_t d = 0; d < t.rank; ++d)
      if (outputs[i]->shape[d] != t.dims[d])
        fail(FP8RT_MISMATCH, "output \"", item.name, "\": dim ", d, ": got ",
             outputs[i]->shape[d], ", expected ", t.dims[d]);
    instance.setRoot(output.value(), tensorData(*outputs[i]));
    // Neither inputs nor earlier outputs may lie under it.
    int64_t bytes = t.elements * elementSize(t.dtype);
    auto mine = range(*outputs[i], bytes);
    auto check = [&](const DLTensor &other, const Tensor &o, const char *role,
                     const std::string &name) {
      auto its = range(other, o.elements * elementSize(o.dtype));
      if (bytes && o.elements && mine.first < its.second &&
          its.first < mine.second)
        fail(FP8RT_MISMATCH, "output \"", item.name, "\" overlaps ", role,
             " \"", name, "\"");
    };
    for (size_t j = 0; j < entry.inputs.size(); ++j)
      check(*inputs[j], instance.tensor(entry.wire->inputs()->Get(j)->value()),
            "input", entry.inputs[j].name);
    for (size_t j = 0; j < i; ++j)
      if (entry.outputs[j].kind == FP8RT_TENSOR)
        check(*outputs[j],
              instance.tensor(entry.wire->outputs()->Get(j)->value()), "output",
              entry.outputs[j].name);
  }
}

void Context::queryOutputs(const DLTensor *const *inputs, size_t numInputs,
                           fp8rt_output_t *outputs, size_t numOutputs) {
  std::lock_guard<std::mutex> lock(mutex);
  QueueScope scope(*queue);
  require(numOutputs == entry.outputs.size(), FP8RT_INVALID_ARGUMENT, "got ",
          numOutputs, " outputs, expected ", entry.outputs.size());
  ShapeInstance &instance = instanceFor(inputs, numInputs, false);
  for (size_t i = 0; i < numOutputs; ++i) {
    fp8rt_output_t &out = outputs[i];
    require(out.struct_size >= sizeof(fp8rt_output_t), FP8RT_INVALID_ARGUMENT,
            "output ", i, ": struct_size is ", out.struct_size, ", expected ",
            sizeof(fp8rt_output_t));
    out.kind = entry.outputs[i].kind;
    out.dtype = toDLPack(entry.outputs[i].dtype);
    out.ndim = 0;
    out.dims = nullptr;
    out.integer = instance.integer(i);
    if (out.kind != FP8RT_TENSOR)
      continue;
    const Tensor &t = instance.tensor(entry.wire->outputs()->Get(i)->value());
    out.ndim = int32_t(t.rank);
    out.dims = t.dims;
  }
}

void Context::poison(ShapeInstance &instance) {
  constexpr uint8_t kPoison = 0xFF;
  queue->fill(arena.data(), arena.size(), kPoison);
  for (const wire::Output *output : *entry.wire->outputs())
    if (output->kind() == wire::OutputKind::Tensor) {
      const Tensor &t = instance.tensor(output->value());
      queue->fill(instance.root(output->value()),
                  t.elements * elementSize(t.dtype), kPoison);
    }
}

void Context::clearOwnScratch(ShapeInstance &instance) {
  const int64_t offset = instance.ownScratchOffset();
  if (offset < instance.arenaBytes())
    queue->fill(arena.data() + offset, instance.arenaBytes() - offset, 0);
}

void Context::runCommands(ShapeInstance &instance) {
  clearOwnScratch(instance);
  for (PreparedStep &step : instance.steps)
    queue->run(step);
}

void Context::recordCommands(ShapeInstance &instance) {
  clearOwnScratch(instance);
  queue->runInLanes(instance.placeInLanes(queue->lanes()),
                    [&](size_t i) { queue->run(instance.steps[i]); });
}

bool Context::runGraph(ShapeInstance &instance) {
  auto found = instance.findGraph();
  if (found && found->command) {
    found->command->run();
    return true;
  }
  if (disturbed >= kMostDisturbed)
    return false;
  // What is made when first used is made by a call without a graph.
  if (!found && graphs == FP8RT_GRAPHS_AUTO) {
    instance.addGraph(nullptr, kGraphs);
    return false;
  }
  instance.patchPointers(arena.data());
  bool first = !found;
  if (first)
    runCommands(instance);
  try {
    auto graph = queue->record([&] { recordCommands(instance); });
    if (!first)
      graph->run();
    instance.addGraph(std::move(graph), kGraphs);
    return true;
  } catch (const Error &) {
    // Another thread that waits for the whole device ends a recording. A later
    // call tries again; what is wrong with the commands they say themselves.
    ++disturbed;
    return first;
  }
}

void Context::run(ShapeInstance &instance) {
  // A caller that records a graph of its own gets the commands.
  const bool isRecorded = queue->isRecorded();
  if (graphs != FP8RT_GRAPHS_OFF && !isRecorded && runGraph(instance))
    return;
  instance.patchPointers(arena.data());
  isRecorded ? recordCommands(instance) : runCommands(instance);
}

void Context::call(const DLTensor *const *inputs, size_t numInputs,
                   DLTensor *const *outputs, size_t numOutputs, void *stream) {
  std::lock_guard<std::mutex> lock(mutex);
  QueueScope scope(*queue, stream);
  require(numOutputs == entry.outputs.size(), FP8RT_INVALID_ARGUMENT, "got ",
          numOutputs, " outputs, expected ", entry.outputs.size());
  ShapeInstance &instance = instanceFor(inputs, numInputs, true);
  for (size_t i = 0; i < numInputs; ++i)
    instance.setRoot(entry.wire->inputs()->Get(i)->value(),
                     tensorData(*inputs[i]));
  bindOutputs(instance, inputs, outputs);
  if (poisons)
    poison(instance);
  if (observer)
    runObserved(instance, stream);
  else
    run(instance);
  for (size_t i = 0; i < numOutputs; ++i)
    if (entry.outputs[i].kind == FP8RT_INTEGER && outputs && outputs[i]) {
      int64_t value = instance.integer(i);
      std::memcpy(tensorData(*outputs[i]), &value, sizeof(value));
    }
}
