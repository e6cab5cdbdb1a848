//===- LanesTest.cpp - Steps side by side ---------------------------------===//
//
// Part of fp8c, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "../../../lib/Runtime/Lanes.h"

#include <gtest/gtest.h>

#include <random>

using namespace fp8c::rt;
using Steps = std::vector<uint32_t>;

TEST(Dependencies, ReadAfterWriteAndBack) {
  // Write, read, read, write again, read a part.
  EXPECT_EQ(findDependencies({{{}, {{0, 8}}},
                              {{{0, 8}}, {{8, 16}}},
                              {{{4, 8}}, {{16, 24}}},
                              {{}, {{0, 8}}},
                              {{{7, 8}}, {}}}),
            (Dependencies{{}, {0}, {0}, {0, 1, 2}, {3}}));
}

TEST(Dependencies, PartsOfABuffer) {
  EXPECT_EQ(findDependencies({{{}, {{0, 4}}},
                              {{}, {{4, 8}}},
                              {{{2, 6}}, {}},
                              {{{8, 12}}, {}},
                              {{}, {{8, 9}, {3, 4}}}}),
            (Dependencies{{}, {}, {0, 1}, {}, {0, 2, 3}}));
}

TEST(Dependencies, InPlaceAndEmpty) {
  EXPECT_EQ(
      findDependencies(
          {{{{0, 4}}, {{0, 4}}}, {{{2, 2}}, {{3, 3}}}, {{{0, 4}}, {{0, 4}}}}),
      (Dependencies{{}, {}, {0}}));
}

TEST(Lanes, ChainStaysInOne) {
  for (const LaneStep &step : assignLanes({{}, {0}, {0, 1}, {2}}, 4)) {
    EXPECT_EQ(step.lane, 0u);
    EXPECT_EQ(step.waits, Steps{});
    EXPECT_FALSE(step.isAwaited);
  }
}

TEST(Lanes, ForkAndJoin) {
  auto steps = assignLanes({{}, {0}, {0}, {1, 2}}, 4);
  EXPECT_EQ(steps[1].lane, 0u);
  EXPECT_EQ(steps[2].lane, 1u);
  EXPECT_EQ(steps[2].waits, (Steps{0}));
  EXPECT_TRUE(steps[0].isAwaited);
  EXPECT_EQ(steps[3].lane, 0u);
  EXPECT_EQ(steps[3].waits, (Steps{2}));
}

TEST(Lanes, OneLane) {
  for (const LaneStep &step : assignLanes({{}, {}, {0}, {1, 2}}, 1)) {
    EXPECT_EQ(step.lane, 0u);
    EXPECT_EQ(step.waits, Steps{});
  }
}

/// Every dependency must follow from waits and the order of lanes.
TEST(Lanes, KeepEveryDependency) {
  std::mt19937 random(1);
  for (int round = 0; round < 200; ++round) {
    const uint32_t count = 2 + random() % 60;
    Dependencies dependencies(count);
    for (uint32_t step = 1; step < count; ++step)
      for (uint32_t other = 0; other < step; ++other)
        if (random() % (2 + step) < 2)
          dependencies[step].push_back(other);
    auto steps = assignLanes(dependencies, 1 + random() % 5);
    std::vector<std::vector<bool>> done(count, std::vector<bool>(count));
    for (uint32_t step = 0; step < count; ++step) {
      auto follow = [&](uint32_t other) {
        done[step][other] = true;
        for (uint32_t i = 0; i < other; ++i)
          done[step][i] = done[step][i] || done[other][i];
      };
      for (uint32_t other = 0; other < step; ++other)
        if (steps[other].lane == steps[step].lane)
          follow(other);
      for (uint32_t other : steps[step].waits) {
        EXPECT_NE(steps[other].lane, steps[step].lane);
        EXPECT_TRUE(steps[other].isAwaited);
        follow(other);
      }
      for (uint32_t other : dependencies[step])
        EXPECT_TRUE(done[step][other]) << step << " after " << other;
    }
  }
}

TEST(Lanes, EarliestStarts) {
  // A chain of ten; 7 depends on nothing, 8 on it, and 9 joins.
  EXPECT_EQ(
      findEarliestStarts({{}, {0}, {1}, {2}, {3}, {4}, {5}, {}, {7}, {6, 8}}),
      (Steps{0, 1, 2, 3, 4, 5, 6, 0, 1, 9}));
}

TEST(Lanes, BesideRoom) {
  // A chain of twelve, of which 3 and 6 leave room; 12 depends on the first
  // alone, and 13 joins it with 8.
  Dependencies steps{{},  {0}, {1}, {2}, {3},     {4}, {5},
                     {6}, {7}, {8}, {0}, {9, 10}, {11}};
  std::vector<bool> leavesRoom(steps.size());
  leavesRoom[3] = leavesRoom[6] = true;
  startBesideRoom(steps, leavesRoom);
  EXPECT_EQ(steps[10], (Steps{0, 5}));
  EXPECT_EQ(steps[9], (Steps{8}));
  // Too late for 6: its result is needed there.
  Dependencies early{{}, {0}, {1}, {2}, {3}, {4}, {0}, {5, 6}, {7}, {8}};
  std::vector<bool> room(early.size());
  room[2] = room[5] = true;
  startBesideRoom(early, room);
  EXPECT_EQ(early[6], (Steps{0, 4}));
}
