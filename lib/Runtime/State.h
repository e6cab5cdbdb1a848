//===- State.h - Buffers that calls change ----------------------*- C++ -*-===//
//
// Part of fp8c, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef FP8C_LIB_RUNTIME_STATE_H
#define FP8C_LIB_RUNTIME_STATE_H

#include "Device.h"
#include "Program.h"

#include <memory>
#include <vector>

namespace fp8c::rt {

/// The mutable buffers of a program. Contexts that share a state share its
/// memory; the caller orders their calls.
class State {
public:
  /// All buffers with their initial values.
  explicit State(std::shared_ptr<Program> program);

  /// Every buffer back to its initial value.
  void reset();
  void get(const char *name, const DLTensor &tensor) const;
  void set(const char *name, const DLTensor &tensor);
  void save(const std::string &path) const;
  void restore(const std::string &path);

  /// Moves the buffers to a device, once and for all: contexts of two devices
  /// do not share a state.
  void attach(const std::shared_ptr<Device> &device);
  char *data(size_t buffer) const { return buffers[buffer].data(); }
  const Program &owner() const { return *program; }

private:
  size_t find(const char *name) const;
  size_t bytes(size_t buffer) const;

  std::shared_ptr<Program> program;
  /// The CPU until a context attaches.
  std::shared_ptr<Device> device = openCpu();
  bool attached = false;
  std::vector<DeviceMemory> buffers;
};

} // namespace fp8c::rt

#endif // FP8C_LIB_RUNTIME_STATE_H
