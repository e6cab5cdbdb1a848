//===- Race.cpp - Which of several commands is the fastest ----------------===//
//
// Part of fp8c, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Race.h"

#include <algorithm>
#include <cmath>

using namespace fp8c::rt;
using namespace fp8c::rt::cuda;

int64_t fp8c::rt::cuda::roundRows(int64_t rows) {
  int64_t rounded = 1;
  while (rounded < rows)
    rounded *= 2;
  return rounded;
}

/// Rounds over all candidates, and about how long one round of one is.
static constexpr int kRounds = 3;
static constexpr double kRoundSeconds = 300e-6;
/// The host puts one product into the stream in less.
static constexpr double kLaunchSeconds = 15e-6;
/// Another candidate is faster than the first if its time is below this share
/// in every round.
static constexpr double kClearly = 0.98;

size_t
fp8c::rt::cuda::findFastest(CudaQueue &queue, Stream stream, size_t count,
                            const std::function<bool(size_t, size_t)> &run) {
  std::unique_ptr<Stopwatch> stopwatch = queue.device.makeStopwatch();
  auto measure = [&](size_t candidate, int calls) {
    stopwatch->stall(kLaunchSeconds * calls, stream);
    stopwatch->mark(0, stream);
    for (int i = 0; i < calls; ++i)
      if (!run(candidate, size_t(i)))
        return HUGE_VAL;
    stopwatch->mark(1, stream);
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
