//===- OwnAttention.cpp - Attention by the runtime's kernels --------------===//
//
// Part of fp8c, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Attention.h"
#include "Device/Kernels.h"
#include "OwnKernels.h"

#include <algorithm>

using namespace fp8c::rt;
using namespace fp8c::rt::cuda;

/// What loads of the tensor cores' kernel are aligned to, in bytes.
static constexpr uintptr_t kFlashAlignment = 16;

/// Why the tensor cores' kernel does not compute it, or "".
static std::string whyNotFlash(const AttentionArgs &args) {
  DType type = args.query->dtype;
  if (type != DType::BF16 && type != DType::F16)
    return std::string("operands of ") + dtypeName(type);
  constexpr int64_t kUnit = kFlashAlignment / 2;
  for (const Tensor *t : {args.query, args.key, args.value, args.out}) {
    if (t->dtype != type)
      return "operands of two types";
    int64_t headDim = t->dims[3];
    if (headDim > kFlashHeadDim || headDim % kUnit)
      return "a head dim of " + std::to_string(headDim);
    if (strideFromLast(*t, 0) != 1 && headDim > 1)
      return "head dims that are not contiguous";
    for (uint32_t back = 1; back < 4; ++back)
      if (strideFromLast(*t, back) % kUnit)
        return "rows that are no multiple of 16 bytes apart";
  }
  return args.query->dims[0] * args.query->dims[1] > 65535
             ? "more heads than a grid has"
             : "";
}

namespace {

class OwnAttention : public Command {
public:
  OwnAttention(CudaQueue &queue, const PreparedStep &step, std::string refusal)
      : queue(queue), step(step), refusal(std::move(refusal)),
        why(whyNotFlash(step.attention)) {
    const AttentionArgs &args = step.attention;
    const int64_t *q = args.query->dims;
    parameters.query = operand(args.query);
    parameters.key = operand(args.key);
    parameters.value = operand(args.value);
    parameters.out = operand(args.out);
    parameters.mask = operand(args.mask);
    parameters.batches = q[0];
    parameters.heads = q[1];
    parameters.queries = q[2];
    parameters.headDim = q[3];
    parameters.keys = args.key->dims[2];
    parameters.valueDim = args.value->dims[3];
    parameters.group = q[1] ? q[1] / args.key->dims[1] : 1;
    parameters.scale = args.scale;
    parameters.causal = args.causal;
    if (why.empty()) {
      flash = queue.device.ownKernels().flashAttention(
          args.query->dtype == DType::BF16,
          std::max(q[3], args.value->dims[3]) > 64);
      flashGrid = uint32_t((q[2] + kFlashQueries - 1) / kFlashQueries);
    }
    int64_t items = q[0] * q[1] * q[2];
    int64_t blocks = (items + kAttentionQueries - 1) / kAttentionQueries;
    shared = int64_t(kAttentionQueries) * q[3] * int64_t(sizeof(float));
    constexpr int64_t kShared = 48 * 1024;
    require(blocks <= INT32_MAX && shared <= kShared, FP8RT_INCOMPATIBLE,
            "attention over ", items, " queries of ", q[3],
            " elements is too large for a GPU");
    grid = uint32_t(blocks);
  }

  std::string describe() const override {
    return "own kernel: " + refusal +
           (why.empty() ? "" : "; no tensor cores: " + why);
  }

  void run() override {
    if (!grid || !parameters.valueDim)
      return;
    const AttentionArgs &args = step.attention;
    parameters.query.data = args.query->data;
    parameters.key.data = args.key->data;
    parameters.value.data = args.value->data;
    parameters.out.data = args.out->data;
    parameters.mask.data = args.mask ? args.mask->data : nullptr;
    void *arguments[] = {&parameters};
    auto address = [](const Tensor *t) {
      return reinterpret_cast<uintptr_t>(t->data);
    };
    uintptr_t low = address(args.query) | address(args.key) |
                    address(args.value) | address(args.out);
    if (flash && low % kFlashAlignment == 0)
      return queue.launch(flash, flashGrid,
                          uint32_t(parameters.batches * parameters.heads),
                          kFlashThreads, 0, arguments);
    if (!function)
      function = queue.device.ownKernels().attention();
    queue.launch(function, grid, 1, kAttentionThreads, uint32_t(shared),
                 arguments);
  }

private:
  static AttentionOperand operand(const Tensor *tensor) {
    AttentionOperand result{};
    if (!tensor)
      return result;
    result.type = static_cast<Type>(tensor->dtype);
    for (uint32_t i = 0; i < 4; ++i)
      result.strides[i] = strideFromLast(*tensor, 3 - i);
    return result;
  }

  CudaQueue &queue;
  const PreparedStep &step;
  /// Why no library, and why not `flash`.
  std::string refusal, why;
  Function flash = nullptr, function = nullptr;
  uint32_t flashGrid = 0;
  AttentionParams parameters{};
  int64_t shared;
  uint32_t grid;
};

} // namespace

std::unique_ptr<Command>
fp8c::rt::cuda::makeOwnAttention(CudaQueue &queue, const PreparedStep &step,
                                 std::string why) {
  return std::make_unique<OwnAttention>(queue, step, std::move(why));
}
