//===- Norms.cpp - Normalisations --------------------------------------===//
//
// Part of fp8c, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// As PyTorch's CPU kernels: statistics and the affine step in f32, one rounding
// at the end.
//
//===----------------------------------------------------------------------===//

#include "Common.h"

using namespace mlir;
using namespace fp8c;
using namespace fp8c::import;

/// total / count over dims.
static Value average(GraphBuilder &g, Value tensor, ArrayRef<int64_t> dims,
                     GraphBuilder::Body map = nullptr) {
  Value total = g.sum(tensor, dims, /*keepDim=*/true, map);
  Value count = g.elementCount(tensor, dims, elementOf(total));
  return g.elementwise(total, elementOf(total), [&](Scalars &s, ValueRange v) {
    return s.div(v[0], count);
  });
}

/// 1 / sqrt(x + eps).
static Value inverseRoot(GraphBuilder &g, Value tensor, double eps) {
  Type type = elementOf(tensor);
  return g.elementwise(tensor, type, [&](Scalars &s, ValueRange v) {
    Value root = s.math<math::SqrtOp>(s.add(v[0], s.number(type, eps)));
    return s.div(s.number(type, 1), root);
  });
}

static Value square(Scalars &s, ValueRange v) { return s.mul(v[0], v[0]); }

/// The last dims that a `normalized_shape` names, or an error.
static FailureOr<SmallVector<int64_t>> normalizedDims(ImportContext &c,
                                                      Value input) {
  int64_t count = c.sizes("normalized_shape").size(), rank = rankOf(input);
  if (count == 0 || count > rank)
    return c.error() << "'normalized_shape' must have 1 to " << rank
                     << " dims, got " << count;
  return llvm::to_vector(llvm::seq<int64_t>(rank - count, rank));
}

/// centered * rstd (* weight) (+ bias), rounded once.
static Value affine(ImportContext &c, Value centered, Value rstd, Value weight,
                    Value bias, Type type) {
  Type compute = elementOf(rstd);
  SmallVector<Value> inputs{centered, rstd};
  if (weight)
    inputs.push_back(weight);
  if (bias)
    inputs.push_back(bias);
  return c.graph.elementwise(inputs, type, [&](Scalars &s, ValueRange v) {
    Value y = s.mul(s.convert(v[0], compute), v[1]);
    if (weight)
      y = s.mul(y, s.convert(v[2], compute));
    if (bias)
      y = s.add(y, s.convert(v.back(), compute));
    return s.convert(y, type);
  });
}

/// Layer norm; the statistics are results where the operator has them.
static Results layerNorm(ImportContext &c) {
  Value input = c.tensor("input");
  FailureOr<SmallVector<int64_t>> dims = normalizedDims(c, input);
  if (failed(dims) || failed(refuseF8(c, input)))
    return failure();
  GraphBuilder &g = c.graph;
  Type compute = getComputeType(elementOf(input));
  Value mean = average(g, input, *dims);
  Value centered =
      g.elementwise({input, mean}, compute, [&](Scalars &s, ValueRange v) {
        return s.sub(s.convert(v[0], compute), v[1]);
      });
  Value variance = average(g, centered, *dims, square);
  Value rstd = inverseRoot(g, variance, c.number("eps").asDouble());
  Value result = affine(c, centered, rstd, c.optionalTensor("weight"),
                        c.optionalTensor("bias"), c.outputType());
  if (c.getNumOutputs() == 1)
    return one(result);
  return many({result, asOutput(c, mean, 1), asOutput(c, rstd, 2)});
}

static Results rmsNorm(ImportContext &c) {
  Value input = c.tensor("input");
  FailureOr<SmallVector<int64_t>> dims = normalizedDims(c, input);
  if (failed(dims) || failed(refuseF8(c, input)))
    return failure();
  GraphBuilder &g = c.graph;
  // The default is that of the type of computation.
  double eps = elementOf(input).isF64() ? std::numeric_limits<double>::epsilon()
                                        : std::numeric_limits<float>::epsilon();
  if (c.has("eps"))
    eps = c.number("eps").asDouble();
  Value rstd = inverseRoot(g, average(g, input, *dims, square), eps);
  Value result = affine(c, input, rstd, c.optionalTensor("weight"), Value(),
                        c.outputType());
  if (c.getNumOutputs() == 1)
    return one(result);
  return many({result, asOutput(c, rstd, 1)});
}

/// x * scale + shift with one number of each a channel, as PyTorch folds the
/// statistics and the affine step.
static Value scaleAndShift(ImportContext &c, Value input, Value scale,
                           Value shift, Type type) {
  Type compute = elementOf(scale);
  return c.graph.elementwise(
      {input, scale, shift}, type, [&](Scalars &s, ValueRange v) {
        Value product = s.mul(s.convert(v[0], compute), v[1]);
        return s.convert(s.add(product, v[2]), type);
      });
}

/// scale = rstd * weight and shift = bias - mean * scale.
static std::pair<Value, Value>
foldAffine(ImportContext &c, Value mean, Value rstd, Value weight, Value bias) {
  Type compute = elementOf(rstd);
  Value scale = rstd;
  if (weight)
    scale = c.graph.elementwise({rstd, weight}, compute,
                                [&](Scalars &s, ValueRange v) {
                                  return s.mul(v[0], s.convert(v[1], compute));
                                });
  SmallVector<Value> inputs{scale, mean};
  if (bias)
    inputs.push_back(bias);
  Value shift =
      c.graph.elementwise(inputs, compute, [&](Scalars &s, ValueRange v) {
        Value offset = s.mul(s.convert(v[1], compute), v[0]);
        return bias ? s.sub(s.convert(v[2], compute), offset) : s.neg(offset);
      });
  return {scale, shift};
}

static Results groupNorm(ImportContext &c, int64_t groups) {
  Value input = c.tensor("input");
  if (failed(refuseF8(c, input)))
    return failure();
  GraphBuilder &g = c.graph;
  SizeArith &arith = g.arith;
  Sizes sizes = g.sizes(input);
  if (sizes.size() < 2 || groups <= 0)
    return c.error() << "expected (batch, channels, ...) and a positive number "
                        "of groups";
  OpFoldResult perGroup = arith.exactDiv(sizes[1], arith.constant(groups));
  if (!perGroup)
    return c.error() << "the channels must be a multiple of the " << groups
                     << " groups";
  // (batch, groups, channels / groups, positions)
  OpFoldResult positions = arith.product(ArrayRef(sizes).drop_front(2));
  Value grouped =
      g.reshape(input, {sizes[0], arith.constant(groups), perGroup, positions});
  SmallVector<int64_t> dims{2, 3};
  Type compute = getComputeType(elementOf(input));
  Value mean = average(g, grouped, dims);
  Value centered =
      g.elementwise({grouped, mean}, compute, [&](Scalars &s, ValueRange v) {
        return s.sub(s.convert(v[0], compute), v[1]);
      });
  Value rstd = inverseRoot(g, average(g, centered, dims, square),
                           c.number("eps").asDouble());
  auto channels = [&](Value vector) {
    return vector ? g.reshape(vector, {arith.constant(groups), perGroup,
                                       arith.constant(1)})
                  : vector;
  };
  auto [scale, shift] =
      foldAffine(c, mean, rstd, channels(c.optionalTensor("weight")),
                 channels(c.optionalTensor("bias")));
  Value result = scaleAndShift(c, grouped, scale, shift, c.outputType());
  result = g.reshape(result, sizes);
  if (c.getNumOutputs() == 1)
    return one(result);
  Sizes statistics{sizes[0], arith.constant(groups)};
  return many({result, asOutput(c, g.reshape(mean, statistics), 1),
               asOutput(c, g.reshape(rstd, statistics), 2)});
}

static Results groupNormOp(ImportContext &c) {
  return groupNorm(c, c.integer("num_groups"));
}
static Results nativeGroupNorm(ImportContext &c) {
  return groupNorm(c, c.integer("group"));
}

/// Batch norm with the running statistics.
static Results batchNorm(ImportContext &c) {
  Value input = c.tensor("input");
  if (failed(refuseF8(c, input)))
    return failure();
  for (const Parameter &parameter : c.getEntry().parameters)
    if (parameter.name == "training" && c.boolean("training"))
      return c.error() << "batch norm in training mode is not supported: "
                          "export the model in eval mode";
  if (!c.has("running_mean") || !c.has("running_var"))
    return c.error() << "expected running statistics";
  GraphBuilder &g = c.graph;
  Sizes vectorSizes(rankOf(input), g.arith.constant(1));
  if (vectorSizes.size() < 2)
    return c.error() << "expected (batch, channels, ...)";
  vectorSizes[1] = g.size(input, 1);
  vectorSizes.erase(vectorSizes.begin());
  auto channels = [&](Value vector) {
    return vector ? g.reshape(vector, vectorSizes) : vector;
  };
  Type compute = getComputeType(elementOf(input));
  Value variance = g.convert(channels(c.tensor("running_var")), compute);
  Value rstd = inverseRoot(g, variance, c.number("eps").asDouble());
  auto [scale, shift] = foldAffine(c, channels(c.tensor("running_mean")), rstd,
                                   channels(c.optionalTensor("weight")),
                                   channels(c.optionalTensor("bias")));
  Value result = scaleAndShift(c, input, scale, shift, c.outputType());
  SmallVector<Value> results{result};
  // The saved statistics of inference are empty.
  for (unsigned i = 1; i < c.getNumOutputs(); ++i)
    results.push_back(
        g.full(c.outputSizes(i), getNumberAttr(c.outputType(i), Number())));
  return many(results);
}

void fp8c::import::addNormOps(OpTable &table) {
  auto add = [&](StringRef name, StringRef schema, Converter convert) {
    table.add("norms", ("aten." + name + ".default").str(), schema, convert);
  };
  add("layer_norm",
      "Tensor input, SymInt[] normalized_shape, Tensor? weight=None, Tensor? "
      "bias=None, float eps=1e-05, bool cudnn_enable=True",
      layerNorm);
  add("native_layer_norm",
      "Tensor input, SymInt[] normalized_shape, Tensor? weight, Tensor? bias, "
      "float eps",
      layerNorm);
  add("rms_norm",
      "Tensor input, SymInt[] normalized_shape, Tensor? weight=None, float? "
      "eps=None",
      rmsNorm);
  add("_fused_rms_norm",
      "Tensor input, SymInt[] normalized_shape, Tensor? weight, float? eps",
      rmsNorm);
  add("group_norm",
      "Tensor input, int num_groups, Tensor? weight=None, Tensor? bias=None, "
      "float eps=1e-05, bool cudnn_enabled=True",
      groupNormOp);
  add("native_group_norm",
      "Tensor input, Tensor? weight, Tensor? bias, SymInt N, SymInt C, SymInt "
      "HxW, int group, float eps",
      nativeGroupNorm);
  add("batch_norm",
      "Tensor input, Tensor? weight, Tensor? bias, Tensor? running_mean, "
      "Tensor? running_var, bool training, float momentum, float eps, bool "
      "cudnn_enabled",
      batchNorm);
  add("_native_batch_norm_legit_no_training",
      "Tensor input, Tensor? weight, Tensor? bias, Tensor running_mean, Tensor "
      "running_var, float momentum, float eps",
      batchNorm);
}
