//===- Moves.cpp - Copies and fills on a GPU ------------------------------===//
//
// Part of fp8c, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Device/Kernels.h"
#include "OwnKernels.h"

#include <algorithm>

using namespace fp8c::rt;
using namespace fp8c::rt::cuda;

/// Blocks of a large copy: several waves of every GPU.
static constexpr int64_t kMaxBlocks = 4096;
/// Bytes of a fill that a kernel does: between kernels the driver's fill, a
/// node of another kind in a graph, waits longer on both sides.
static constexpr int64_t kSmallFill = 4096;

namespace {

/// A copy or fill as strided loops, simplified: dims of 1 are left out, dims
/// that one stride can express are merged, and elements of a dense row are
/// moved up to 16 bytes at a time.
struct Loops {
  std::vector<int64_t> dims, source, target;
  int64_t size;

  Loops(const Tensor *from, const Tensor &to) : size(elementSize(to.dtype)) {
    for (uint32_t i = 0; i < to.rank; ++i)
      if (to.dims[i] != 1)
        push(to.dims[i], from ? from->strides[i] : 0, to.strides[i]);
    if (dims.empty())
      push(1, from ? 1 : 0, 1);
  }
  bool isDense(const std::vector<int64_t> &strides) const {
    return dims.size() == 1 && (strides[0] == 1 || dims[0] == 1);
  }
  /// Makes units of `factor` elements if everything allows it.
  bool widen(int64_t factor, bool isCopy) {
    auto fits = [&](const std::vector<int64_t> &strides) {
      return strides.back() == 1 &&
             std::all_of(strides.begin(), strides.end() - 1,
                         [&](int64_t s) { return s % factor == 0; });
    };
    if (size * factor > 16 || dims.back() % factor || !fits(target) ||
        (isCopy && !fits(source)))
      return false;
    size *= factor;
    dims.back() /= factor;
    for (auto *strides : {&source, &target})
      for (size_t i = 0; i + 1 < strides->size(); ++i)
        (*strides)[i] /= factor;
    return true;
  }

private:
  void push(int64_t dim, int64_t from, int64_t to) {
    if (!dims.empty() && source.back() == from * dim &&
        target.back() == to * dim) {
      dims.back() *= dim;
      source.back() = from;
      target.back() = to;
      return;
    }
    dims.push_back(dim);
    source.push_back(from);
    target.push_back(to);
  }
};

class Move : public Command {
public:
  Move(CudaQueue &queue, const PreparedStep &step, uint64_t pattern)
      : queue(queue), step(step), pattern(pattern),
        loops(step.source, *step.target) {
    const Tensor &to = *step.target;
    bytes = to.elements * elementSize(to.dtype);
    dense = loops.isDense(loops.target) &&
            (!step.source || loops.isDense(loops.source));
    bool settable =
        !step.source && dense && loops.size <= 4 && bytes > kSmallFill;
    if (!to.elements || settable || (dense && step.source))
      return;
    while (loops.widen(2, step.source != nullptr)) {
    }
    require(loops.dims.size() <= kMaxDims, FP8RT_INCOMPATIBLE,
            "a copy over more than ", kMaxDims,
            " dims that no stride merges: got ", loops.dims.size());
    fillParameters();
    isDependent = !step.source && bytes <= kSmallFill &&
                  queue.device.hasDependentLaunch();
    function = isDependent ? queue.device.ownKernels().moveDependent()
                           : queue.device.ownKernels().move();
  }
  void run() override;

private:
  void fillParameters() {
    parameters.elements = 1;
    parameters.rank = uint32_t(loops.dims.size());
    for (uint32_t i = 0; i < parameters.rank; ++i) {
      parameters.dims[i] = loops.dims[i];
      parameters.sourceStrides[i] = loops.source[i];
      parameters.targetStrides[i] = loops.target[i];
      parameters.elements *= loops.dims[i];
    }
    parameters.size = uint32_t(loops.size);
    // Units wider than an element repeat its pattern.
    int64_t element = elementSize(step.target->dtype);
    uint64_t mask =
        element == 8 ? ~uint64_t(0) : (uint64_t(1) << 8 * element) - 1;
    for (int64_t at = 0; at < 8; at += element)
      parameters.pattern |= (pattern & mask) << 8 * at;
  }

  CudaQueue &queue;
  const PreparedStep &step;
  uint64_t pattern;
  Loops loops;
  MoveParams parameters{};
  Function function = nullptr;
  int64_t bytes = 0;
  bool dense = false, isDependent = false;
};

} // namespace

void Move::run() {
  if (!bytes)
    return;
  const Driver &driver = queue.driver;
  Pointer target = reinterpret_cast<Pointer>(step.target->data);
  if (!function && step.source)
    return driver.check(
        driver.copyAsync(target, reinterpret_cast<Pointer>(step.source->data),
                         size_t(bytes), queue.stream),
        "cuMemcpyDtoDAsync");
  if (!function) {
    size_t count = size_t(step.target->elements);
    Result result =
        loops.size == 1
            ? driver.set8Async(target, uint8_t(pattern), count, queue.stream)
        : loops.size == 2
            ? driver.set16Async(target, uint16_t(pattern), count, queue.stream)
            : driver.set32Async(target, uint32_t(pattern), count, queue.stream);
    return driver.check(result, "cuMemsetAsync");
  }
  MoveParams now = parameters;
  now.source = step.source ? step.source->data : nullptr;
  now.target = step.target->data;
  // Addresses of a call may be less aligned than the units: halves of units
  // reach the same bytes.
  auto low = reinterpret_cast<uintptr_t>(now.source) |
             reinterpret_cast<uintptr_t>(now.target);
  while (low % now.size) {
    now.size /= 2;
    now.elements *= 2;
    now.dims[now.rank - 1] *= 2;
    for (uint32_t i = 0; i + 1 < now.rank; ++i) {
      now.sourceStrides[i] *= 2;
      now.targetStrides[i] *= 2;
    }
  }
  int64_t blocks = (now.elements + kMoveThreads - 1) / kMoveThreads;
  void *arguments[] = {&now};
  const uint32_t grid = uint32_t(std::min(blocks, kMaxBlocks));
  if (isDependent)
    queue.launchConfigured(function, grid, 1, kMoveThreads, 0, arguments,
                           /*isDependent=*/true);
  else
    queue.launch(function, grid, 1, kMoveThreads, 0, arguments);
}

void fp8c::rt::cuda::fillMemory(CudaQueue &queue, char *to, int64_t bytes,
                                uint8_t value) {
  constexpr int64_t kUnit = 16;
  const Pointer target = reinterpret_cast<Pointer>(to);
  if (bytes == 0)
    return;
  if (bytes > kSmallFill * kUnit || bytes % kUnit || target % kUnit)
    return queue.driver.check(
        queue.driver.set8Async(target, value, size_t(bytes), queue.stream),
        "cuMemsetD8Async");
  MoveParams parameters{};
  parameters.target = to;
  parameters.pattern = value * (~uint64_t(0) / 255);
  parameters.elements = bytes / kUnit;
  parameters.size = kUnit;
  parameters.rank = 1;
  parameters.dims[0] = parameters.elements;
  parameters.targetStrides[0] = 1;
  void *arguments[] = {&parameters};
  queue.launch(
      queue.device.ownKernels().move(),
      uint32_t((parameters.elements + kMoveThreads - 1) / kMoveThreads), 1,
      kMoveThreads, 0, arguments);
}

std::unique_ptr<Command> fp8c::rt::cuda::makeCopy(CudaQueue &queue,
                                                  const PreparedStep &step) {
  return std::make_unique<Move>(queue, step, 0);
}

std::unique_ptr<Command> fp8c::rt::cuda::makeFill(CudaQueue &queue,
                                                  const PreparedStep &step) {
  return std::make_unique<Move>(queue, step,
                                step.wire->command_as_Fill()->pattern());
}
