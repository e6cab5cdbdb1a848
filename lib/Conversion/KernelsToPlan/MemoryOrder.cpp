//===- MemoryOrder.cpp - An amax in the order of memory -------------------===//
//
// Part of fp8c, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The amax of a whole tensor is the same in any order. Attention, whose tokens
// lie one after the other, would be read head by head: in pieces.
//
//===----------------------------------------------------------------------===//

#include "MemoryOrder.h"

#include "mlir/Dialect/Utils/IndexingUtils.h"
#include "mlir/IR/IRMapping.h"
#include "llvm/ADT/Sequence.h"

using namespace mlir;
using namespace fp8c;

bool toplan::orderByMemory(fp8::KernelOp op, Layout &operand, SizeArith &arith,
                           Region &region) {
  Block &body = op.getBody().front();
  auto amax = dyn_cast<fp8::AmaxOp>(body.front());
  if (!amax || !amax.getScaling().isTensor() || op.getNumResults() != 1 ||
      body.getNumArguments() != 1 || amax.getInput() != body.getArgument(0) ||
      amax->getNextNode() != body.getTerminator() || operand.isDense(arith))
    return false;
  // Dims of one element may lie anywhere, and few dims have few orders.
  constexpr int64_t kMaxRank = 5;
  const int64_t rank = operand.sizes.size();
  auto order = llvm::to_vector(llvm::seq<int64_t>(0, rank));
  bool isFound = false;
  while (rank <= kMaxRank && !isFound &&
         std::next_permutation(order.begin(), order.end()))
    isFound = operand.transpose(order).isDense(arith);
  if (!isFound)
    return false;
  operand = operand.transpose(order);
  IRMapping mapping;
  op.getBody().cloneInto(&region, mapping);
  auto type = cast<RankedTensorType>(amax.getInput().getType());
  region.getArgument(0).setType(RankedTensorType::get(
      applyPermutation(type.getShape(), order), type.getElementType()));
  return true;
}
