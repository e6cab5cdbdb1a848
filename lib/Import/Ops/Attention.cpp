//===- Attention.cpp - Scaled dot-product attention --------------------===//
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

/// The heads before they were repeated for grouped queries, or the tensor
/// itself: a merge of (batch, heads, repeats, ...) that a broadcast made from
/// repeats of size 1.
static Value beforeRepeat(GraphBuilder &g, Value tensor) {
  auto merge = tensor.getDefiningOp<tensor::CollapseShapeOp>();
  if (!merge)
    return tensor;
  auto broadcast = merge.getSrc().getDefiningOp<linalg::GenericOp>();
  if (!broadcast || broadcast.getNumDpsInputs() != 1 ||
      broadcast.getNumReductionLoops() != 0 ||
      !llvm::hasSingleElement(broadcast.getRegion().front()))
    return tensor;
  auto yield = cast<linalg::YieldOp>(broadcast.getRegion().front().front());
  if (yield.getOperand(0) != broadcast.getRegion().front().getArgument(0))
    return tensor;
  Value source = broadcast.getDpsInputOperand(0)->get();
  Sizes wide = g.sizes(merge.getSrc()), narrow = g.sizes(source);
  Sizes merged = g.sizes(tensor);
  if (wide.size() != 5 || narrow.size() != 5 || merged.size() != 4 ||
      !isConstantIntValue(narrow[2], 1) ||
      !g.arith.equal(merged[1], g.arith.mul(wide[1], wide[2])))
    return tensor;
  for (unsigned dim : {0, 1, 3, 4})
    if (!g.arith.equal(wide[dim], narrow[dim]))
      return tensor;
  narrow.erase(narrow.begin() + 2);
  return g.reshape(source, narrow);
}

/// (batch, heads, rows, D): missing dims are added, more are merged.
static Value asHeads(GraphBuilder &g, Value tensor) {
  while (rankOf(tensor) < 4)
    tensor = g.unsqueeze(tensor, 0);
  if (rankOf(tensor) > 4)
    tensor = g.flatten(tensor, 0, rankOf(tensor) - 4);
  return tensor;
}

static Results attention(ImportContext &c) {
  Value query = c.tensor("query"), key = c.tensor("key"),
        value = c.tensor("value"), mask = c.optionalTensor("attn_mask");
  GraphBuilder &g = c.graph;
  if (failed(requireProductTypes(c, {query, key, value})))
    return failure();
  if (c.number("dropout_p").asDouble() != 0)
    return c.error() << "dropout draws random numbers: export the model in "
                        "eval mode";
  int64_t rank = rankOf(query);
  if (rank < 2 || rankOf(key) != rank || rankOf(value) != rank)
    return c.error() << "expected query, key and value of one rank of at least "
                        "2";
  if (mask && rankOf(mask) > 4)
    return c.error() << "expected a mask of at most 4 dims, got "
                     << rankOf(mask);
  if (mask && c.boolean("is_causal"))
    return c.error() << "a mask and 'is_causal' exclude each other";
  if (mask && !elementOf(mask).isInteger(1) && !isa<FloatType>(elementOf(mask)))
    return c.error() << "expected a mask of bools or floats, got "
                     << elementOf(mask);
  if (rank > 4 && mask)
    return c.error() << "a mask over more than 4 dims is not supported";

  Sizes sizes = g.sizes(query);
  sizes.back() = g.size(value, -1);
  OpFoldResult depth = g.size(query, -1);
  std::optional<int64_t> width = getConstantIntValue(depth);
  double scale;
  if (c.has("scale"))
    scale = c.number("scale").asDouble();
  else if (width && *width > 0)
    scale = 1.0 / std::sqrt(static_cast<double>(*width));
  else
    return c.error() << "the width of a head must be a known number";

  Value q = asHeads(g, query), k = asHeads(g, key), v = asHeads(g, value);
  Value narrowKey = beforeRepeat(g, k), narrowValue = beforeRepeat(g, v);
  if (narrowKey != k && narrowValue != v &&
      g.arith.equal(g.size(narrowKey, 1), g.size(narrowValue, 1))) {
    k = narrowKey;
    v = narrowValue;
  }
  // Heads of keys that divide those of queries are grouped queries.
  OpFoldResult queryHeads = g.size(q, 1), keyHeads = g.size(k, 1);
  if (!g.arith.exactDiv(queryHeads, keyHeads) ||
      !g.arith.equal(keyHeads, g.size(v, 1)))
    return c.error() << "the heads of the query must be a multiple of those of "
                        "key and value";
  if (mask)
    mask = asHeads(g, mask);
  Sizes resultSizes = g.sizes(q);
  resultSizes.back() = sizes.back();
  Value result = fp8::AttentionOp::create(
      g.getBuilder(), g.getLoc(), g.getType(resultSizes, c.outputType()), q, k,
      v, mask, g.getBuilder().getF64FloatAttr(scale),
      c.boolean("is_causal") ? g.getBuilder().getUnitAttr() : UnitAttr());
  g.setSizes(result, resultSizes);
  return one(g.reshape(result, sizes));
}

void fp8c::import::addAttentionOps(OpTable &table) {
  table.add("attention", "aten.scaled_dot_product_attention.default",
            "Tensor query, Tensor key, Tensor value, Tensor? attn_mask=None, "
            "float dropout_p=0., bool is_causal=False, *, float? scale=None, "
            "bool enable_gqa=False",
            attention);
}
