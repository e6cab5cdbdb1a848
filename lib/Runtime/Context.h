//===- Context.h - Calls of an entry point ----------------------*- C++ -*-===//
//
// Part of fp8c, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef FP8C_LIB_RUNTIME_CONTEXT_H
#define FP8C_LIB_RUNTIME_CONTEXT_H

#include "Device.h"
#include "Program.h"
#include "ShapeInstance.h"
#include "State.h"

#include "fp8c/Runtime/Observer.h"

#include <memory>
#include <mutex>
#include <vector>

namespace fp8c::rt {

/// Memory, a queue and prepared shapes of one sequence of calls.
class Context {
public:
  /// Of the options those that the other parameters are made from are not read.
  Context(std::shared_ptr<Device> device, std::shared_ptr<Program> program,
          std::shared_ptr<State> state, const fp8rt_context_options_t &options);

  /// Runs the entry point; on a device with streams, puts it in `stream`.
  void call(const DLTensor *const *inputs, size_t numInputs,
            DLTensor *const *outputs, size_t numOutputs, void *stream);
  /// Fills in what the outputs are for these inputs.
  void queryOutputs(const DLTensor *const *inputs, size_t numInputs,
                    fp8rt_output_t *outputs, size_t numOutputs);

  const std::shared_ptr<State> &sharedState() const { return state; }
  int64_t arenaBytes() const { return arena.size(); }
  void observe(Observer *observer) { this->observer = observer; }

private:
  ShapeInstance &instanceFor(const DLTensor *const *inputs, size_t numInputs,
                             bool checkData);
  void bindOutputs(ShapeInstance &instance, const DLTensor *const *inputs,
                   DLTensor *const *outputs);
  void bindStored(ShapeInstance &instance);
  void poison(ShapeInstance &instance);
  void run(ShapeInstance &instance);
  /// Runs the commands as a graph if there is one for where everything lies
  /// now, or if there should be one.
  bool runGraph(ShapeInstance &instance);
  /// Clears the memory that steps have for themselves.
  void clearOwnScratch(ShapeInstance &instance);
  void runCommands(ShapeInstance &instance);
  /// Runs them where they are recorded.
  void recordCommands(ShapeInstance &instance);
  void runObserved(ShapeInstance &instance, void *stream);

  std::shared_ptr<Device> device;
  std::shared_ptr<Program> program;
  std::shared_ptr<LoadedProgram> loaded;
  std::shared_ptr<State> state;
  const EntryPoint &entry;
  std::unique_ptr<Queue> queue;
  Observer *observer = nullptr;
  std::unique_ptr<Stopwatch> stopwatch;
  size_t cachedShapes;
  fp8rt_graphs_t graphs;
  bool poisons;
  /// Recordings that failed.
  unsigned disturbed = 0;
  /// The most recently used first.
  std::vector<std::unique_ptr<ShapeInstance>> instances;
  /// Values of weights and states that the entry point uses.
  std::vector<uint32_t> storedRoots;
  std::vector<int64_t> dims;
  DeviceMemory arena;
  std::mutex mutex;
};

} // namespace fp8c::rt

#endif // FP8C_LIB_RUNTIME_CONTEXT_H
