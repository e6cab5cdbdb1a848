//===- ProductTrial.cpp - Measuring a product's candidates ----------------===//
//
// Part of fp8c, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ProductTrial.h"

#include "Race.h"
#include "TrialMemory.h"

using namespace fp8c::rt;
using namespace fp8c::rt::cuda;

static constexpr int64_t kMostTurns = 8;

size_t fp8c::rt::cuda::findFastest(
    CudaQueue &queue, const MatmulArgs &args, size_t workspaceBytes,
    size_t count,
    const std::function<bool(size_t, const ProductData &, Stream)> &run) {
  TrialMemory memory(queue);
  const int64_t bytes =
      spanBytes(*args.a) + spanBytes(*args.b) + spanBytes(*args.d);
  ProductData data;
  data.bias = memory.makeNumbers(args.bias);
  data.aScale = memory.makeOnes(args.aScale);
  data.bScale = memory.makeOnes(args.bScale);
  data.resultScale = memory.makeOnes(args.resultScale);
  data.amax = memory.makeOnes(args.amax);
  data.workspace = memory.allocate(int64_t(workspaceBytes));
  std::vector<ProductData> sets(countTurns(bytes, kMostTurns), data);
  for (ProductData &set : sets) {
    set.a = memory.makeNumbers(args.a);
    set.b = memory.makeNumbers(args.b);
    set.d = memory.makeNumbers(args.d);
  }

  return findFastest(
      queue, memory.stream(), count, [&](size_t candidate, size_t turn) {
        return run(candidate, sets[turn % sets.size()], memory.stream());
      });
}
