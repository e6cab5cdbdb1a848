//===- Compile.cpp - Kernels as PTX ---------------------------------------===//
//
// Part of fp8c, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "fp8c/Codegen/NVVM.h"

#include "Assembly.h"
#include "GpuKernel.h"
#include "JoinedFrame.h"

#include "fp8c/Codegen/GenerateKernels.h"
#include "fp8c/Codegen/LowerToLLVM.h"
#include "fp8c/Codegen/TakenResult.h"
#include "fp8c/Dialect/Plan/Plan.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlow.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/Target/LLVMIR/Dialect/Builtin/BuiltinToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Dialect/LLVMIR/LLVMToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Dialect/NVVM/NVVMToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Export.h"
#include "llvm/IR/LLVMContext.h"
#include "llvm/IR/Module.h"

using namespace mlir;
using namespace fp8c;
using namespace fp8c::codegen;

/// The dialects that generated code uses.
static void loadDialects(MLIRContext *context) {
  DialectRegistry registry;
  registerBuiltinDialectTranslation(registry);
  registerLLVMDialectTranslation(registry);
  registerNVVMDialectTranslation(registry);
  context->appendDialectRegistry(registry);
  context->loadDialect<arith::ArithDialect, cf::ControlFlowDialect,
                       LLVM::LLVMDialect, math::MathDialect, NVVM::NVVMDialect,
                       scf::SCFDialect, vector::VectorDialect>();
}

/// What the kernel does with vectors of a product's result.
static void buildTakes(const RowProgram &program, unsigned operand,
                       const Target &target, OpBuilder &builder,
                       StringRef name) {
  LaunchShape shape;
  shape.groups = 1;
  shape.width = 8;
  shape.vectors = 1;
  auto build = [&](StringRef take, GpuKernel::Places places) {
    GpuKernel(program, shape, target, builder,
              UnknownLoc::get(builder.getContext()))
        .buildTake(getTakeName(name, take), operand, places);
  };
  build("take1", {{0, 0}});
  build("take4", {{0, 0}, {8, 0}, {0, 32}, {8, 32}});
}

llvm::Expected<OwningOpRef<ModuleOp>>
codegen::generateGpuKernels(ModuleOp plan, const Target &target) {
  MLIRContext *context = plan.getContext();
  loadDialects(context);
  std::string illegal;
  auto generated = generateKernels(
      plan, [&](const RowProgram &program, OpBuilder &builder, StringRef name) {
        GpuKernel(program, LaunchShape::choose(program, target), target,
                  builder, UnknownLoc::get(context))
            .build(name);
        auto kernel = cast<plan::KernelOp>(program.getBody()->getParentOp());
        const auto operand = int32_t(kernel.getProduct());
        if (operand < 0)
          return;
        StringRef why = target.joinsProducts
                            ? whyNotTaken(program, unsigned(operand))
                            : "the target has no such products";
        if (why.empty())
          buildTakes(program, unsigned(operand), target, builder, name);
        else
          illegal =
              ("kernel '" + name + "' takes no product's result: " + why).str();
      });
  if (generated && !illegal.empty())
    return llvm::createStringError(illegal);
  return generated;
}

llvm::Expected<std::string> codegen::compileGpuKernels(ModuleOp plan,
                                                       const Target &target) {
  llvm::Expected<OwningOpRef<ModuleOp>> generated =
      generateGpuKernels(plan, target);
  if (!generated)
    return generated.takeError();
  OwningOpRef<ModuleOp> module = std::move(*generated);
  if (failed(lowerToLLVM(*module)))
    return llvm::createStringError(
        "generated kernels cannot be lowered to the llvm dialect");
  llvm::LLVMContext context;
  std::unique_ptr<llvm::Module> code =
      translateModuleToLLVMIR(*module, context, "kernels");
  if (!code)
    return llvm::createStringError(
        "generated kernels cannot be translated to LLVM IR");
  std::vector<std::string> joined;
  for (auto kernel : plan.getOps<plan::KernelOp>())
    if (int32_t(kernel.getProduct()) >= 0)
      joined.push_back(kernel.getSymName().str());
  if (llvm::Error error = linkJoinedProducts(*code, joined))
    return error;
  return emitPTX(*code, target);
}
