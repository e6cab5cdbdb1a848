//===- TakenResult.cpp - Kernels that take a product's result -------------===//
//
// Part of fp8c, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "fp8c/Codegen/TakenResult.h"

#include "fp8c/Codegen/LaunchShape.h"
#include "fp8c/Package/JoinedProduct.h"

using namespace mlir;
using namespace fp8c;
using namespace fp8c::codegen;

StringRef codegen::whyNotTaken(const RowProgram &program, unsigned operand) {
  if (operand >= program.getNumInputs())
    return "the kernel has no such operand";
  const Operand &taken = program.getOperands()[operand];
  if (!taken.type.getElementType().isBF16())
    return "the kernel reads the result in another type";
  const int64_t dims = int64_t(program.getDims().size());
  if (!program.getReductions().empty() || !program.getSaved().empty() ||
      !program.getAtomicResults().empty() ||
      !program.getSingleResults().empty() ||
      program.getBody()->getParentOp()->hasAttr(kZerosAttr))
    return "the kernel does more than one thing for each element";
  if (dims < 2 || program.getVectorDim() != dims - 1 ||
      taken.type.getRank() != dims || taken.unitDim != dims - 1)
    return "the kernel goes through the result in another order";
  const int64_t columns = program.getDims().back().size;
  if (ShapedType::isDynamic(columns) || columns % package::kJoinedColumns != 0)
    return "the result has no multiple of 32 columns";
  if (program.getOperands().size() > package::kJoinedOperands ||
      program.getNumSizes() > package::kJoinedSizes)
    return "the kernel has too many operands";
  for (OpOperand &use : taken.argument.getUses()) {
    auto op = dyn_cast<linalg::GenericOp>(use.getOwner());
    if (!op || !program.getReadMap(op, use).isIdentity())
      return "the kernel reads the result in another order";
  }
  const unsigned numResults =
      program.getOperands().size() - program.getNumInputs();
  for (unsigned result = 0; result < numResults; ++result) {
    ArrayRef<int64_t> loops = program.getResultLoops(result);
    if (isa<BlockArgument>(program.getResult(result)) || loops.empty() ||
        loops.back() != dims - 1)
      return "the kernel writes in another order";
  }
  return "";
}
