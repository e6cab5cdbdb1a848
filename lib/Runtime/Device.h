//===- Device.h - Where plans run -------------------------------*- C++ -*-===//
//
// Part of fp8c, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A context interprets a plan; what its commands do is the device's. A device
// loads a program once (its kernels, its weights), a queue runs the commands of
// one context in order.
//
//===----------------------------------------------------------------------===//

#ifndef FP8C_LIB_RUNTIME_DEVICE_H
#define FP8C_LIB_RUNTIME_DEVICE_H

#include "Error.h"
#include "fp8c/Runtime/fp8rt.h"

#include <memory>
#include <string>

namespace fp8c::rt {

class Program;
struct PreparedStep;

/// A step of a shape instance, ready to run again and again. It keeps a
/// reference to the step, whose tensors' addresses change from call to call.
class Command {
public:
  virtual ~Command() = default;
  /// Bytes of memory that the queue must have while it runs.
  virtual int64_t scratchBytes() const { return 0; }
  virtual void run() = 0;
  /// How the device computes it where it has several ways: the library's
  /// algorithm, or why a kernel of ours does it. Empty where there is one.
  virtual std::string describe() const { return ""; }
};

/// Runs the commands of one context.
class Queue {
public:
  virtual ~Queue() = default;
  virtual std::unique_ptr<Command> prepare(const PreparedStep &step) = 0;
  /// Makes sure that commands of this many bytes of scratch can run.
  virtual void reserve(int64_t scratchBytes) = 0;
  /// Brackets a call; `stream` is the caller's.
  virtual void begin(void *stream) = 0;
  virtual void end() noexcept = 0;
  /// Starts a stopwatch, and reads it in seconds once everything run since is
  /// done.
  virtual void startTiming() = 0;
  virtual double stopTiming() = 0;
};

/// A program on a device.
class LoadedProgram {
public:
  virtual ~LoadedProgram() = default;
  /// The weight in the device's memory; null while it is not bound.
  virtual const void *weightData(size_t weight) = 0;
  /// `threads` is for devices that are made of threads.
  virtual std::unique_ptr<Queue> makeQueue(int threads) = 0;
};

/// The CPU or a GPU. Objects live as long as what they made.
class Device : public std::enable_shared_from_this<Device> {
public:
  virtual ~Device() = default;
  /// "cpu", "cuda:0".
  virtual std::string name() const = 0;
  virtual DLDevice dlpack() const = 0;
  /// How good a target's plan is here: the largest runs, 0 does not.
  virtual int rankTarget(const std::string &target) const = 0;
  virtual std::shared_ptr<LoadedProgram>
  load(std::shared_ptr<Program> program) = 0;

  virtual char *allocate(int64_t bytes) = 0;
  virtual void free(char *memory) noexcept = 0;
  /// Between memory of the host and of the device; done on return, after
  /// everything that was queued before.
  virtual void upload(void *to, const void *from, size_t bytes) = 0;
  virtual void download(void *to, const void *from, size_t bytes) = 0;
  /// Returns when everything that was queued is done.
  virtual void wait() = 0;
};

/// The device of that name: "cpu", "cuda", "cuda:1". An error says why there is
/// none.
std::shared_ptr<Device> openDevice(const std::string &name);

/// The CPU.
std::shared_ptr<Device> openCpu();
/// A GPU by its number. Throws where there is no driver or no such device.
std::shared_ptr<Device> openCuda(int ordinal);

/// Memory of a device with its owner.
class DeviceMemory {
public:
  DeviceMemory() = default;
  DeviceMemory(std::shared_ptr<Device> device, int64_t bytes)
      : device(std::move(device)), bytes(bytes),
        memory(bytes ? this->device->allocate(bytes) : nullptr) {}
  DeviceMemory(DeviceMemory &&other) noexcept { swap(other); }
  DeviceMemory &operator=(DeviceMemory &&other) noexcept {
    swap(other);
    return *this;
  }
  ~DeviceMemory() {
    if (memory)
      device->free(memory);
  }

  char *data() const { return memory; }
  int64_t size() const { return bytes; }

private:
  void swap(DeviceMemory &other) noexcept {
    std::swap(device, other.device);
    std::swap(bytes, other.bytes);
    std::swap(memory, other.memory);
  }
  std::shared_ptr<Device> device;
  int64_t bytes = 0;
  char *memory = nullptr;
};

} // namespace fp8c::rt

#endif // FP8C_LIB_RUNTIME_DEVICE_H
