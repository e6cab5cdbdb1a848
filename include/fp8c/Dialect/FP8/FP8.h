//===- FP8.h - The fp8 dialect ----------------------------------*- C++ -*-===//
//
// Part of fp8c, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef FP8C_DIALECT_FP8_FP8_H
#define FP8C_DIALECT_FP8_FP8_H

#include "fp8c/Support/FP8Rounding.h"

#include "mlir/Bytecode/BytecodeOpInterface.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Dialect.h"
#include "mlir/IR/OpDefinition.h"
#include "mlir/IR/SymbolTable.h"
#include "mlir/Interfaces/CastInterfaces.h"
#include "mlir/Interfaces/ControlFlowInterfaces.h"
#include "mlir/Interfaces/InferTypeOpInterface.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "mlir/Interfaces/VectorInterfaces.h"

#include "fp8c/Dialect/FP8/FP8Dialect.h.inc"
#include "fp8c/Dialect/FP8/FP8Enums.h.inc"

#define GET_ATTRDEF_CLASSES
#include "fp8c/Dialect/FP8/FP8Attrs.h.inc"

#define GET_OP_CLASSES
#include "fp8c/Dialect/FP8/FP8Ops.h.inc"

namespace fp8c::fp8 {

/// True for the f8 types that values of the model may have: f8E4M3FN and
/// f8E5M2.
bool isF8Type(mlir::Type type);

/// The host's name of an f8 type (f8E8M0FNU included).
F8Format getF8Format(mlir::Type type);

/// False for a type whose static dims alone take more than 2^63 - 1 bytes.
bool isAddressable(mlir::ShapedType type);

/// Fails, with an error, where two declarations of one symbol under `root`
/// differ.
mlir::LogicalResult verifySymbols(mlir::Operation *root);

/// The discardable attribute that names the graph node whose value an op's
/// results are: a string, or an array with a string for each result. Kernels'
/// yields keep it, plan values get it.
inline constexpr llvm::StringLiteral kNodeAttr = "fp8.node";

/// The attribute of an fp8.kernel with a name a result, "" for none.
inline constexpr llvm::StringLiteral kNodesAttr = "fp8.nodes";

/// The discardable attribute of fp8.kernels that compute the same sums: those
/// with the same number get the same threads a row.
inline constexpr llvm::StringLiteral kSameSumsAttr = "fp8.same_sums";

/// The discardable argument attribute that holds an input's name.
inline constexpr llvm::StringLiteral kInputNameAttr = "fp8.name";

/// The discardable argument attribute that says what its dims are: an array
/// with an integer, or an expression of symbols as a string ("17*s0"), for each
/// dim.
inline constexpr llvm::StringLiteral kDimsAttr = "fp8.dims";

/// The discardable unit attribute of arguments, results, globals and the plan's
/// inputs and outputs whose bytes (i8, as all integers without a sign) are
/// unsigned for the caller: torch.uint8.
inline constexpr llvm::StringLiteral kUnsignedAttr = "fp8.unsigned";

} // namespace fp8c::fp8

#endif // FP8C_DIALECT_FP8_FP8_H
