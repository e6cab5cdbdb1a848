//===- CpuKernel.h - One kernel as a function for the CPU -------*- C++ -*-===//
//
// Part of fp8c, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef FP8C_LIB_CODEGEN_CPU_CPUKERNEL_H
#define FP8C_LIB_CODEGEN_CPU_CPUKERNEL_H

#include "../KernelBuilder.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace fp8c::codegen {

/// A function that does a range of tasks, one after the other.
class CpuKernel : public KernelBuilder {
public:
  CpuKernel(const RowProgram &program, mlir::OpBuilder &builder,
            mlir::Location loc)
      : KernelBuilder(program, builder, loc) {}

  /// Emits the function at the builder's insertion point.
  mlir::func::FuncOp build(llvm::StringRef name);

private:
  void emitVectorLoop(const Action &action, DimSet bound, mlir::Value from,
                      mlir::Value to) override;
  void save(unsigned index) override;
  Lanes loadSaved(unsigned index) override;
  void placeSaved(mlir::Value scratch);
  Lanes savedOffset(const Saved &saved);

  llvm::SmallVector<mlir::Value> scratchBases;
};

} // namespace fp8c::codegen

#endif // FP8C_LIB_CODEGEN_CPU_CPUKERNEL_H
