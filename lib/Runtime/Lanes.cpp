//===- Lanes.cpp - Steps side by side -------------------------------------===//
//
// Part of fp8c, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Lanes.h"

#include <algorithm>
#include <iterator>

using namespace fp8c::rt;

/// What a step takes, and what it costs to wait for another lane, in the same
/// unit.
static constexpr uint32_t kStepTime = 2;
static constexpr uint32_t kWaitTime = 1;
/// Steps that others wait for within fewer steps keep their position.
static constexpr uint32_t kLeastSlack = 4;
/// By how many positions a step may be early: about a transformer block.
static constexpr uint32_t kMostEarly = 24;

namespace {

/// Steps of each lane that are known to be done: its first so many.
using Clock = std::vector<uint32_t>;

struct Lane {
  /// When its last step ends.
  uint32_t end = 0;
  uint32_t last = 0;
  /// How many steps it has.
  uint32_t length = 0;
};

} // namespace

std::vector<LaneStep> fp8c::rt::assignLanes(const Dependencies &steps,
                                            uint32_t count) {
  std::vector<LaneStep> result(steps.size());
  std::vector<Lane> lanes(std::max(count, 1u));
  std::vector<uint32_t> ends(steps.size()), numbers(steps.size());
  // What is done when a step is.
  std::vector<Clock> clocks(steps.size());
  for (uint32_t step = 0; step < steps.size(); ++step) {
    const std::vector<uint32_t> &after = steps[step];
    uint32_t ready = 0;
    for (uint32_t other : after)
      ready = std::max(ready, ends[other]);
    auto follows = [&](const Lane &lane) {
      return lane.length &&
             std::binary_search(after.begin(), after.end(), lane.last);
    };
    uint32_t best = 0, bestStart = UINT32_MAX;
    for (uint32_t i = 0; i < lanes.size(); ++i) {
      uint32_t start = std::max(ready, lanes[i].end);
      if (!after.empty() && !follows(lanes[i]))
        start += kWaitTime;
      if (start < bestStart) {
        best = i;
        bestStart = start;
      }
    }
    Lane &lane = lanes[best];
    LaneStep &place = result[step];
    place.lane = best;
    Clock &clock = clocks[step];
    clock = lane.length ? clocks[lane.last] : Clock(lanes.size());
    // The latest first: what it waited for need not be waited for again.
    for (size_t i = after.size(); i-- > 0;) {
      const uint32_t other = after[i], from = result[other].lane;
      if (clock[from] > numbers[other])
        continue;
      place.waits.push_back(other);
      result[other].isAwaited = true;
      for (size_t l = 0; l < clock.size(); ++l)
        clock[l] = std::max(clock[l], clocks[other][l]);
    }
    numbers[step] = lane.length;
    clock[best] = ++lane.length;
    lane.last = step;
    lane.end = ends[step] = bestStart + kStepTime;
  }
  return result;
}

namespace {
/// When steps can start, and when they must, if all take equally long and all
/// lanes are there.
struct Starts {
  explicit Starts(const Dependencies &steps)
      : first(steps.size()), last(steps.size()) {
    uint32_t end = 0;
    for (uint32_t step = 0; step < steps.size(); ++step) {
      for (uint32_t other : steps[step])
        first[step] = std::max(first[step], first[other] + 1);
      end = std::max(end, first[step]);
    }
    std::fill(last.begin(), last.end(), end);
    for (size_t step = steps.size(); step-- > 0;)
      for (uint32_t other : steps[step])
        last[other] = std::min(last[other], last[step] - 1);
  }
  bool hasChoice(uint32_t step) const {
    return last[step] - first[step] >= kLeastSlack;
  }
  std::vector<uint32_t> first, last;
};
} // namespace

void fp8c::rt::startBesideRoom(Dependencies &steps,
                               const std::vector<bool> &leavesRoom) {
  const Starts starts(steps);
  for (uint32_t step = 0; step < steps.size(); ++step) {
    if (!starts.hasChoice(step))
      continue;
    for (uint32_t other = step; other-- > 0;) {
      if (!leavesRoom[other] || starts.first[other] < starts.first[step] ||
          starts.first[other] > starts.last[step])
        continue;
      std::vector<uint32_t> both;
      std::set_union(steps[step].begin(), steps[step].end(),
                     steps[other].begin(), steps[other].end(),
                     std::back_inserter(both));
      steps[step] = std::move(both);
      break;
    }
  }
}

std::vector<uint32_t> fp8c::rt::findEarliestStarts(const Dependencies &steps) {
  const Starts starts(steps);
  std::vector<uint32_t> result(steps.size());
  for (uint32_t step = 0; step < steps.size(); ++step) {
    result[step] = step;
    if (!starts.hasChoice(step))
      continue;
    uint32_t earliest = step - std::min(step, kMostEarly);
    for (uint32_t other : steps[step])
      earliest = std::max(earliest, result[other] + 1);
    result[step] = std::min(step, earliest);
  }
  return result;
}
