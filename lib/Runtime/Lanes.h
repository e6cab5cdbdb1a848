//===- Lanes.h - Steps side by side -----------------------------*- C++ -*-===//
//
// Part of fp8c, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A call's steps are in an order in which they can run one by one. Where a
// device can run several side by side, each gets a lane: steps of a lane run
// one after the other, and wait for steps of other lanes where they have to.
//
//===----------------------------------------------------------------------===//

#ifndef FP8C_LIB_RUNTIME_LANES_H
#define FP8C_LIB_RUNTIME_LANES_H

#include "Dependencies.h"

namespace fp8c::rt {

/// A step's place.
struct LaneStep {
  uint32_t lane = 0;
  /// Steps of other lanes that it waits for; what follows from these and from
  /// the order of lanes is left out.
  std::vector<uint32_t> waits;
  /// Whether steps of other lanes wait for it.
  bool isAwaited = false;
};

/// Gives steps to at most `lanes` lanes, each to one where it can start soonest
/// if all steps take equally long.
std::vector<LaneStep> assignLanes(const Dependencies &steps, uint32_t lanes);

/// Makes steps that have a choice of when to start do so beside one that leaves
/// room on the device: the last one before them that does not come too late.
void startBesideRoom(Dependencies &steps, const std::vector<bool> &leavesRoom);

/// For each step the position before which it will not start even side by side
/// with others: its own, or an earlier one, by a few steps at most, where much
/// else can be done before its results are needed. Memory that it writes must
/// not be used for anything else from there on, or it would have to wait.
std::vector<uint32_t> findEarliestStarts(const Dependencies &steps);

} // namespace fp8c::rt

#endif // FP8C_LIB_RUNTIME_LANES_H
