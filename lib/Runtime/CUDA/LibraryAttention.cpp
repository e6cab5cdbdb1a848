//===- LibraryAttention.cpp - Attention by cuDNN --------------------------===//
//
// Part of fp8c, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Attention.h"

#include "Cudnn.h"

#include <array>
#include <cmath>
#include <optional>
#include <sstream>

using namespace fp8c::rt;
using namespace fp8c::rt::cuda;

namespace {

/// What addresses, and strides in bytes, are multiples of.
constexpr int64_t kAttentionAlignment = 16;
constexpr int64_t kLargestHeadDim = 256;

/// Names of a plan's tensors; those between its operations follow.
enum TensorId : int64_t { Query = 1, Key, Value, Out, Scale, Lowest, Between };

/// Extents and strides of batch, head, row and column.
struct Layout {
  int64_t dims[4], strides[4];

  explicit Layout(const Tensor &t) {
    for (int i = 3; i >= 0; --i) {
      dims[i] = t.dims[i];
      // The stride of a dim of 1 says nothing, but the library looks at it.
      strides[i] = dims[i] != 1 ? t.strides[i]
                   : i == 3     ? 1
                                : dims[i + 1] * strides[i + 1];
    }
  }
  /// Dense.
  Layout(int64_t batch, int64_t head, int64_t row, int64_t column)
      : dims{batch, head, row, column},
        strides{head * row * column, row * column, column, 1} {}
  Layout transposed() const {
    Layout result = *this;
    std::swap(result.dims[2], result.dims[3]);
    std::swap(result.strides[2], result.strides[3]);
    return result;
  }
};

/// Builds the operations that the library knows as attention: the two products
/// and, between them, scale, mask and softmax one by one.
class GraphBuilder {
public:
  GraphBuilder(Cudnn &library, const AttentionArgs &args)
      : library(library), args(args),
        type(args.query->dtype == DType::BF16 ? CudnnType::BF16
                                              : CudnnType::F16) {}

  std::shared_ptr<CudnnPlan> build();

private:
  CudnnDescriptor makeTensor(CudnnType type, const Layout &layout, int64_t id,
                             bool isVirtual, bool isValue);
  CudnnDescriptor between(CudnnType type, const Layout &layout) {
    return makeTensor(type, layout, nextId++, true, false);
  }
  CudnnDescriptor number(int64_t id) {
    return makeTensor(CudnnType::F32, Layout(1, 1, 1, 1), id, false, true);
  }
  void multiply(CudnnDescriptor a, CudnnDescriptor b, CudnnDescriptor c);
  CudnnDescriptor reduce(CudnnReduction how, CudnnDescriptor x);
  /// `result`: what `out` lies in.
  CudnnDescriptor pointwise(CudnnPointwise mode, CudnnDescriptor x,
                            CudnnDescriptor b, CudnnType precision,
                            CudnnDescriptor out, CudnnDescriptor t = nullptr,
                            int64_t axis = -1);
  CudnnDescriptor keep(CudnnObject object) {
    objects.push_back(std::move(object));
    return objects.back().get();
  }
  CudnnDescriptor addOperation(CudnnObject operation) {
    operation.finalize();
    operations.push_back(keep(std::move(operation)));
    return operations.back();
  }
  std::shared_ptr<CudnnPlan> choose(CudnnDescriptor graph, CudnnHeuristic mode);

  Cudnn &library;
  const AttentionArgs &args;
  const CudnnType type;
  int64_t nextId = Between;
  std::vector<CudnnObject> objects;
  std::vector<CudnnDescriptor> operations;
};

} // namespace

CudnnDescriptor GraphBuilder::makeTensor(CudnnType type, const Layout &layout,
                                         int64_t id, bool isVirtual,
                                         bool isValue) {
  CudnnObject tensor(library, CudnnKind::Tensor);
  tensor.set(CudnnAttribute::TensorType, type);
  tensor.setAll(CudnnAttribute::TensorDims, layout.dims, 4);
  tensor.setAll(CudnnAttribute::TensorStrides, layout.strides, 4);
  tensor.set(CudnnAttribute::TensorId, id);
  tensor.set(CudnnAttribute::TensorAlignment, kAttentionAlignment);
  tensor.set(CudnnAttribute::TensorIsVirtual, isVirtual);
  tensor.set(CudnnAttribute::TensorIsByValue, isValue);
  tensor.finalize();
  return keep(std::move(tensor));
}

void GraphBuilder::multiply(CudnnDescriptor a, CudnnDescriptor b,
                            CudnnDescriptor c) {
  CudnnObject matmul(library, CudnnKind::Matmul);
  matmul.set(CudnnAttribute::MatmulPrecision, CudnnType::F32);
  matmul.finalize();
  CudnnDescriptor desc = keep(std::move(matmul));
  CudnnObject operation(library, CudnnKind::MatmulOp);
  operation.set(CudnnAttribute::MatmulOpDesc, desc);
  operation.set(CudnnAttribute::MatmulOpA, a);
  operation.set(CudnnAttribute::MatmulOpB, b);
  operation.set(CudnnAttribute::MatmulOpC, c);
  addOperation(std::move(operation));
}

CudnnDescriptor GraphBuilder::reduce(CudnnReduction how, CudnnDescriptor x) {
  const int64_t *q = args.query->dims;
  CudnnDescriptor result = between(CudnnType::F32, Layout(q[0], q[1], q[2], 1));
  CudnnObject reduction(library, CudnnKind::Reduction);
  reduction.set(CudnnAttribute::ReductionPrecision, CudnnType::F32);
  reduction.set(CudnnAttribute::ReductionOperator, how);
  reduction.finalize();
  CudnnDescriptor desc = keep(std::move(reduction));
  CudnnObject operation(library, CudnnKind::ReductionOp);
  operation.set(CudnnAttribute::ReductionOpDesc, desc);
  operation.set(CudnnAttribute::ReductionOpX, x);
  operation.set(CudnnAttribute::ReductionOpY, result);
  addOperation(std::move(operation));
  return result;
}

CudnnDescriptor GraphBuilder::pointwise(CudnnPointwise mode, CudnnDescriptor x,
                                        CudnnDescriptor b, CudnnType precision,
                                        CudnnDescriptor out, CudnnDescriptor t,
                                        int64_t axis) {
  CudnnObject pointwise(library, CudnnKind::Pointwise);
  pointwise.set(CudnnAttribute::PointwiseMode, mode);
  pointwise.set(CudnnAttribute::PointwisePrecision, precision);
  if (axis >= 0)
    pointwise.set(CudnnAttribute::PointwiseAxis, axis);
  pointwise.finalize();
  CudnnDescriptor desc = keep(std::move(pointwise));
  CudnnObject operation(library, CudnnKind::PointwiseOp);
  operation.set(CudnnAttribute::PointwiseOpDesc, desc);
  operation.set(CudnnAttribute::PointwiseOpX, x);
  if (b)
    operation.set(CudnnAttribute::PointwiseOpB, b);
  if (t)
    operation.set(CudnnAttribute::PointwiseOpT, t);
  operation.set(CudnnAttribute::PointwiseOpY, out);
  addOperation(std::move(operation));
  return out;
}

std::shared_ptr<CudnnPlan> GraphBuilder::build() {
  const int64_t *q = args.query->dims;
  const Layout scores(q[0], q[1], q[2], args.key->dims[2]);
  const Layout rows(q[0], q[1], q[2], 1);
  auto f32 = [&](const Layout &layout) {
    return between(CudnnType::F32, layout);
  };
  auto stored = [&](const Tensor *t, int64_t id, bool isTransposed = false) {
    Layout layout(*t);
    return makeTensor(type, isTransposed ? layout.transposed() : layout, id,
                      false, false);
  };

  CudnnDescriptor last = f32(scores);
  multiply(stored(args.query, Query), stored(args.key, Key, true), last);
  last = pointwise(CudnnPointwise::Mul, last, number(Scale), CudnnType::F32,
                   f32(scores));
  if (args.causal) {
    CudnnDescriptor row =
        pointwise(CudnnPointwise::Index, last, nullptr, CudnnType::F32,
                  between(CudnnType::I32, scores), nullptr, 2);
    CudnnDescriptor column =
        pointwise(CudnnPointwise::Index, last, nullptr, CudnnType::F32,
                  between(CudnnType::I32, scores), nullptr, 3);
    CudnnDescriptor isSeen =
        pointwise(CudnnPointwise::CompareGe, row, column, CudnnType::Bool,
                  between(CudnnType::Bool, scores));
    last = pointwise(CudnnPointwise::Select, last, number(Lowest),
                     CudnnType::F32, f32(scores), isSeen);
  }
  CudnnDescriptor most = reduce(CudnnReduction::Max, last);
  last =
      pointwise(CudnnPointwise::Sub, last, most, CudnnType::F32, f32(scores));
  last = pointwise(CudnnPointwise::Exp, last, nullptr, CudnnType::F32,
                   f32(scores));
  CudnnDescriptor sum = reduce(CudnnReduction::Add, last);
  // The library's pattern has the statistics of training; nobody reads them.
  CudnnDescriptor log =
      pointwise(CudnnPointwise::Log, sum, nullptr, CudnnType::F32, f32(rows));
  pointwise(CudnnPointwise::Add, most, log, CudnnType::F32, f32(rows));
  last = pointwise(CudnnPointwise::Div, last, sum, CudnnType::F32,
                   between(type, scores));
  multiply(last, stored(args.value, Value), stored(args.out, Out));

  CudnnObject graph(library, CudnnKind::OperationGraph);
  graph.set(CudnnAttribute::GraphHandle, library.handle);
  graph.setAll(CudnnAttribute::GraphOps, operations.data(), operations.size());
  graph.finalize();
  CudnnDescriptor whole = keep(std::move(graph));
  if (auto plan = choose(whole, CudnnHeuristic::A))
    return plan;
  auto plan = choose(whole, CudnnHeuristic::Fallback);
  require(plan != nullptr, FP8RT_INCOMPATIBLE, "no engine computes it");
  return plan;
}

std::shared_ptr<CudnnPlan> GraphBuilder::choose(CudnnDescriptor graph,
                                                CudnnHeuristic mode) {
  constexpr int64_t kCandidates = 8;
  CudnnObject heuristic(library, CudnnKind::EngineHeuristic);
  heuristic.set(CudnnAttribute::HeuristicGraph, graph);
  heuristic.set(CudnnAttribute::HeuristicMode, mode);
  if (library.finalize(heuristic.get()) != 0)
    return nullptr;
  std::vector<CudnnObject> configs;
  CudnnDescriptor handles[kCandidates];
  for (CudnnDescriptor &handle : handles)
    handle = configs.emplace_back(library, CudnnKind::EngineConfig).get();
  int64_t count = 0;
  if (library.get(heuristic.get(), int(CudnnAttribute::HeuristicResults),
                  CudnnAttributeType<CudnnDescriptor>::value, kCandidates,
                  &count, handles) != 0)
    return nullptr;
  for (int64_t i = 0; i < std::min(count, kCandidates); ++i) {
    CudnnObject plan(library, CudnnKind::ExecutionPlan);
    plan.set(CudnnAttribute::PlanHandle, library.handle);
    plan.set(CudnnAttribute::PlanConfig, handles[i]);
    int64_t workspace = 0, written = 0;
    if (library.finalize(plan.get()) != 0 ||
        library.get(plan.get(), int(CudnnAttribute::PlanWorkspace),
                    CudnnAttributeType<int64_t>::value, 1, &written,
                    &workspace) != 0)
      continue;
    return std::make_shared<CudnnPlan>(CudnnPlan{std::move(plan), workspace});
  }
  return nullptr;
}

/// Why the library is not asked, or "".
static std::string whyNot(const AttentionArgs &args) {
  DType type = args.query->dtype;
  if (type != DType::BF16 && type != DType::F16)
    return std::string("operands of ") + dtypeName(type);
  // A row whose keys are all masked is NaN there, 0 in PyTorch.
  if (args.mask)
    return "a mask";
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

static std::string makeKey(const AttentionArgs &args) {
  std::ostringstream key;
  key << int(args.query->dtype) << args.causal;
  for (const Tensor *t : {args.query, args.key, args.value, args.out}) {
    const Layout layout(*t);
    for (int i = 0; i < 4; ++i)
      key << ' ' << layout.dims[i] << ':' << layout.strides[i];
  }
  return key.str();
}

namespace {
class LibraryAttention : public Command {
public:
  LibraryAttention(CudaQueue &queue, Cudnn &library, const PreparedStep &step,
                   std::shared_ptr<CudnnPlan> plan)
      : queue(queue), library(library), step(step), plan(std::move(plan)) {}

  int64_t scratchBytes() const override { return plan->workspace; }
  std::string describe() const override {
    return "cuDNN " + std::to_string(library.getVersion());
  }
  void run() override;

private:
  /// Addresses of operands, then of the workspace.
  using Addresses = std::array<void *, 5>;
  void makePack(const Addresses &addresses);

  CudaQueue &queue;
  Cudnn &library;
  const PreparedStep &step;
  std::shared_ptr<CudnnPlan> plan;
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
  const int64_t ids[] = {Query, Key, Value, Out, Scale, Lowest};
  void *pointers[] = {addresses[0], addresses[1], addresses[2],
                      addresses[3], &scale,       &lowest};
  const size_t count = step.attention.causal ? 6 : 5;
  pack.emplace(library, CudnnKind::VariantPack);
  pack->setAll(CudnnAttribute::PackIds, ids, count);
  pack->setAll(CudnnAttribute::PackPointers, pointers, count);
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
  if (!pack || now != packed)
    makePack(now);
  std::lock_guard<std::mutex> lock(library.mutex);
  library.check(library.setStream(library.handle, queue.stream),
                "cudnnSetStream");
  library.check(library.execute(library.handle, plan->plan.get(), pack->get()),
                "cudnnBackendExecute");
}

std::unique_ptr<Command>
fp8c::rt::cuda::makeLibraryAttention(CudaQueue &queue, Cudnn &library,
                                     const PreparedStep &step,
                                     std::string &why) {
  const AttentionArgs &args = step.attention;
  why = whyNot(args);
  if (!why.empty())
    return nullptr;
  std::lock_guard<std::mutex> lock(library.mutex);
  const std::string key = makeKey(args);
  auto known = library.plans.find(key);
  if (known == library.plans.end())
    try {
      known =
          library.plans.emplace(key, GraphBuilder(library, args).build()).first;
    } catch (const Error &error) {
      why = "cuDNN refuses it: " + error.message;
      return nullptr;
    }
  return std::make_unique<LibraryAttention>(queue, library, step,
                                            known->second);
}
