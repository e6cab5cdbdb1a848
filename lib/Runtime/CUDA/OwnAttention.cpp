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

AttentionOperand fp8c::rt::cuda::getOperand(const Tensor *tensor) {
  AttentionOperand result{};
  if (!tensor)
    return result;
  result.type = static_cast<Type>(tensor->dtype);
  for (uint32_t i = 0; i < 4; ++i)
    result.strides[i] = strideFromLast(*tensor, 3 - i);
  return result;
}

/// What copies of the tensor cores' kernel are aligned to, in bytes.
static constexpr uintptr_t kFlashAlignment = 16;

/// The width of the tensor cores' kernel that takes these head dims, 0 for
/// none.
static uint32_t getFlashWidth(const AttentionArgs &args) {
  const int64_t headDim = std::max(args.query->dims[3], args.value->dims[3]);
  for (uint32_t width : kFlashWidths)
    if (headDim <= width)
      return width;
  return 0;
}

/// Why the tensor cores' kernel does not compute it, or "".
static std::string whyNotFlash(const AttentionArgs &args) {
  DType type = args.query->dtype;
  if (type != DType::BF16 && type != DType::F16)
    return std::string("operands of ") + dtypeName(type);
  for (const Tensor *t : {args.key, args.value, args.out})
    if (t->dtype != type)
      return "operands of two types";
  if (args.mask && args.mask->dtype != type &&
      args.mask->dtype != DType::Bool && args.mask->dtype != DType::F32)
    return std::string("a mask of ") + dtypeName(args.mask->dtype);
  if (!getFlashWidth(args))
    return "a head dim of " +
           std::to_string(std::max(args.query->dims[3], args.value->dims[3]));
  // The second dim of a grid, and 32 bits for rows.
  constexpr int64_t kMaxHeads = 65535, kMaxRows = int64_t(1) << 30;
  if (args.query->dims[0] * args.query->dims[1] > kMaxHeads)
    return "more heads than a grid has";
  return std::max(args.query->dims[2], args.key->dims[2]) > kMaxRows
             ? "more than 2^30 rows"
             : "";
}

/// Whether rows are whole chunks as the tensor cores' kernel copies them.
static bool isChunked(const AttentionArgs &args) {
  constexpr int64_t kUnit = kFlashAlignment / 2;
  for (const Tensor *t : {args.query, args.key, args.value, args.out}) {
    if (t->dims[3] % kUnit || (strideFromLast(*t, 0) != 1 && t->dims[3] > 1))
      return false;
    for (uint32_t back = 1; back < 4; ++back)
      if (strideFromLast(*t, back) % kUnit)
        return false;
  }
  return true;
}

namespace {

class OwnAttention : public Command {
public:
  OwnAttention(CudaQueue &queue, const PreparedStep &step, std::string refusal)
      : queue(queue), step(step), refusal(std::move(refusal)),
        why(whyNotFlash(step.attention)) {
    const AttentionArgs &args = step.attention;
    const int64_t *q = args.query->dims;
    parameters.query = getOperand(args.query);
    parameters.key = getOperand(args.key);
    parameters.value = getOperand(args.value);
    parameters.out = getOperand(args.out);
    parameters.mask = getOperand(args.mask);
    parameters.batches = q[0];
    parameters.heads = q[1];
    parameters.queries = q[2];
    parameters.headDim = q[3];
    parameters.keys = args.key->dims[2];
    parameters.valueDim = args.value->dims[3];
    parameters.group = q[1] ? q[1] / args.key->dims[1] : 1;
    parameters.scale = args.scale;
    parameters.causal = args.causal;
    if (why.empty())
      setFlash();
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
    if (flashGrid) {
      parameters.isChunked = isWhole && low % kFlashAlignment == 0;
      // Only scores of a positive scale have the scaled ones' order.
      const bool isGeneral =
          args.mask || !parameters.isChunked || !(args.scale > 0);
      Function &flash = flashes[isGeneral];
      if (!flash)
        flash = queue.device.ownKernels().flashAttention(
            parameters.query.type, width, tall, isGeneral);
      return queue.launch(flash, flashGrid,
                          uint32_t(parameters.batches * parameters.heads),
                          kFlashThreads, getFlashBytes(width, tall), arguments);
    }
    if (!function)
      function = queue.device.ownKernels().attention();
    queue.launch(function, grid, 1, kAttentionThreads, uint32_t(shared),
                 arguments);
  }

private:
  /// How the tensor cores' kernel runs.
  void setFlash() {
    const AttentionArgs &args = step.attention;
    isWhole = isChunked(args);
    width = getFlashWidth(args);
    auto getBlocks = [&](uint32_t tall) {
      return (parameters.queries + getFlashQueries(tall) - 1) /
             getFlashQueries(tall);
    };
    // More queries a warp read keys less often, but few blocks leave a GPU
    // idle; results of wide heads take the registers of more queries. Element
    // by element the kernel of few is the more exact.
    constexpr uint32_t kWidest = 128;
    const int64_t heads = parameters.batches * parameters.heads;
    tall = isWhole && width <= kWidest &&
                   getBlocks(2) * heads >= queue.device.multiprocessors()
               ? 2
               : 1;
    flashGrid = uint32_t(getBlocks(tall));
  }

  CudaQueue &queue;
  const PreparedStep &step;
  /// Why no library, and why no tensor cores.
  std::string refusal, why;
  /// The tensor cores' kernels, found when needed: for whole chunks without a
  /// mask, and the general one.
  Function flashes[2] = {};
  bool isWhole = false;
  uint32_t width = 0, tall = 1, flashGrid = 0;
  /// The simple kernel.
  Function function = nullptr;
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
