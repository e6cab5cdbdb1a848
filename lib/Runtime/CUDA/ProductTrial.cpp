//===- ProductTrial.cpp - Measuring a product's candidates ----------------===//
//
// Part of fp8c, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ProductTrial.h"

#include <algorithm>
#include <cmath>
#include <random>

using namespace fp8c::rt;
using namespace fp8c::rt::cuda;

/// Sets of operands take turns until they take this many bytes together.
static constexpr int64_t kSetBytes = 120 << 20;
static constexpr int64_t kMostSets = 8;
/// Rounds over all candidates, and about how long one round of one is.
static constexpr int kRounds = 3;
static constexpr double kRoundSeconds = 300e-6;
/// The host puts one product into the stream in less.
static constexpr double kLaunchSeconds = 15e-6;
/// Another candidate is faster than the first if its time is below this share
/// in every round.
static constexpr double kClearly = 0.98;

/// Bytes from the first element of a tensor to its last.
static int64_t spanBytes(const Tensor &t) {
  int64_t last = 0;
  for (uint32_t i = 0; i < t.rank; ++i)
    last += (t.dims[i] - 1) * t.strides[i];
  return (last + 1) * elementSize(t.dtype);
}

namespace {

/// A trial's stream, and what its products work on.
class TrialMemory {
public:
  explicit TrialMemory(CudaQueue &queue) : queue(queue), own(queue.driver) {
    // Measured beside other work of the caller's a time says little.
    own.waitFor(queue.stream);
    own.waitFor(nullptr);
  }
  /// Memory goes when nothing uses it any more.
  ~TrialMemory() { queue.driver.streamSynchronize(own.get()); }
  Stream stream() const { return own.get(); }

  /// Random numbers around 1 in the places of `t`; null for none.
  void *makeNumbers(const Tensor *t);
  void *makeOnes(const Tensor *t);
  void *allocate(int64_t bytes) {
    memory.emplace_back(queue.program.device, std::max<int64_t>(bytes, 16));
    return memory.back().data();
  }

private:
  CudaQueue &queue;
  std::vector<DeviceMemory> memory;
  PrivateStream own;
};

} // namespace

void *TrialMemory::makeNumbers(const Tensor *t) {
  if (!t)
    return nullptr;
  constexpr int64_t kPattern = 1 << 20;
  const int64_t size = elementSize(t->dtype);
  const int64_t bytes = spanBytes(*t);
  std::vector<uint8_t> pattern(
      size_t(std::min(kPattern, (bytes + size - 1) / size * size)));
  std::minstd_rand generator(1);
  for (size_t i = 0; i < pattern.size(); ++i) {
    pattern[i] = uint8_t(generator() >> 8);
    // The byte of sign and exponent: no NaN, nothing large.
    if (int64_t(i) % size == size - 1)
      pattern[i] = size == 1 ? pattern[i] & 0xBF : (pattern[i] & 0x87) | 0x38;
  }
  char *data = static_cast<char *>(allocate(bytes));
  int64_t done = std::min(bytes, int64_t(pattern.size()));
  const Driver &driver = queue.driver;
  queue.device.upload(data, pattern.data(), size_t(done));
  for (int64_t next; done < bytes; done += next) {
    next = std::min(done, bytes - done);
    driver.check(driver.copyAsync(reinterpret_cast<Pointer>(data + done),
                                  reinterpret_cast<Pointer>(data), size_t(next),
                                  stream()),
                 "cuMemcpyDtoDAsync");
  }
  return data;
}

void *TrialMemory::makeOnes(const Tensor *t) {
  if (!t)
    return nullptr;
  constexpr unsigned kOne = 0x3F800000;
  const int64_t bytes = spanBytes(*t);
  void *data = allocate(bytes);
  queue.driver.check(queue.driver.set32Async(reinterpret_cast<Pointer>(data),
                                             kOne, size_t((bytes + 3) / 4),
                                             stream()),
                     "cuMemsetD32Async");
  return data;
}

size_t fp8c::rt::cuda::findFastest(
    CudaQueue &queue, const MatmulArgs &args, size_t workspaceBytes,
    size_t count,
    const std::function<bool(size_t, const ProductData &, Stream)> &run) {
  TrialMemory memory(queue);
  const int64_t bytes = std::max<int64_t>(
      spanBytes(*args.a) + spanBytes(*args.b) + spanBytes(*args.d), 1);
  ProductData data;
  data.bias = memory.makeNumbers(args.bias);
  data.aScale = memory.makeOnes(args.aScale);
  data.bScale = memory.makeOnes(args.bScale);
  data.resultScale = memory.makeOnes(args.resultScale);
  data.amax = memory.makeOnes(args.amax);
  data.workspace = memory.allocate(int64_t(workspaceBytes));
  std::vector<ProductData> sets(
      size_t(std::clamp<int64_t>(kSetBytes / bytes, 1, kMostSets)), data);
  for (ProductData &set : sets) {
    set.a = memory.makeNumbers(args.a);
    set.b = memory.makeNumbers(args.b);
    set.d = memory.makeNumbers(args.d);
  }

  std::unique_ptr<Stopwatch> stopwatch = queue.device.makeStopwatch();
  auto measure = [&](size_t candidate, int calls) {
    stopwatch->stall(kLaunchSeconds * calls, memory.stream());
    stopwatch->mark(0, memory.stream());
    for (int i = 0; i < calls; ++i)
      if (!run(candidate, sets[size_t(i) % sets.size()], memory.stream()))
        return HUGE_VAL;
    stopwatch->mark(1, memory.stream());
    return stopwatch->seconds(0) / calls;
  };
  // The first run loads the kernel.
  std::vector<double> seconds(count, HUGE_VAL);
  double least = HUGE_VAL;
  for (size_t i = 0; i < count; ++i)
    if (measure(i, 1) < HUGE_VAL)
      least = std::min(least, seconds[i] = measure(i, 2));
  const int calls =
      int(std::clamp(kRoundSeconds / std::max(least, 1e-9), 3.0, 24.0));
  // Far slower ones are not measured again. The first one always is: a host
  // that was busy for a moment must not lose it.
  constexpr double kFarSlower = 1.3;
  std::vector<double> best(count, HUGE_VAL);
  std::vector<bool> isFaster(count, true);
  for (int round = 0; round < kRounds; ++round) {
    const double first = measure(0, calls);
    for (size_t i = 1; i < count; ++i) {
      const double time =
          seconds[i] < kFarSlower * least ? measure(i, calls) : HUGE_VAL;
      best[i] = std::min(best[i], time);
      isFaster[i] = isFaster[i] && time < kClearly * first;
    }
  }
  size_t fastest = 0;
  for (size_t i = 1; i < count; ++i)
    if (isFaster[i] && (fastest == 0 || best[i] < best[fastest]))
      fastest = i;
  return fastest;
}
