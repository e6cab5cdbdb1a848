//===- LibraryAttention.cpp - Attention by cuDNN --------------------------===//
//
// Part of fp8c, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "../MemoryPlanner.h"
#include "Attention.h"
#include "AttentionGraph.h"
#include "LibraryCall.h"

#include <array>
#include <cmath>
#include <optional>
#include <sstream>

using namespace fp8c::rt;
using namespace fp8c::rt::cuda;

static constexpr int64_t kLargestHeadDim = 256;

/// Why the library is not asked, or "".
static std::string whyNot(const AttentionArgs &args) {
  DType type = args.query->dtype;
  if (type != DType::BF16 && type != DType::F16)
    return std::string("operands of ") + dtypeName(type);
  if (args.mask && args.mask->dtype != DType::Bool &&
      args.mask->dtype != type && args.mask->dtype != DType::F32)
    return std::string("a mask of ") + dtypeName(args.mask->dtype);
  constexpr int64_t kUnit = kAttentionAlignment / 2;
  for (const Tensor *t : {args.query, args.key, args.value, args.out}) {
    if (t->dtype != type)
      return "operands of two types";
    if (!t->elements)
      return "an empty operand";
    if (t->dims[3] > kLargestHeadDim || t->dims[3] % kUnit)
      return "a head dim of " + std::to_string(t->dims[3]);
    if (t->strides[3] != 1)
      return "head dims that are not contiguous";
    for (int i = 0; i < 3; ++i)
      if (t->dims[i] > 1 && (t->strides[i] <= 0 || t->strides[i] % kUnit))
        return "rows that are no multiple of 16 bytes apart";
  }
  return "";
}

static std::string makeKey(const AttentionArgs &args, const MaskBias *bias) {
  std::ostringstream key;
  key << int(args.query->dtype) << args.causal;
  for (const Tensor *t : {args.query, args.key, args.value, args.out}) {
    const Layout layout(*t);
    for (int i = 0; i < 4; ++i)
      key << ' ' << layout.dims[i] << ':' << layout.strides[i];
  }
  if (bias) {
    key << " mask " << int(bias->dtype());
    for (int i = 0; i < 4; ++i)
      key << ' ' << bias->dims()[i];
  }
  return key.str();
}

namespace {
/// The library keeps no stream, which may end with its recording.
struct StreamScope {
  ~StreamScope() { library.setStream(library.handle, nullptr); }
  Cudnn &library;
};

class LibraryAttention : public Command {
public:
  LibraryAttention(CudaQueue &queue, Cudnn &library, const PreparedStep &step,
                   std::shared_ptr<CudnnPlan> plan,
                   std::optional<MaskBias> bias)
      : queue(queue), library(library), step(step), plan(std::move(plan)),
        bias(std::move(bias)), call(queue) {}

  int64_t scratchBytes() const override {
    return biasOffset() + (bias ? bias->bytes() : 0);
  }
  std::string describe() const override {
    return "cuDNN " + std::to_string(library.getVersion());
  }
  void run() override;

private:
  /// The mask lies behind the library's workspace.
  int64_t biasOffset() const {
    return alignUp(plan->workspace, kScratchAlignment);
  }
  /// Addresses of operands, then of the workspace.
  using Addresses = std::array<void *, 5>;
  void makePack(const Addresses &addresses);

  CudaQueue &queue;
  Cudnn &library;
  const PreparedStep &step;
  std::shared_ptr<CudnnPlan> plan;
  std::optional<MaskBias> bias;
  LibraryCall call;
  float scale = 1, lowest = -INFINITY;
  /// What the library is given, made again when an address changes.
  std::optional<CudnnObject> pack;
  Addresses packed{};
  /// Ours, for addresses that the library does not take; made when needed.
  std::unique_ptr<Command> own;
};
} // namespace

void LibraryAttention::makePack(const Addresses &addresses) {
  pack.reset();
  scale = step.attention.scale;
  std::vector<int64_t> ids = {Query, Key, Value, Out, Scale};
  std::vector<void *> pointers(addresses.begin(), addresses.end() - 1);
  pointers.push_back(&scale);
  if (step.attention.causal) {
    ids.push_back(Lowest);
    pointers.push_back(&lowest);
  }
  if (bias) {
    ids.push_back(Bias);
    pointers.push_back(queue.scratch() + biasOffset());
  }
  pack.emplace(library, CudnnKind::VariantPack);
  pack->setAll(CudnnAttribute::PackIds, ids.data(), ids.size());
  pack->setAll(CudnnAttribute::PackPointers, pointers.data(), ids.size());
  pack->set(CudnnAttribute::PackWorkspace, addresses[4]);
  pack->finalize();
  packed = addresses;
}

void LibraryAttention::run() {
  const AttentionArgs &args = step.attention;
  uintptr_t low = 0;
  for (const Tensor *t : {args.query, args.key, args.value, args.out})
    low |= reinterpret_cast<uintptr_t>(t->data);
  if (low % kAttentionAlignment) {
    if (!own)
      own = makeOwnAttention(queue, step, "an operand is not aligned to 16");
    return own->run();
  }
  const Addresses now = {args.query->data, args.key->data, args.value->data,
                         args.out->data, queue.scratch()};
  if (bias)
    bias->write(queue.scratch() + biasOffset());
  call.run(now.data(), now.size(), [&](Stream stream) {
    if (!pack || now != packed)
      makePack(now);
    std::lock_guard<std::mutex> lock(library.mutex);
    library.check(library.setStream(library.handle, stream), "cudnnSetStream");
    StreamScope scope{library};
    library.check(
        library.execute(library.handle, plan->plan.get(), pack->get()),
        "cudnnBackendExecute");
  });
  if (bias)
    bias->clearRows(queue.scratch() + biasOffset());
}

std::unique_ptr<Command>
fp8c::rt::cuda::makeLibraryAttention(CudaQueue &queue, Cudnn &library,
                                     const PreparedStep &step,
                                     std::string &why) {
  const AttentionArgs &args = step.attention;
  why = whyNot(args);
  if (!why.empty())
    return nullptr;
  std::optional<MaskBias> bias;
  if (args.mask)
    bias.emplace(queue, args);
  const MaskBias *added = bias ? &*bias : nullptr;
  std::lock_guard<std::mutex> lock(library.mutex);
  const std::string key = makeKey(args, added);
  auto known = library.plans.find(key);
  if (known == library.plans.end())
    try {
      known =
          library.plans.emplace(key, makeAttentionPlan(library, args, added))
              .first;
    } catch (const Error &error) {
      why = "cuDNN refuses it: " + error.message;
      return nullptr;
    }
  return std::make_unique<LibraryAttention>(queue, library, step, known->second,
                                            std::move(bias));
}
