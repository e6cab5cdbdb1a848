//===- CpuDevice.cpp - The cpu device -------------------------------------===//
//
// Part of fp8c, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "../Device.h"
#include "../MemoryPlanner.h"
#include "../Program.h"
#include "../ShapeInstance.h"
#include "Attention.h"
#include "Copy.h"
#include "FloatMode.h"
#include "KernelObject.h"
#include "Matmul.h"
#include "ThreadPool.h"

#include "fp8c/Package/Format.h"

#include <chrono>
#include <cstdlib>
#include <cstring>
#include <optional>

using namespace fp8c::rt;

/// A thread gets this many pieces of a launch, so that slow ones even out.
static constexpr int64_t kPiecesPerThread = 4;

namespace {

class CpuQueue;

class CpuDevice : public Device {
public:
  std::string name() const override { return "cpu"; }
  DLDevice dlpack() const override { return {kDLCPU, 0}; }
  int rankTarget(const std::string &target) const override {
    return target == fp8c::package::kCpu;
  }
  std::shared_ptr<LoadedProgram>
  load(std::shared_ptr<Program> program) override;
  char *allocate(int64_t bytes) override {
    void *memory = std::aligned_alloc(kAlignment, size_t(alignUp(bytes)));
    require(memory, FP8RT_OUT_OF_MEMORY, "no memory for ", bytes, " bytes");
    return static_cast<char *>(memory);
  }
  void free(char *memory) noexcept override { std::free(memory); }
  void upload(void *to, const void *from, size_t bytes) override {
    std::memcpy(to, from, bytes);
  }
  void download(void *to, const void *from, size_t bytes) override {
    std::memcpy(to, from, bytes);
  }
  void wait(void *) override {}
  std::unique_ptr<Stopwatch> makeStopwatch() override;
};

/// Weights stay where they are; kernels are a shared object.
class CpuProgram : public LoadedProgram {
public:
  explicit CpuProgram(std::shared_ptr<Program> owner)
      : program(std::move(owner)) {
    std::vector<std::string> symbols;
    for (const wire::Kernel *kernel : *program->plan().kernels())
      symbols.push_back(kernel->symbol()->str());
    Bytes object = symbols.empty() ? Bytes{} : program->package().cpuObject();
    kernels = std::make_unique<KernelObject>(object, symbols);
  }
  const void *weightData(size_t weight) override {
    return program->weightData(weight);
  }
  std::unique_ptr<Queue> makeQueue(const QueueOptions &options) override;
  KernelFn kernel(size_t index) const { return kernels->kernel(index); }

private:
  std::shared_ptr<Program> program;
  std::unique_ptr<KernelObject> kernels;
};

/// A pool of threads and their scratch memory.
class CpuQueue : public Queue {
public:
  CpuQueue(const CpuProgram &program, int threads)
      : program(program), pool(threads) {}

  std::unique_ptr<Command> prepare(const PreparedStep &step) override;
  bool reserve(int64_t scratchBytes) override {
    int64_t bytes = alignUp(scratchBytes), total;
    if (bytes <= stride)
      return false;
    require(!__builtin_mul_overflow(bytes, int64_t(pool.size()), &total) &&
                total <= INT64_MAX / 2,
            FP8RT_OUT_OF_MEMORY, "scratch memory of ", bytes,
            " bytes a thread overflows");
    scratch = DeviceMemory(openCpu(), total);
    stride = bytes;
    return true;
  }
  void begin(void *) override { mode.emplace(); }
  void end() noexcept override { mode.reset(); }
  void fill(char *memory, int64_t bytes, uint8_t value) override {
    std::memset(memory, value, size_t(bytes));
  }

  char *scratchOf(int thread) const { return scratch.data() + thread * stride; }

  const CpuProgram &program;
  ThreadPool pool;

private:
  DeviceMemory scratch;
  /// One thread's after the other.
  int64_t stride = 0;
  std::optional<FloatMode> mode;
};

/// The clock.
class CpuStopwatch : public Stopwatch {
public:
  void mark(size_t index, void *) override {
    if (marks.size() <= index)
      marks.resize(index + 1);
    marks[index] = std::chrono::steady_clock::now();
  }
  double seconds(size_t index) override {
    return std::chrono::duration<double>(marks[index + 1] - marks[index])
        .count();
  }

private:
  std::vector<std::chrono::steady_clock::time_point> marks;
};

class LaunchCommand : public Command {
public:
  LaunchCommand(CpuQueue &queue, const PreparedStep &step)
      : queue(queue), step(step),
        kernel(queue.program.kernel(step.wire->command_as_Launch()->kernel())) {
  }
  int64_t scratchBytes() const override { return step.scratch; }
  void run() override {
    int64_t pieces = queue.pool.size() * kPiecesPerThread;
    queue.pool.run(step.tasks, (step.tasks + pieces - 1) / pieces,
                   [&](int64_t begin, int64_t end, int thread) {
                     kernel(step.pointers.data(), step.sizes.data(), begin, end,
                            queue.scratchOf(thread));
                   });
  }

private:
  CpuQueue &queue;
  const PreparedStep &step;
  KernelFn kernel;
};

/// A product or attention: tasks of their own.
template <typename Operation> class TiledCommand : public Command {
public:
  TiledCommand(CpuQueue &queue, Operation operation)
      : queue(queue), operation(std::move(operation)) {}
  int64_t scratchBytes() const override { return operation.scratchBytes(); }
  void run() override {
    operation.begin();
    queue.pool.run(operation.tasks(), 1,
                   [&](int64_t begin, int64_t end, int thread) {
                     operation.run(begin, end, queue.scratchOf(thread));
                   });
  }

private:
  CpuQueue &queue;
  Operation operation;
};

class CopyCommand : public Command {
public:
  CopyCommand(CpuQueue &queue, const PreparedStep &step)
      : queue(queue), step(step) {}
  void run() override { copyTensor(*step.source, *step.target, queue.pool); }

private:
  CpuQueue &queue;
  const PreparedStep &step;
};

class FillCommand : public Command {
public:
  FillCommand(CpuQueue &queue, const PreparedStep &step)
      : queue(queue), step(step) {}
  void run() override {
    fillTensor(*step.target, step.wire->command_as_Fill()->pattern(),
               queue.pool);
  }

private:
  CpuQueue &queue;
  const PreparedStep &step;
};

} // namespace

std::shared_ptr<LoadedProgram>
CpuDevice::load(std::shared_ptr<Program> program) {
  return std::make_shared<CpuProgram>(std::move(program));
}

std::unique_ptr<Queue> CpuProgram::makeQueue(const QueueOptions &options) {
  return std::make_unique<CpuQueue>(
      *this, options.threads ? options.threads : ThreadPool::defaultSize());
}

std::unique_ptr<Command> CpuQueue::prepare(const PreparedStep &step) {
  switch (step.wire->command_type()) {
  case wire::Command::Launch:
    return std::make_unique<LaunchCommand>(*this, step);
  case wire::Command::Matmul:
    return std::make_unique<TiledCommand<Matmul>>(
        *this, Matmul(step.matmul, step.product));
  case wire::Command::Attention:
    return std::make_unique<TiledCommand<Attention>>(*this,
                                                     Attention(step.attention));
  case wire::Command::Copy:
    return std::make_unique<CopyCommand>(*this, step);
  case wire::Command::Fill:
    return std::make_unique<FillCommand>(*this, step);
  case wire::Command::NONE:
    break;
  }
  return nullptr;
}

std::unique_ptr<Stopwatch> CpuDevice::makeStopwatch() {
  return std::make_unique<CpuStopwatch>();
}

std::shared_ptr<Device> fp8c::rt::openCpu() {
  static std::shared_ptr<Device> device = std::make_shared<CpuDevice>();
  return device;
}
