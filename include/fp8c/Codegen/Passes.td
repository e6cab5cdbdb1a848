//===- Passes.td - Passes from kernels to code -------------*- tablegen -*-===//
//
// Part of fp8c, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef FP8C_CODEGEN_PASSES_TD
#define FP8C_CODEGEN_PASSES_TD

include "mlir/Pass/PassBase.td"

def ExpandFunctionsPass : Pass<"fp8-expand-functions"> {
  let summary = "math functions as arithmetic";
  let description = [{
    Replaces exp, log, tanh, erf, sin and the others of the table by arith ops
    and `math.fma`, on scalars and vectors of f32 (bf16 and f16 by way of f32).
    A function that the table does not have is an error at the op.

    The expansions define the values: within the units in the last place that
    the table of numbers states.
  }];
  let dependentDialects = [
    "::mlir::arith::ArithDialect", "::mlir::math::MathDialect"
  ];
}

def LowerCastsPass : Pass<"fp8-lower-casts"> {
  let summary = "casts as integer arithmetic, f8 values as i8";
  let description = [{
    Replaces `fp8.cast`, `arith.extf` and `arith.truncf` from or to f8E4M3FN,
    f8E5M2 and bf16 by integer arithmetic on scalars and vectors, and f8 types
    everywhere by i8. `arith.truncf` to f8 rounds as IEEE does: what is beyond
    the range becomes NaN or Inf. A cast of another f8 type is an error at the
    op.

    Bit-exact.
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect"];
}

def GenerateCpuKernelsPass
    : Pass<"fp8-generate-cpu-kernels", "::mlir::ModuleOp"> {
  let summary = "each plan.kernel as a function for the CPU";
  let description = [{
    Replaces the kernels of a module by functions of the kernels' calling
    convention, in scf, arith, math, vector and llvm.

    Bit-exact but for the order of a reduction's additions.
  }];
  let dependentDialects = [
    "::mlir::arith::ArithDialect", "::mlir::func::FuncDialect",
    "::mlir::LLVM::LLVMDialect", "::mlir::math::MathDialect",
    "::mlir::scf::SCFDialect", "::mlir::vector::VectorDialect"
  ];
}

def GenerateGpuKernelsPass
    : Pass<"fp8-generate-gpu-kernels", "::mlir::ModuleOp"> {
  let summary = "each plan.kernel as a kernel of a GPU";
  let description = [{
    Replaces the kernels of a module by functions with the attribute
    `nvvm.kernel`, in scf, arith, math, vector, llvm and nvvm. What a block has
    and does is the kernel's launch shape.

    Bit-exact but for the order of a reduction's additions.
  }];
  let options = [
    Option<"target", "target", "std::string", /*default=*/"\"sm_90a\"",
           "the GPU, by its name in the table of targets">
  ];
  let dependentDialects = [
    "::mlir::arith::ArithDialect", "::mlir::LLVM::LLVMDialect",
    "::mlir::math::MathDialect", "::mlir::NVVM::NVVMDialect",
    "::mlir::scf::SCFDialect", "::mlir::vector::VectorDialect"
  ];
}

def LowerToLLVMPass : Pass<"fp8-lower-to-llvm", "::mlir::ModuleOp"> {
  let summary = "functions of scalars and vectors to the llvm dialect";
  let description = [{
    Expands functions (`fp8-expand-functions`), lowers casts
    (`fp8-lower-casts`) and converts scf, arith, math, vector and func to llvm.
    Operations of the nvvm dialect stay.

    As the passes that it runs.
  }];
  let dependentDialects = [
    "::mlir::arith::ArithDialect", "::mlir::cf::ControlFlowDialect",
    "::mlir::LLVM::LLVMDialect", "::mlir::math::MathDialect"
  ];
}

#endif // FP8C_CODEGEN_PASSES_TD
