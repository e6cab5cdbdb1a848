//===- Verifiers.cpp - What legal plans are -------------------------------===//
//
// Part of fp8c, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "fp8c/Dialect/FP8/FP8.h"
#include "fp8c/Dialect/Plan/Plan.h"

using namespace mlir;
using namespace fp8c;
using namespace fp8c::plan;

static MemRefType typeOf(Value buffer) {
  return cast<MemRefType>(buffer.getType());
}

//===----------------------------------------------------------------------===//
// Kernels and launches
//===----------------------------------------------------------------------===//

/// The operands of a launch of a kernel: captured tensors, then results.
static SmallVector<RankedTensorType> getKernelOperands(plan::KernelOp kernel) {
  SmallVector<RankedTensorType> types;
  Block &body = kernel.getBody().front();
  for (Type type : body.getArgumentTypes())
    if (auto tensor = dyn_cast<RankedTensorType>(type))
      types.push_back(tensor);
  for (Type type : body.back().getOperandTypes())
    types.push_back(cast<RankedTensorType>(type));
  return types;
}

LogicalResult plan::KernelOp::verifyRegions() {
  Block &body = getBody().front();
  // plan_kernel_c1
  for (Type type : body.getArgumentTypes())
    if (!isa<RankedTensorType, IndexType>(type))
      return emitOpError() << "expected tensors and indices as arguments, got "
                           << type;
  // plan_kernel_c2
  if (body.empty() || !isa<fp8::YieldOp>(body.back()))
    return emitOpError() << "expected a body that ends with fp8.yield";
  // plan_kernel_c3
  SmallVector<RankedTensorType> operands = getKernelOperands(*this);
  bool isLegal = operands.size() == getUnitDims().size();
  for (size_t i = 0; isLegal && i < operands.size(); ++i)
    isLegal =
        getUnitDims()[i] >= -1 && getUnitDims()[i] < operands[i].getRank();
  if (!isLegal)
    return emitOpError() << "expected a unit dim or -1 for each of its "
                         << operands.size() << " operands, got ["
                         << getUnitDims() << "]";
  return success();
}

LogicalResult LaunchOp::verifySymbolUses(SymbolTableCollection &symbols) {
  auto kernel = symbols.lookupNearestSymbolFrom<plan::KernelOp>(
      (*this)->getParentOp(), getKernelAttr());
  // plan_launch_c1
  if (!kernel)
    return emitOpError() << "expected the name of a plan.kernel, got "
                         << getKernelAttr();
  Block &body = kernel.getBody().front();
  // The kernel's own verifier reports a body without a yield.
  if (body.empty() || !isa<fp8::YieldOp>(body.back()))
    return success();

  // plan_launch_c2
  SmallVector<RankedTensorType> operands = getKernelOperands(kernel);
  SmallVector<Value> buffers(getReads());
  buffers.append(getWrites().begin(), getWrites().end());
  size_t numResults = body.back().getNumOperands();
  bool isLegal =
      buffers.size() == operands.size() && getWrites().size() == numResults;
  for (size_t i = 0; isLegal && i < operands.size(); ++i)
    isLegal =
        typeOf(buffers[i]).getRank() == operands[i].getRank() &&
        typeOf(buffers[i]).getElementType() == operands[i].getElementType();
  if (!isLegal) {
    auto diagnostic = emitOpError() << "expected buffers of the ranks and "
                                       "element types of the kernel's operands";
    diagnostic.attachNote(kernel.getLoc()) << "see the kernel here";
    return diagnostic;
  }
  // plan_launch_c3
  size_t least = body.getNumArguments() + numResults - operands.size();
  for (RankedTensorType type : operands)
    least += type.getRank();
  if (getSizes().size() < least)
    return emitOpError() << "expected at least " << least
                         << " sizes, for the strides and captured indices, got "
                         << getSizes().size();
  return success();
}

//===----------------------------------------------------------------------===//
// Buffers
//===----------------------------------------------------------------------===//

/// A buffer made from the sizes of its dynamic dims.
template <typename Op> static LogicalResult verifyDense(Op op) {
  auto type = cast<MemRefType>(op.getResult().getType());
  // plan_input_c1, plan_output_c1, plan_alloc_c1
  if (op.getSizes().size() != static_cast<size_t>(type.getNumDynamicDims()))
    return op.emitOpError() << "expected a size a dynamic dim, got "
                            << op.getSizes().size() << " for " << type;
  // plan_input_c2, plan_output_c2, plan_alloc_c2
  if (!type.getLayout().isIdentity())
    return op.emitOpError() << "expected a dense buffer, got " << type;
  return success();
}

LogicalResult InputOp::verify() { return verifyDense(*this); }
LogicalResult OutputOp::verify() { return verifyDense(*this); }
LogicalResult AllocOp::verify() { return verifyDense(*this); }

LogicalResult plan::GlobalOp::verifySymbolUses(SymbolTableCollection &symbols) {
  auto global =
      symbols.lookupNearestSymbolFrom<fp8::GlobalOp>(*this, getGlobalAttr());
  // plan_global_c1
  if (!global)
    return emitOpError() << "expected the name of an fp8.global, got "
                         << getGlobalAttr();
  // plan_global_c2
  auto type = cast<ShapedType>(global.getType());
  MemRefType buffer = typeOf(getResult());
  if (buffer.getShape() != type.getShape() ||
      buffer.getElementType() != type.getElementType())
    return emitOpError() << "expected a buffer of the global's " << type
                         << ", got " << buffer;
  return success();
}

LogicalResult ViewOp::verify() {
  MemRefType source = typeOf(getSource()), result = typeOf(getResult());
  // plan_view_c1
  if (static_cast<int64_t>(getSizes().size()) != result.getRank() ||
      getSizes().size() != getStrides().size())
    return emitOpError() << "expected a size and a stride a dim, got "
                         << getSizes().size() << " and " << getStrides().size()
                         << " for " << result;
  // plan_view_c2
  if (source.getElementType() != result.getElementType())
    return emitOpError() << "expected the element type of the source, got "
                         << source << " and " << result;
  return success();
}

//===----------------------------------------------------------------------===//
// Commands
//===----------------------------------------------------------------------===//

LogicalResult plan::MatmulOp::verify() {
  MemRefType a = typeOf(getA()), b = typeOf(getB()), d = typeOf(getD());
  int64_t rank = a.getRank();
  // plan_matmul_c1
  if (rank < 2 || b.getRank() != rank || d.getRank() != rank)
    return emitOpError() << "expected buffers of one rank of at least 2, got "
                         << a << ", " << b << " and " << d;
  // plan_matmul_c2
  auto isBlock = [](ArrayRef<int64_t> block) {
    return block.size() == 2 && block[0] >= 0 && block[1] >= 0;
  };
  if (!isBlock(getABlock()) || !isBlock(getBBlock()))
    return emitOpError() << "expected two extents of at least 0 in each block, "
                            "got ["
                         << getABlock() << "] and [" << getBBlock() << "]";
  // plan_matmul_c3
  if (!getAScale() != !getBScale() || (getBDecode() && getBScale()))
    return emitOpError() << "expected a scale of both operands, or of neither "
                            "with b_decode";
  // plan_matmul_c4
  for (Value scale : {getAScale(), getBScale(), getBDecode()})
    if (scale && typeOf(scale).getRank() != rank)
      return emitOpError() << "expected scales of rank " << rank << ", got "
                           << scale.getType();
  // plan_matmul_c5
  if (getBias() && typeOf(getBias()).getRank() != 1)
    return emitOpError() << "expected a bias of rank 1, got "
                         << getBias().getType();
  // plan_matmul_c6
  if (getAPadded() &&
      (typeOf(getAPadded()).getRank() != 2 || rank != 2 ||
       typeOf(getAPadded()).getElementType() != a.getElementType()))
    return emitOpError() << "expected a_padded to be a matrix of a's type, got "
                         << getAPadded().getType();
  return success();
}

LogicalResult plan::AttentionOp::verify() {
  // plan_attention_c1
  for (Value buffer : {getQuery(), getKey(), getValue(), getOut(), getMask()})
    if (buffer && typeOf(buffer).getRank() != 4)
      return emitOpError() << "expected buffers of rank 4, got "
                           << buffer.getType();
  return success();
}

LogicalResult CopyOp::verify() {
  MemRefType source = typeOf(getSource()), target = typeOf(getTarget());
  // plan_copy_c1
  if (source.getRank() != target.getRank() ||
      source.getElementType() != target.getElementType())
    return emitOpError() << "expected buffers of one rank and element type, "
                            "got "
                         << source << " and " << target;
  return success();
}
