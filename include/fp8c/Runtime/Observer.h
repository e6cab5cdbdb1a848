//===- Observer.h - Watching a call step by step ----------------*- C++ -*-===//
//
// Part of fp8c, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// For tools in this tree (lock-step comparison, profiles), not part of the C
// interface. While an observer is set, steps run one after the other and the
// observer sees each before and after, with all values in memory: it may
// replace what a step reads before it runs, and what it wrote afterwards. One
// that wants times alone sees them after the call.
//
//===----------------------------------------------------------------------===//

#ifndef FP8C_RUNTIME_OBSERVER_H
#define FP8C_RUNTIME_OBSERVER_H

#include "fp8c/Package/plan_generated.h"
#include "fp8c/Runtime/fp8rt.h"

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace fp8c::rt {

class Device;

/// A value of the plan, at the sizes of the running call.
struct ObservedValue {
  /// Position in the plan's table of values.
  uint32_t index;
  plan::wire::ValueKind kind;
  plan::wire::DType dtype;
  /// The graph node whose value this is, empty where there is none.
  std::string_view node;
  /// The name of the input, output, weight or state that is the root buffer;
  /// empty for an arena value.
  std::string_view rootName;
  /// Position of the root buffer in the plan's table of values.
  uint32_t root;
  std::vector<int64_t> dims;
  /// In elements; may be 0 and need not be those of a dense tensor.
  std::vector<int64_t> strides;
  /// The first element, in the device's memory. Not null unless the value has
  /// no elements.
  void *data;
  /// False for what lives in the package or in an input of the caller's.
  bool writable;
};

/// A step of the entry point.
struct ObservedStep {
  /// Position in the entry point.
  uint32_t index;
  plan::wire::Command command;
  /// The nodes it stands for, joined by '+'.
  std::string_view name;
  /// The module's path, "blocks.0.mlp".
  std::string_view path;
  /// "file:line" of the model's source.
  std::string_view location;
  /// The kernel's name for a launch, else empty.
  std::string_view kernel;
  /// The plan, the running entry point, and the step in it: the operands of a
  /// product or of attention, what later steps write.
  const plan::wire::Plan *plan;
  const plan::wire::EntryPoint *entry;
  const plan::wire::Step *wire;
  /// Kernel.exact for a launch, true for copies and fills, false for products
  /// and attention.
  bool exact;
  std::vector<ObservedValue> reads;
  std::vector<ObservedValue> writes;
  /// M, N, K and batch of a product; zeros for other commands.
  int64_t m, n, k, batch;
  /// The library's algorithm, or why a kernel of ours computes it; empty where
  /// there is one way.
  std::string how;
  /// Whose memory the values are in.
  Device *device;
};

/// Copies between a value's memory (from `data`, in elements' order of memory)
/// and the host's.
void readMemory(const ObservedStep &step, void *to, const void *from,
                size_t bytes);
void writeMemory(const ObservedStep &step, void *to, const void *from,
                 size_t bytes);
/// Whether values can be read and written in place.
bool isHostMemory(const ObservedStep &step);

/// What a tool implements.
class Observer {
public:
  virtual ~Observer() = default;
  /// Whether the device waits for the observer at every step. False: steps run
  /// as in any call, and each is shown after the call, without its values.
  virtual bool readsValues() const { return true; }
  /// Before a step runs. `step` is valid during the call only.
  virtual void beforeStep(const ObservedStep &step) {}
  /// After a step has run and its results are in memory; `seconds` is how long
  /// it took.
  virtual void afterStep(const ObservedStep &step, double seconds) {}
};

/// Sets the observer of the context's calls; null for none. The observer must
/// outlive the context or be taken away. Steps without tasks (empty tensors)
/// are shown too.
void setObserver(fp8rt_context_t *context, Observer *observer);

} // namespace fp8c::rt

#endif // FP8C_RUNTIME_OBSERVER_H
