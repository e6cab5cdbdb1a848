//===- Passes.td - Kernel level to plan --------------------*- tablegen -*-===//
//
// Part of fp8c, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef FP8C_CONVERSION_KERNELSTOPLAN_PASSES_TD
#define FP8C_CONVERSION_KERNELSTOPLAN_PASSES_TD

include "mlir/Pass/PassBase.td"

def ConvertToPlanPass : Pass<"fp8-convert-to-plan", "::mlir::ModuleOp"> {
  let summary = "turn functions of the kernel level into plan entries";
  let description = [{
    Bit-exact. Each function becomes a `plan.entry` of its name. A tensor value
    gets a buffer, or a view of one: slices, reshapes and transposes are
    strided aliases, and a reshape of a strided buffer that no strides can
    express becomes a copy. A value is written where it is wanted when that is
    provably free: into an output, a part of a concatenation, a state buffer
    that nobody reads any more, or with the strides that make a later reshape a
    view. Kernels move to `plan.kernel`; equal ones are kept once.
  }];
  let options = [Option<"target", "target", "std::string", "\"cpu\"",
                        "who runs the plan: decides how kernels are launched">,
                 Option<"launch", "launch", "std::string", "\"\"",
                        "choices for the kernels of a GPU, to measure them: {rows = 4, threads = 128}">];
  let dependentDialects = [
    "::fp8c::plan::PlanDialect", "::mlir::memref::MemRefDialect",
    "::mlir::arith::ArithDialect"
  ];
}

def JoinProductsPass : Pass<"fp8-join-products", "::mlir::ModuleOp"> {
  let summary = "let launches run as one with the product before them";
  let description = [{
    Bit-exact. A launch that comes next after a scaled product and is alone in
    reading its result may run as one with it on targets whose products leave
    their results with the threads that computed them: the result is then never
    in memory. Its kernel has no reductions and reads the result element by
    element. Such a launch gets `joins`, the product's operands, and its kernel
    `product`. Whether the two do run as one the device decides at each size.
  }];
  let options = [Option<"target", "target", "std::string", "\"cpu\"",
                        "who runs the plan">];
  let dependentDialects = ["::fp8c::plan::PlanDialect"];
}

#endif // FP8C_CONVERSION_KERNELSTOPLAN_PASSES_TD
