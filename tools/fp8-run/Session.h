//===- Session.h - A program and its calls ----------------------*- C++ -*-===//
//
// Part of fp8c, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef FP8C_TOOLS_FP8_RUN_SESSION_H
#define FP8C_TOOLS_FP8_RUN_SESSION_H

#include "HostTensor.h"
#include "Options.h"
#include "Runtime/Device.h"
#include "fp8c/Runtime/Observer.h"

#include <memory>
#include <optional>

namespace fp8c::run {

/// One input, output or state of a program.
struct Slot {
  std::string name;
  fp8rt_kind_t kind;
  DType dtype;
  /// Extents, -1 where they depend on symbols.
  std::vector<int64_t> dims;
  /// The same as text: "64", "s0", "17*s1"; for an integer its one text.
  std::vector<std::string> dimTexts;
};

/// A symbol with the range that the program has for it.
struct Symbol {
  std::string name;
  int64_t min, max, multiple;

  /// "2.." or "8..64, a multiple of 8".
  std::string describeRange() const;
};

/// The results of a call; an output that is None has none.
using Results = std::vector<std::optional<HostTensor>>;

/// Throws what the runtime says, if a call of it failed.
void check(fp8rt_status_t status);

/// A loaded program and one context.
class Session {
public:
  /// From a package, which stays mapped.
  static std::unique_ptr<Session> load(const std::string &path,
                                       const std::string &device,
                                       const Options &options);
  ~Session();
  Session(const Session &) = delete;
  Session &operator=(const Session &) = delete;

  std::vector<Slot> inputs, outputs, states;
  std::vector<Symbol> symbols;
  std::string target;

  /// The extents of input `index` for values of all symbols.
  std::vector<int64_t> getInputDims(size_t index,
                                    const std::vector<int64_t> &values) const;
  /// Calls once; `results` get memory on the first call and keep it.
  void call(std::vector<HostTensor> &arguments, Results &results);
  /// The steps of a call: arguments to the device and memory for results, the
  /// call itself (which a GPU may finish later), and results from the device.
  /// `sets`: so many times, for calls that take turns.
  void bind(std::vector<HostTensor> &arguments, Results &results,
            size_t sets = 1);
  void enqueue(size_t set = 0, void *stream = nullptr);
  /// For what was put into the default stream.
  void wait() { device->wait(nullptr); }
  rt::Device &getDevice() { return *device; }
  /// Of the first set.
  void fetch(Results &results);
  /// Initial values again, then those that `values` has.
  void setState(const TensorMap &values);
  /// Buffers as they are now.
  TensorMap getState() const;
  void setObserver(rt::Observer *observer);

private:
  Session(fp8rt_program_t *program, const std::string &device,
          const Options &options);

  /// A tensor where the device reads or writes it.
  struct Bound {
    DLTensor tensor{};
    rt::DeviceMemory memory;
  };
  Bound bindTensor(HostTensor &tensor) const;
  /// What a call is given.
  struct BoundCall {
    std::vector<Bound> inputs, outputs;
    std::vector<const DLTensor *> inputPointers;
    std::vector<DLTensor *> outputPointers;
  };
  BoundCall bindCall(std::vector<HostTensor> &arguments, Results &results);

  std::shared_ptr<rt::Device> device;
  std::vector<BoundCall> boundCalls;
  fp8rt_program_t *program = nullptr;
  fp8rt_context_t *context = nullptr;
  fp8rt_state_t *state = nullptr;
};

} // namespace fp8c::run

#endif // FP8C_TOOLS_FP8_RUN_SESSION_H
