//===- Registration.cpp - All dialects, passes and pipelines --------------===//
//
// Part of fp8c, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "fp8c/Pipelines/Registration.h"

#include "fp8c/Codegen/Passes.h"
#include "fp8c/Conversion/KernelsToPlan/Passes.h"
#include "fp8c/Dialect/FP8/FP8.h"
#include "fp8c/Dialect/FP8/Transforms/Passes.h"
#include "fp8c/Dialect/Plan/Plan.h"
#include "fp8c/Pipelines/GraphToKernels.h"
#include "fp8c/Pipelines/KernelsToPlan.h"
#include "fp8c/Transforms/Passes.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlowOps.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/MemRef/Transforms/Passes.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/Transforms/Passes.h"

void fp8c::registerAllDialects(mlir::DialectRegistry &registry) {
  registry.insert<fp8::FP8Dialect, plan::PlanDialect, mlir::arith::ArithDialect,
                  mlir::cf::ControlFlowDialect, mlir::func::FuncDialect,
                  mlir::LLVM::LLVMDialect, mlir::NVVM::NVVMDialect,
                  mlir::linalg::LinalgDialect, mlir::math::MathDialect,
                  mlir::memref::MemRefDialect, mlir::scf::SCFDialect,
                  mlir::tensor::TensorDialect, mlir::vector::VectorDialect>();
}

void fp8c::registerAllPasses() {
  mlir::registerTransformsPasses();
  mlir::memref::registerResolveRankedShapeTypeResultDimsPass();
  fp8::registerFP8TransformsPasses();
  registerFP8CTransformsPasses();
  registerGraphToKernelsPipeline();
  codegen::registerFP8CodegenPasses();
  registerKernelsToPlanPasses();
  registerKernelsToPlanPipeline();
}
