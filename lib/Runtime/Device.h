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
#include "Lanes.h"
#include "fp8c/Runtime/fp8rt.h"

#include <functional>
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
  /// One command for a launch and the product before it, which it joins; null
  /// where they stay two.
  virtual std::unique_ptr<Command> join(const PreparedStep &product,
                                        const PreparedStep &launch) {
    return nullptr;
  }
  /// Runs what a step of a call does: its command, or the joined one of it and
  /// the step before, which then did nothing.
  void run(const PreparedStep &step);
  /// Runs the step's own command.
  void runAlone(const PreparedStep &step);
  /// Makes sure that commands of this many bytes of scratch can run; true if
  /// scratch lies elsewhere now.
  virtual bool reserve(int64_t scratchBytes) = 0;
  /// Brackets a call; `stream` is the caller's.
  virtual void begin(void *stream) = 0;
  /// Brackets what puts nothing into a stream of the caller's.
  virtual void beginQuery() { begin(nullptr); }
  virtual void end() noexcept = 0;
  /// Fills memory of the device, in the order of the commands.
  virtual void fill(char *memory, int64_t bytes, uint8_t value) = 0;
  /// What `commands` runs as one command, which may run when everything lies
  /// where it lay then; nothing runs now. Null where the device has no such
  /// thing.
  virtual std::unique_ptr<Command>
  record(const std::function<void()> &commands) {
    return nullptr;
  }
  /// Whether what the running call puts into its stream is recorded, by
  /// `record` or by the caller.
  virtual bool isRecorded() const { return false; }
  /// Up to how many bytes of scratch memory a step has for itself.
  virtual int64_t mostOwnScratch() const { return 0; }
  /// In how many lanes a recorded call's steps may run.
  virtual uint32_t lanes() const { return 1; }
  /// Runs a recorded call's steps in lanes; `run` runs one by its number.
  virtual void runInLanes(const std::vector<LaneStep> &steps,
                          const std::function<void(size_t)> &run) {
    for (size_t i = 0; i < steps.size(); ++i)
      run(i);
  }

protected:
  /// The running step's own scratch memory, which was 0 at the call's start;
  /// null where it has none.
  char *ownScratch = nullptr;
  int64_t ownScratchBytes = 0;
};

/// How many recordings may fail before no more are tried: what ends one is
/// another thread's doing mostly, but may be there each time.
inline constexpr unsigned kMostDisturbed = 8;

/// What was put into a stream, to be put into others again.
class Recording {
public:
  virtual ~Recording() = default;
  virtual void replay(void *stream) = 0;
};

/// Marks in what a device does, and the times between them.
class Stopwatch {
public:
  virtual ~Stopwatch() = default;
  /// Sets mark `index` behind what was put into `stream`.
  virtual void mark(size_t index, void *stream) = 0;
  /// Seconds from mark `index` to the next one, once both are reached.
  virtual double seconds(size_t index) = 0;
  /// Seconds that a mark between two commands adds, measured now.
  virtual double markSeconds() { return 0; }
  /// Has what follows in `stream` wait about so long, so that the host is ahead
  /// of a device of its own.
  virtual void stall(double seconds, void *stream) {}
};

/// What a device reaches at best, a second; 0: not known.
struct DeviceLimits {
  /// Bytes read and written by a copy.
  double copyBytes = 0;
  /// Operations of products by the size of their operands' elements: 1, 2 and
  /// 4 bytes.
  double f8 = 0, half = 0, single = 0;
};

/// How commands run: what a device does not have it ignores.
struct QueueOptions {
  /// Threads of a device that is made of them; 0: one a core.
  int threads = 0;
  /// Steps of a recorded call that run side by side at most; 0: what is good.
  int lanes = 0;
  /// Whether who copies memory from or to the host waits for the calls.
  bool isAwaited = false;
  fp8rt_backends_t backends = FP8RT_BACKENDS_AUTO;
};

/// A program on a device.
class LoadedProgram {
public:
  virtual ~LoadedProgram() = default;
  /// The weight in the device's memory; null while it is not bound.
  virtual const void *weightData(size_t weight) = 0;
  virtual std::unique_ptr<Queue> makeQueue(const QueueOptions &options) = 0;
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
  /// Between memory of the host and of the device; done on return, after all
  /// calls of queues that are awaited. The caller waits for other work.
  virtual void upload(void *to, const void *from, size_t bytes) = 0;
  virtual void download(void *to, const void *from, size_t bytes) = 0;
  /// Returns when everything that was put into `stream` is done.
  virtual void wait(void *stream) = 0;

  virtual std::unique_ptr<Stopwatch> makeStopwatch() = 0;
  /// Records what `commands` puts into the stream that it is given; null where
  /// there are no streams.
  virtual std::unique_ptr<Recording>
  record(const std::function<void(void *stream)> &commands) {
    return nullptr;
  }
  /// Measures what can be measured.
  virtual DeviceLimits getLimits() { return {}; }
};

/// True for "cpu", "cuda" and "cuda:N".
bool isDeviceName(const std::string &name);
/// The device of that name: "cpu", "cuda", "cuda:1". An error says why there is
/// none.
std::shared_ptr<Device> openDevice(const std::string &name);

/// 10 * major + minor of a device's compute capability, 0 for the CPU; cheaper
/// than to open it. An error says why there is no such device.
int readCapability(const std::string &name);
/// The same for a GPU by its number.
int readCudaCapability(int ordinal);

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
