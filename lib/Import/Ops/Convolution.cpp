//===- Convolution.cpp - Convolutions as products of patches -----------===//
//
// Part of fp8c, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Products.h"

using namespace mlir;
using namespace fp8c;
using namespace fp8c::import;

namespace {
/// A convolution over any number of positions' dims.
struct Window {
  SmallVector<int64_t> stride, padding, dilation;
  int64_t groups = 1;
};
} // namespace

/// A list with a number for each of `count` dims; one number stands for all.
static FailureOr<SmallVector<int64_t>> perDim(ImportContext &c, StringRef name,
                                              unsigned count, int64_t least) {
  SmallVector<int64_t> result;
  for (OpFoldResult size : c.sizes(name)) {
    std::optional<int64_t> number = getConstantIntValue(size);
    if (!number || *number < least)
      return c.error() << "'" << name << "' must be numbers of at least "
                       << least;
    result.push_back(*number);
  }
  if (result.size() == 1)
    result.resize(count, result[0]);
  if (result.size() != count)
    return c.error() << "'" << name << "' must have " << count
                     << " numbers, got " << result.size();
  return result;
}

/// (groups, batch, out positions..., channels / groups, kernel...): the input
/// under each position of the kernel, zero outside of it.
static Value makePatches(ImportContext &c, Value input, const Window &window,
                         const Sizes &positions, const Sizes &kernel) {
  GraphBuilder &g = c.graph;
  SizeArith &arith = g.arith;
  unsigned dims = positions.size();
  Sizes inputSizes = g.sizes(input);
  OpFoldResult channels =
      arith.exactDiv(inputSizes[1], arith.constant(window.groups));
  Sizes sizes{arith.constant(window.groups), inputSizes[0]};
  llvm::append_range(sizes, positions);
  sizes.push_back(channels);
  llvm::append_range(sizes, kernel);
  Type type = elementOf(input);
  return g.generate(sizes, type, [&](Scalars &s, ValueRange v) {
    OpBuilder &builder = s.getBuilder();
    Type indexType = builder.getIndexType();
    auto number = [&](int64_t value) { return s.integer(indexType, value); };
    auto size = [&](OpFoldResult value) {
      auto constant = getConstantIntValue(value);
      return constant ? number(*constant) : cast<Value>(value);
    };
    Value channel = v[2 + dims];
    if (window.groups != 1)
      channel = s.add(s.mul(v[0], size(channels)), channel);
    SmallVector<Value> position{v[1], channel};
    Value inside;
    for (unsigned i = 0; i < dims; ++i) {
      Value at = s.mul(v[2 + i], number(window.stride[i]));
      Value tap = s.mul(v[3 + dims + i], number(window.dilation[i]));
      at = s.add(at, tap);
      if (window.padding[i] != 0) {
        at = s.sub(at, number(window.padding[i]));
        Value last = s.sub(size(inputSizes[2 + i]), number(1));
        Value clamped = s.max(s.min(at, last), number(0));
        Value fits = s.compare(Compare::EQ, at, clamped);
        inside = inside ? s.mul(inside, fits) : fits;
        at = clamped;
      }
      position.push_back(at);
    }
    Value element = g.extract(s, input, position);
    if (!inside)
      return element;
    return s.select(inside, element, s.number(type, 0));
  });
}

static Results convolve(ImportContext &c, const Window &window) {
  Value input = c.tensor("input"), weight = c.tensor("weight");
  Value bias = c.optionalTensor("bias");
  GraphBuilder &g = c.graph;
  SizeArith &arith = g.arith;
  if (failed(requireProductTypes(c, {input, weight})))
    return failure();
  unsigned dims = window.stride.size();
  Sizes inputSizes = g.sizes(input), weightSizes = g.sizes(weight);
  Sizes kernel(ArrayRef(weightSizes).drop_front(2));
  Sizes positions;
  for (unsigned i = 0; i < dims; ++i) {
    // (size + 2 * padding - dilation * (kernel - 1) - 1) / stride + 1
    OpFoldResult reach = arith.mul(arith.constant(window.dilation[i]),
                                   arith.sub(kernel[i], arith.constant(1)));
    OpFoldResult room = arith.sub(
        arith.add(inputSizes[2 + i], arith.constant(2 * window.padding[i] - 1)),
        reach);
    positions.push_back(
        arith.add(arith.floorDiv(room, arith.constant(window.stride[i])),
                  arith.constant(1)));
  }
  Value patches = makePatches(c, input, window, positions, kernel);
  OpFoldResult rows = arith.mul(inputSizes[0], arith.product(positions));
  OpFoldResult depth = arith.product(ArrayRef(weightSizes).drop_front(1));
  Type type = c.outputType();
  Value result; // (batch, positions..., out channels)
  Sizes resultSizes{inputSizes[0]};
  llvm::append_range(resultSizes, positions);
  if (window.groups == 1) {
    Value matrix =
        g.transpose(g.reshape(weight, {weightSizes[0], depth}), 0, 1);
    result =
        makeMatmul(g, g.reshape(patches, {rows, depth}), matrix, bias, type);
    resultSizes.push_back(weightSizes[0]);
    result = g.reshape(result, resultSizes);
  } else {
    OpFoldResult groups = arith.constant(window.groups);
    OpFoldResult channels = arith.exactDiv(weightSizes[0], groups);
    Value matrix =
        g.transpose(g.reshape(weight, {groups, channels, depth}), 1, 2);
    Type f32 = g.getBuilder().getF32Type();
    result = makeMatmul(g, g.reshape(patches, {groups, rows, depth}), matrix,
                        Value(), bias ? f32 : type);
    resultSizes.push_back(weightSizes[0]);
    result = g.reshape(g.permute(result, {1, 0, 2}), resultSizes);
    if (bias)
      result =
          g.elementwise({result, bias}, type, [&](Scalars &s, ValueRange v) {
            return s.convert(s.add(v[0], s.convert(v[1], f32)), type);
          });
  }
  SmallVector<int64_t> order{0, static_cast<int64_t>(dims) + 1};
  for (unsigned i = 0; i < dims; ++i)
    order.push_back(1 + i);
  return one(g.permute(result, order));
}

/// Reads the window of a convolution over `dims` dims and checks its shapes.
static FailureOr<Window> readWindow(ImportContext &c, int64_t dims) {
  Value input = c.tensor("input"), weight = c.tensor("weight");
  if (dims < 1 || rankOf(input) != dims + 2 || rankOf(weight) != dims + 2)
    return c.error() << "expected an input and a weight with " << dims + 2
                     << " dims, got " << rankOf(input) << " and "
                     << rankOf(weight);
  FailureOr<SmallVector<int64_t>> stride = perDim(c, "stride", dims, 1);
  FailureOr<SmallVector<int64_t>> padding = perDim(c, "padding", dims, 0);
  FailureOr<SmallVector<int64_t>> dilation = perDim(c, "dilation", dims, 1);
  if (failed(stride) || failed(padding) || failed(dilation))
    return failure();
  std::optional<int64_t> groups = getConstantIntValue(c.size("groups"));
  SizeArith &arith = c.graph.arith;
  OpFoldResult expected;
  if (groups && *groups > 0)
    expected = arith.exactDiv(c.graph.size(input, 1), arith.constant(*groups));
  if (!expected ||
      !arith.exactDiv(c.graph.size(weight, 0), arith.constant(*groups)))
    return c.error() << "channels must be a multiple of 'groups'";
  if (!arith.equal(expected, c.graph.size(weight, 1)))
    return c.error() << "the weight's channels must be the input's divided by "
                        "'groups'";
  return Window{*stride, *padding, *dilation, *groups};
}

template <int64_t dims> static Results convolutionOver(ImportContext &c) {
  FailureOr<Window> window = readWindow(c, dims);
  if (failed(window))
    return failure();
  return convolve(c, *window);
}

static Results convolution(ImportContext &c) {
  if (c.boolean("transposed"))
    return c.error() << "transposed convolutions are not supported";
  FailureOr<Window> window = readWindow(c, rankOf(c.tensor("input")) - 2);
  if (failed(window))
    return failure();
  return convolve(c, *window);
}

void fp8c::import::addConvolutionOps(OpTable &table) {
  auto add = [&](StringRef name, StringRef schema, Converter convert) {
    table.add("convolutions", ("aten." + name + ".default").str(), schema,
              convert);
  };
  add("convolution",
      "Tensor input, Tensor weight, Tensor? bias, SymInt[] stride, SymInt[] "
      "padding, SymInt[] dilation, bool transposed, SymInt[] output_padding, "
      "SymInt groups",
      convolution);
  StringRef schema = "Tensor input, Tensor weight, Tensor? bias=None, SymInt[] "
                     "stride=[1], SymInt[] padding=[0], SymInt[] dilation=[1], "
                     "SymInt groups=1";
  add("conv1d", schema, convolutionOver<1>);
  add("conv2d", schema, convolutionOver<2>);
  add("conv3d", schema, convolutionOver<3>);
}
