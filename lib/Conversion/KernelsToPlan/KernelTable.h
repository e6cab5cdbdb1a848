//===- KernelTable.h - The kernels of a plan, each once ---------*- C++ -*-===//
//
// Part of fp8c, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef FP8C_LIB_CONVERSION_KERNELSTOPLAN_KERNELTABLE_H
#define FP8C_LIB_CONVERSION_KERNELSTOPLAN_KERNELTABLE_H

#include "fp8c/Codegen/RowProgram.h"
#include "fp8c/Dialect/Plan/Plan.h"

#include "mlir/IR/BuiltinOps.h"
#include "llvm/ADT/StringMap.h"

namespace fp8c::toplan {

/// A kernel of the plan and what its body does.
struct Kernel {
  plan::KernelOp op;
  codegen::RowProgram program;
};

/// Outlines kernels. Equal bodies, names of nodes and locations left out, are
/// one kernel.
class KernelTable {
public:
  /// Kernels get `choices`, if any, as their codegen::kLaunchAttr.
  KernelTable(mlir::ModuleOp module, mlir::DictionaryAttr choices)
      : module(module), choices(choices) {}

  /// The kernel with this body of `op`, perhaps with merged dims, and operands
  /// of these unit dims. An error has been reported where there is none. `own`:
  /// choices for it alone, if any; those for all go before. `zeros`: its
  /// codegen::kZerosAttr, if any.
  Kernel *get(fp8::KernelOp op, mlir::Region &body,
              llvm::ArrayRef<int64_t> unitDims, mlir::DictionaryAttr own,
              mlir::DenseI64ArrayAttr zeros);

private:
  mlir::ModuleOp module;
  mlir::DictionaryAttr choices;
  llvm::StringMap<std::unique_ptr<Kernel>> kernels;
};

} // namespace fp8c::toplan

#endif // FP8C_LIB_CONVERSION_KERNELSTOPLAN_KERNELTABLE_H
