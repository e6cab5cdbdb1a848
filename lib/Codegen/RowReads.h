//===- RowReads.h - How a kernel reads and writes its rows ------*- C++ -*-===//
//
// Part of fp8c, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef FP8C_LIB_CODEGEN_ROWREADS_H
#define FP8C_LIB_CODEGEN_ROWREADS_H

#include "fp8c/Codegen/RowProgram.h"

namespace fp8c::codegen {

/// Reads of captured tensors along the vector dim of a kernel whose rows are
/// one task each: those of the row, and those that neighbouring rows share.
/// Reads of the same elements are one.
struct RowReads {
  llvm::SmallVector<mlir::OpOperand *> own, shared;

  static RowReads find(const RowProgram &program);
  /// The bytes of a row of `own` that bulk copies can bring, or 0.
  int64_t getBulkBytes(const RowProgram &program) const;
};

/// The elements of a vector: as many of the widest operand that lies along the
/// vector dim as one access of a thread has.
unsigned getVectorWidth(const RowProgram &program);

/// Whether every operand of an elementwise program is read and written at the
/// same index, or is a scalar, and nothing depends on the index itself.
bool canFlatten(const RowProgram &program);

} // namespace fp8c::codegen

#endif // FP8C_LIB_CODEGEN_ROWREADS_H
