//===- Matching.h - What was emitted before ---------------------*- C++ -*-===//
//
// Part of fp8c, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef FP8C_LIB_CODEGEN_NVVM_MATCHING_H
#define FP8C_LIB_CODEGEN_NVVM_MATCHING_H

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/Matchers.h"

namespace fp8c::codegen {

/// The scalar that all lanes are, or null.
inline mlir::Value getScalar(mlir::Value value) {
  if (!mlir::isa<mlir::VectorType>(value.getType()))
    return value;
  auto broadcast = value.getDefiningOp<mlir::vector::BroadcastOp>();
  return broadcast ? broadcast.getSource() : mlir::Value();
}

/// The number that all lanes are.
inline std::optional<float> getNumber(mlir::Value value) {
  mlir::FloatAttr number;
  mlir::DenseFPElementsAttr elements;
  if (mlir::matchPattern(value, mlir::m_Constant(&elements)) &&
      elements.isSplat())
    return elements.getSplatValue<llvm::APFloat>().convertToFloat();
  mlir::Value scalar = getScalar(value);
  if (scalar && mlir::matchPattern(scalar, mlir::m_Constant(&number)))
    return static_cast<float>(number.getValueAsDouble());
  return std::nullopt;
}

inline bool isNumber(mlir::Value value, float number) {
  return getNumber(value) == number;
}

/// `OpTy` of two operands, in the order in which `isFirst` holds for the first.
template <typename OpTy>
std::pair<mlir::Value, mlir::Value>
match(mlir::Value value, llvm::function_ref<bool(mlir::Value)> isFirst) {
  auto op = value ? value.getDefiningOp<OpTy>() : OpTy();
  if (!op)
    return {};
  mlir::Value left = op->getOperand(0), right = op->getOperand(1);
  if (isFirst(left))
    return {left, right};
  if (isFirst(right))
    return {right, left};
  return {};
}

} // namespace fp8c::codegen

#endif // FP8C_LIB_CODEGEN_NVVM_MATCHING_H
