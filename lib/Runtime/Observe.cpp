//===- Observe.cpp - Showing steps to an observer -------------------------===//
//
// Part of fp8c, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Context.h"
#include "Handles.h"

#include <algorithm>

using namespace fp8c::rt;
using wire::ValueKind;

static std::string_view view(const flatbuffers::String *s) {
  return s ? std::string_view(s->data(), s->size()) : std::string_view();
}

/// The name by which the caller knows a root buffer.
static std::string_view rootName(const wire::Plan &plan,
                                 const EntryPoint &entry, uint32_t root) {
  const wire::Value &v = *plan.values()->Get(root);
  switch (v.kind()) {
  case ValueKind::Weight:
    return view(plan.weights()->Get(v.index())->name());
  case ValueKind::State:
    return view(plan.states()->Get(v.index())->name());
  case ValueKind::Input:
    for (const wire::Input *input : *entry.wire->inputs())
      if (input->value() == root)
        return view(input->name());
    return {};
  case ValueKind::Output:
    for (const wire::Output *output : *entry.wire->outputs())
      if (output->kind() == wire::OutputKind::Tensor && output->value() == root)
        return view(output->name());
    return {};
  default:
    return {};
  }
}

/// What an observer sees of a step.
static ObservedStep show(const wire::Plan &plan, const EntryPoint &entry,
                         Device *device, const ShapeInstance &instance,
                         size_t index, bool isAlone) {
  const PreparedStep &step = instance.steps[index];
  const bool joins = step.joined && !isAlone;
  const bool isJoined = step.isJoined && !isAlone;
  /// The product that the step is, or does too.
  const PreparedStep &product = joins ? instance.steps[index - 1] : step;
  ObservedStep shown{};
  shown.index = uint32_t(index);
  shown.command = step.wire->command_type();
  shown.name = view(step.wire->name());
  shown.path = view(step.wire->path());
  shown.location = view(step.wire->location());
  shown.plan = &plan;
  shown.entry = entry.wire;
  shown.wire = step.wire;
  shown.exact = shown.command == wire::Command::Copy ||
                shown.command == wire::Command::Fill;
  if (shown.command == wire::Command::Launch) {
    const wire::Kernel &kernel =
        *plan.kernels()->Get(step.wire->command_as_Launch()->kernel());
    shown.kernel = view(kernel.name());
    shown.exact = kernel.exact();
  }
  shown.device = device;
  if (isJoined) {
    shown.how = "done by the launch after it";
    return shown;
  }
  shown.m = product.product.m;
  shown.n = product.product.n;
  shown.k = product.product.k;
  shown.batch = product.product.batch;
  shown.how = (joins ? step.joined : step.command)->describe();
  auto showValue = [&](uint32_t value) {
    const wire::Value &v = *plan.values()->Get(value);
    const Tensor &t = instance.tensor(value);
    uint32_t root = rootOf(plan, value);
    ValueKind rootKind = plan.values()->Get(root)->kind();
    ObservedValue out{};
    out.index = value;
    out.kind = v.kind();
    out.dtype = v.dtype();
    out.node = view(v.node());
    out.rootName = rootName(plan, entry, root);
    out.root = root;
    out.dims.assign(t.dims, t.dims + t.rank);
    out.strides.assign(t.strides, t.strides + t.rank);
    out.data = t.data;
    out.writable =
        rootKind != ValueKind::Weight && rootKind != ValueKind::Input;
    return out;
  };
  // A joined product's operands come first; its result is nowhere.
  std::vector<uint32_t> reads;
  if (joins)
    reads.assign(product.wire->reads()->begin(), product.wire->reads()->end());
  for (uint32_t value : *step.wire->reads())
    if (!joins || (rootOf(plan, value) !=
                       rootOf(plan, product.wire->command_as_Matmul()->d()) &&
                   std::find(reads.begin(), reads.end(), value) == reads.end()))
      reads.push_back(value);
  for (uint32_t value : reads)
    shown.reads.push_back(showValue(value));
  for (uint32_t value : *step.wire->writes())
    shown.writes.push_back(showValue(value));
  return shown;
}

void Context::runObserved(ShapeInstance &instance, void *stream) {
  /// Time for the host to put a step into the stream.
  constexpr double kStepSeconds = 20e-6;
  if (!stopwatch)
    stopwatch = device->makeStopwatch();
  instance.patchPointers(arena.data());
  clearOwnScratch(instance);
  const size_t count = instance.steps.size();
  auto showStep = [&](size_t i) {
    return show(program->plan(), entry, device.get(), instance, i,
                observer->readsValues());
  };
  if (!observer->readsValues()) {
    stopwatch->stall(kStepSeconds * double(count), stream);
    stopwatch->mark(0, stream);
    for (size_t i = 0; i < count; ++i) {
      queue->run(instance.steps[i]);
      stopwatch->mark(i + 1, stream);
    }
    for (size_t i = 0; i < count; ++i)
      observer->afterStep(showStep(i), stopwatch->seconds(i));
    return;
  }
  // The observer reads and writes memory by itself.
  device->wait(stream);
  for (size_t i = 0; i < count; ++i) {
    const ObservedStep shown = showStep(i);
    observer->beforeStep(shown);
    stopwatch->mark(0, stream);
    queue->runAlone(instance.steps[i]);
    stopwatch->mark(1, stream);
    observer->afterStep(shown, stopwatch->seconds(0));
  }
}

void fp8c::rt::readMemory(const ObservedStep &step, void *to, const void *from,
                          size_t bytes) {
  step.device->download(to, from, bytes);
}

void fp8c::rt::writeMemory(const ObservedStep &step, void *to, const void *from,
                           size_t bytes) {
  step.device->upload(to, from, bytes);
}

bool fp8c::rt::isHostMemory(const ObservedStep &step) {
  return step.device->dlpack().device_type == kDLCPU;
}

void fp8c::rt::setObserver(fp8rt_context_t *context, Observer *observer) {
  context->context.observe(observer);
}
