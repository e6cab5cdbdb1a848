//===- Einsum.cpp - Einsum as permutations and one product -------------===//
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

/// Adds over the dims whose letter is not in `kept`; the letters that stay.
static Value dropUnused(ImportContext &c, Value tensor, std::string &letters,
                        StringRef kept) {
  SmallVector<int64_t> dims;
  std::string rest;
  for (auto [dim, letter] : llvm::enumerate(letters)) {
    if (kept.contains(letter))
      rest.push_back(letter);
    else
      dims.push_back(dim);
  }
  letters = rest;
  if (dims.empty())
    return tensor;
  Value sum = c.graph.sum(tensor, dims, /*keepDim=*/false);
  return c.graph.convert(sum, elementOf(tensor));
}

/// The tensor with its dims in the order of `wanted`.
static Value reorder(GraphBuilder &g, Value tensor, StringRef letters,
                     StringRef wanted) {
  SmallVector<int64_t> order;
  for (char letter : wanted)
    order.push_back(letters.find(letter));
  return g.permute(tensor, order);
}

/// The product of two operands: dims are batches (in both and in the result),
/// contracted (in both only), rows and columns.
static FailureOr<Value> product(ImportContext &c, Value lhs, StringRef left,
                                Value rhs, StringRef right, StringRef result) {
  GraphBuilder &g = c.graph;
  std::string batch, rows, columns, contracted;
  for (char letter : left) {
    if (!right.contains(letter))
      rows.push_back(letter);
    else
      (result.contains(letter) ? batch : contracted).push_back(letter);
  }
  for (char letter : right)
    if (!left.contains(letter))
      columns.push_back(letter);

  Value a = reorder(g, lhs, left, batch + rows + contracted);
  Value b = reorder(g, rhs, right, batch + contracted + columns);
  Sizes aSizes = g.sizes(a), bSizes = g.sizes(b);
  ArrayRef<OpFoldResult> aDims(aSizes), bDims(bSizes);
  size_t numBatch = batch.size(), numRows = rows.size();
  OpFoldResult batches = g.arith.product(aDims.take_front(numBatch));
  OpFoldResult m = g.arith.product(aDims.slice(numBatch, numRows));
  OpFoldResult k = g.arith.product(aDims.drop_front(numBatch + numRows));
  OpFoldResult n =
      g.arith.product(bDims.drop_front(numBatch + contracted.size()));
  Value value =
      makeMatmul(g, g.reshape(a, {batches, m, k}),
                 g.reshape(b, {batches, k, n}), Value(), c.outputType());
  Sizes sizes(aDims.take_front(numBatch + numRows));
  llvm::append_range(sizes, bDims.drop_front(numBatch + contracted.size()));
  return reorder(g, g.reshape(value, sizes), batch + rows + columns, result);
}

static Results einsum(ImportContext &c) {
  std::string equation;
  for (char letter : c.string("equation"))
    if (letter != ' ')
      equation.push_back(letter);
  auto [inputs, result] = StringRef(equation).split("->");
  SmallVector<StringRef> terms;
  inputs.split(terms, ',');
  SmallVector<Value> tensors = c.tensors("tensors");
  if (!StringRef(equation).contains("->") ||
      StringRef(equation).contains('.') || tensors.size() != terms.size() ||
      tensors.empty() || tensors.size() > 2)
    return c.error() << "expected an equation with '->', without '...', for "
                        "one or two tensors, got '"
                     << equation << "'";
  SmallVector<std::string> letters;
  for (auto [term, tensor] : llvm::zip(terms, tensors)) {
    llvm::SmallDenseSet<char> seen;
    for (char letter : term)
      if (!llvm::isAlpha(letter) || !seen.insert(letter).second)
        return c.error() << "a letter may occur once in a term, got '" << term
                         << "'";
    if (static_cast<int64_t>(term.size()) != rankOf(tensor))
      return c.error() << "term '" << term << "' does not fit a tensor with "
                       << rankOf(tensor) << " dims";
    letters.push_back(term.str());
  }
  for (char letter : result)
    if (!inputs.contains(letter) || result.count(letter) != 1)
      return c.error() << "the result's letter '" << std::string(1, letter)
                       << "' must be in a term and occur once";

  GraphBuilder &g = c.graph;
  if (tensors.size() == 1) {
    if (failed(refuseF8(c, result.size() == letters[0].size() ? Value()
                                                              : tensors[0])))
      return failure();
    Value value = dropUnused(c, tensors[0], letters[0], result);
    return one(reorder(g, value, letters[0], result));
  }
  if (failed(requireProductTypes(c, tensors)))
    return failure();
  Value lhs = dropUnused(c, tensors[0], letters[0], letters[1] + result.str());
  Value rhs = dropUnused(c, tensors[1], letters[1], letters[0] + result.str());
  FailureOr<Value> value = product(c, lhs, letters[0], rhs, letters[1], result);
  if (failed(value))
    return failure();
  return one(*value);
}

void fp8c::import::addEinsumOps(OpTable &table) {
  table.add("products", "aten.einsum.default",
            "str equation, Tensor[] tensors, *, int[]? path=None", einsum);
}
