//===- Casts.h - Casts as integer arithmetic --------------------*- C++ -*-===//
//
// Part of fp8c, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Exact for every input: round to nearest, ties to even; subnormals kept, NaN
// stays NaN, -0 keeps its sign. Values are scalars or vectors. An f8 value is
// held as i8, a bf16 value as i16.
//
//===----------------------------------------------------------------------===//

#ifndef FP8C_CODEGEN_CASTS_H
#define FP8C_CODEGEN_CASTS_H

#include "fp8c/Dialect/FP8/FP8.h"

#include "mlir/IR/Builders.h"

namespace fp8c::codegen {

/// `type` with its elements (of a vector; a scalar itself) replaced.
mlir::Type withElement(mlir::Type type, mlir::Type element);

/// f32 to the bits of `format` (f8E4M3FN, f8E5M2 or f8E8M0FNU), one rounding.
mlir::Value emitF32ToF8(mlir::OpBuilder &builder, mlir::Location loc,
                        mlir::Value input, mlir::Type format,
                        fp8::Overflow overflow);
/// The bits of an f8 value to f32.
mlir::Value emitF8ToF32(mlir::OpBuilder &builder, mlir::Location loc,
                        mlir::Value input, mlir::Type format);
/// f32 to the bits of a bf16; a NaN is made quiet.
mlir::Value emitF32ToBF16(mlir::OpBuilder &builder, mlir::Location loc,
                          mlir::Value input);
/// The bits of a bf16 to f32.
mlir::Value emitBF16ToF32(mlir::OpBuilder &builder, mlir::Location loc,
                          mlir::Value input);

} // namespace fp8c::codegen

#endif // FP8C_CODEGEN_CASTS_H
