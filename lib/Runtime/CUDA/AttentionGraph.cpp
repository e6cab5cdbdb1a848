//===- AttentionGraph.cpp - Attention as cuDNN's operations ---------------===//
//
// Part of fp8c, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "AttentionGraph.h"

#include <algorithm>

using namespace fp8c::rt;
using namespace fp8c::rt::cuda;

namespace {

/// Builds the operations that the library knows as attention: the two products
/// and, between them, scale, mask and softmax one by one.
class GraphBuilder {
public:
  GraphBuilder(Cudnn &library, const AttentionArgs &args, const MaskBias *bias)
      : library(library), args(args), bias(bias),
        type(getType(args.query->dtype)) {}

  std::shared_ptr<CudnnPlan> build();

private:
  static CudnnType getType(DType type) {
    return type == DType::BF16  ? CudnnType::BF16
           : type == DType::F16 ? CudnnType::F16
                                : CudnnType::F32;
  }
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
  const MaskBias *bias;
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
  if (bias)
    last = pointwise(
        CudnnPointwise::Add, last,
        makeTensor(getType(bias->dtype()), Layout(*bias), Bias, false, false),
        CudnnType::F32, f32(scores));
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

std::shared_ptr<CudnnPlan>
fp8c::rt::cuda::makeAttentionPlan(Cudnn &library, const AttentionArgs &args,
                                  const MaskBias *bias) {
  return GraphBuilder(library, args, bias).build();
}
