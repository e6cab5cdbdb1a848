//===- JoinedTrial.cpp - Measuring joined products ------------------------===//
//
// Part of fp8c, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "JoinedProduct.h"
#include "Race.h"
#include "TrialMemory.h"

#include <deque>
#include <sstream>

using namespace fp8c::rt;
using namespace fp8c::rt::cuda;
using fp8c::package::JoinedForm;
using fp8c::package::kJoinedForms;

static constexpr int64_t kMostTurns = 4;

namespace {

/// A product and the launch that joins it, with operands of their own.
class JoinedTrial {
public:
  JoinedTrial(CudaQueue &queue, const PreparedStep &ofProduct,
              const PreparedStep &ofLaunch);

  /// The form that is clearly faster than both commands, or null.
  const JoinedForm *findFastest();

private:
  const Tensor *copy(const Tensor *t);
  /// Has the operands lie where those of this turn do.
  void place(size_t turn);
  bool run(size_t candidate, size_t turn);

  CudaQueue &queue;
  TrialMemory memory;
  std::deque<Tensor> tensors;
  /// For each turn, where each tensor lies.
  std::vector<std::vector<char *>> places;
  PreparedStep product, launch;
  std::unique_ptr<Command> joined[std::size(kJoinedForms)];
};

} // namespace

const Tensor *JoinedTrial::copy(const Tensor *t) {
  if (!t)
    return nullptr;
  tensors.push_back(*t);
  return &tensors.back();
}

JoinedTrial::JoinedTrial(CudaQueue &queue, const PreparedStep &ofProduct,
                         const PreparedStep &ofLaunch)
    : queue(queue), memory(queue) {
  product.wire = ofProduct.wire;
  product.product = ofProduct.product;
  product.matmul = ofProduct.matmul;
  MatmulArgs &args = product.matmul;
  for (const Tensor **operand :
       {&args.a, &args.b, &args.d, &args.bias, &args.aScale, &args.bScale})
    *operand = copy(*operand);
  launch.wire = ofLaunch.wire;
  launch.tasks = ofLaunch.tasks;
  launch.scratch = ofLaunch.scratch;
  launch.sizes = ofLaunch.sizes;
  for (const Tensor *operand : ofLaunch.operands)
    launch.operands.push_back(copy(operand));
  launch.pointers.resize(launch.operands.size());
  const wire::Launch &wire = *launch.wire->command_as_Launch();
  const Tensor *result =
      launch.operands[queue.program.wireKernel(wire.kernel()).product()];

  int64_t bytes = 0;
  for (const Tensor &t : tensors)
    bytes += &t == result ? 0 : spanBytes(t);
  const size_t turns = countTurns(bytes, kMostTurns);
  for (size_t turn = 0; turn < turns; ++turn) {
    std::vector<char *> &place = places.emplace_back();
    char *d = nullptr;
    for (const Tensor &t : tensors) {
      char *data = nullptr;
      if (&t == result)
        data = d;
      else
        data = static_cast<char *>(t.dtype == DType::F32 && t.elements == 1
                                       ? memory.makeOnes(&t)
                                       : memory.makeNumbers(&t));
      if (&t == args.d)
        d = data;
      place.push_back(data);
    }
  }
  place(0);
  product.command = queue.prepare(product);
  launch.command = queue.prepare(launch);
  for (size_t i = 0; i < std::size(kJoinedForms); ++i)
    joined[i] = makeJoinedProduct(queue, product, launch, kJoinedForms[i]);
}

void JoinedTrial::place(size_t turn) {
  const std::vector<char *> &place = places[turn % places.size()];
  for (size_t i = 0; i < tensors.size(); ++i)
    tensors[i].data = place[i];
  for (size_t i = 0; i < launch.operands.size(); ++i)
    launch.pointers[i] = launch.operands[i]->data;
}

bool JoinedTrial::run(size_t candidate, size_t turn) {
  place(turn);
  if (candidate > 0) {
    joined[candidate - 1]->run();
    return true;
  }
  queue.runAlone(product);
  queue.runAlone(launch);
  return true;
}

const JoinedForm *JoinedTrial::findFastest() {
  product.ownScratch =
      static_cast<char *>(memory.allocate(product.command->scratchBytes()));
  size_t fastest = 0;
  queue.runIn(memory.stream(), [&] {
    fastest = cuda::findFastest(
        queue, memory.stream(), 1 + std::size(kJoinedForms),
        [&](size_t candidate, size_t turn) { return run(candidate, turn); });
  });
  return fastest ? &kJoinedForms[fastest - 1] : nullptr;
}

const JoinedForm *fp8c::rt::cuda::findFastestForm(CudaQueue &queue,
                                                  const PreparedStep &product,
                                                  const PreparedStep &launch) {
  std::ostringstream key;
  key << launch.wire->command_as_Launch()->kernel() << ' '
      << roundRows(product.product.m) << ' ' << product.product.n << ' '
      << product.product.k << ' ' << (product.matmul.bias != nullptr);
  auto measure = [&] {
    return JoinedTrial(queue, product, launch).findFastest();
  };
  try {
    return queue.isRecorded()
               ? queue.program.knownJoined(key.str()).value_or(nullptr)
               : queue.program.chooseJoined(key.str(), measure);
  } catch (const Error &error) {
    // Operands of its own need memory that the call may do without.
    if (error.status != FP8RT_OUT_OF_MEMORY)
      throw;
    return nullptr;
  }
}
