//===- WrappedDevice.h - The cpu with queues of a test ----------*- C++ -*-===//
//
// Part of fp8c, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef FP8C_TEST_UNIT_RUNTIME_WRAPPEDDEVICE_H
#define FP8C_TEST_UNIT_RUNTIME_WRAPPEDDEVICE_H

#include "../../../lib/Runtime/Device.h"

namespace fp8c::test {

/// Does what the cpu's queue does.
class WrappedQueue : public rt::Queue {
public:
  explicit WrappedQueue(std::unique_ptr<rt::Queue> cpu) : cpu(std::move(cpu)) {}

  std::unique_ptr<rt::Command> prepare(const rt::PreparedStep &step) override {
    return cpu->prepare(step);
  }
  bool reserve(int64_t bytes) override { return cpu->reserve(bytes); }
  void begin(void *stream) override { cpu->begin(stream); }
  void end() noexcept override { cpu->end(); }
  void fill(char *memory, int64_t bytes, uint8_t value) override {
    cpu->fill(memory, bytes, value);
  }

private:
  std::unique_ptr<rt::Queue> cpu;
};

/// The cpu in the place of another device.
class WrappedDevice : public rt::Device {
public:
  /// Makes a queue of the cpu's.
  using Wrap =
      std::function<std::unique_ptr<rt::Queue>(std::unique_ptr<rt::Queue>)>;

  explicit WrappedDevice(Wrap wrap, DLDeviceType type = kDLCPU)
      : wrap(std::move(wrap)), type(type) {}

  std::string name() const override { return "wrapped"; }
  DLDevice dlpack() const override { return {type, 0}; }
  int rankTarget(const std::string &target) const override {
    return cpu->rankTarget(target);
  }
  std::shared_ptr<rt::LoadedProgram>
  load(std::shared_ptr<rt::Program> program) override {
    return std::make_shared<Loaded>(cpu->load(std::move(program)), wrap);
  }
  char *allocate(int64_t bytes) override { return cpu->allocate(bytes); }
  void free(char *memory) noexcept override { cpu->free(memory); }
  void upload(void *to, const void *from, size_t bytes) override {
    cpu->upload(to, from, bytes);
  }
  void download(void *to, const void *from, size_t bytes) override {
    cpu->download(to, from, bytes);
  }
  void wait(void *stream) override { cpu->wait(stream); }
  std::unique_ptr<rt::Stopwatch> makeStopwatch() override {
    return cpu->makeStopwatch();
  }

private:
  class Loaded : public rt::LoadedProgram {
  public:
    Loaded(std::shared_ptr<rt::LoadedProgram> cpu, const Wrap &wrap)
        : cpu(std::move(cpu)), wrap(wrap) {}
    const void *weightData(size_t weight) override {
      return cpu->weightData(weight);
    }
    std::unique_ptr<rt::Queue>
    makeQueue(const rt::QueueOptions &options) override {
      return wrap(cpu->makeQueue(options));
    }

  private:
    std::shared_ptr<rt::LoadedProgram> cpu;
    const Wrap &wrap;
  };

  std::shared_ptr<rt::Device> cpu = rt::openCpu();
  Wrap wrap;
  DLDeviceType type;
};

} // namespace fp8c::test

#endif // FP8C_TEST_UNIT_RUNTIME_WRAPPEDDEVICE_H
