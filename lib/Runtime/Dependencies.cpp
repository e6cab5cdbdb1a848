//===- Dependencies.cpp - Which steps must wait for which -----------------===//
//
// Part of fp8c, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Dependencies.h"

#include <algorithm>

using namespace fp8c::rt;

namespace {
/// What was done to memory and still has to be waited for.
struct Use {
  ByteRange range;
  uint32_t step;
  bool isWrite;
};
} // namespace

Dependencies fp8c::rt::findDependencies(const std::vector<StepAccess> &steps) {
  Dependencies result(steps.size());
  // By address space.
  std::vector<std::vector<Use>> all;
  for (uint32_t step = 0; step < steps.size(); ++step) {
    std::vector<uint32_t> &after = result[step];
    auto wait = [&](ByteRange range, bool isWrite) {
      if (range.space >= all.size())
        all.resize(size_t(range.space) + 1);
      std::vector<Use> &uses = all[range.space];
      // Whoever meets what is dropped here meets this write, which is later.
      auto isDone = [&](const Use &old) {
        if (old.range.begin >= range.end || range.begin >= old.range.end ||
            range.begin >= range.end || !(isWrite || old.isWrite))
          return false;
        after.push_back(old.step);
        return isWrite && range.begin <= old.range.begin &&
               old.range.end <= range.end;
      };
      uses.erase(std::remove_if(uses.begin(), uses.end(), isDone), uses.end());
    };
    auto remember = [&](ByteRange range, bool isWrite) {
      if (range.begin < range.end)
        all[range.space].push_back({range, step, isWrite});
    };
    for (ByteRange range : steps[step].reads)
      wait(range, false);
    for (ByteRange range : steps[step].writes)
      wait(range, true);
    for (ByteRange range : steps[step].reads)
      remember(range, false);
    for (ByteRange range : steps[step].writes)
      remember(range, true);
    std::sort(after.begin(), after.end());
    after.erase(std::unique(after.begin(), after.end()), after.end());
  }
  return result;
}
