//===- Compile.cpp - Kernels as an ELF shared object ----------------------===//
//
// Part of fp8c, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "fp8c/Codegen/CPU.h"

#include "CpuKernel.h"
#include "Object.h"

#include "fp8c/Codegen/GenerateKernels.h"
#include "fp8c/Codegen/LowerToLLVM.h"

#include "mlir/Dialect/ControlFlow/IR/ControlFlowOps.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/Threading.h"
#include "mlir/Target/LLVMIR/Dialect/Builtin/BuiltinToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Dialect/LLVMIR/LLVMToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Export.h"
#include "llvm/IR/LLVMContext.h"
#include "llvm/IR/Module.h"

using namespace mlir;
using namespace fp8c;
using namespace fp8c::codegen;

void codegen::registerCpuDialects(DialectRegistry &registry) {
  registry.insert<arith::ArithDialect, cf::ControlFlowDialect,
                  func::FuncDialect, LLVM::LLVMDialect, math::MathDialect,
                  scf::SCFDialect, vector::VectorDialect>();
  registerBuiltinDialectTranslation(registry);
  registerLLVMDialectTranslation(registry);
}

/// The context's copy of what `registerCpuDialects` registers.
static void loadDialects(MLIRContext *context) {
  DialectRegistry registry;
  registerCpuDialects(registry);
  context->appendDialectRegistry(registry);
  context->loadDialect<arith::ArithDialect, cf::ControlFlowDialect,
                       func::FuncDialect, LLVM::LLVMDialect, math::MathDialect,
                       scf::SCFDialect, vector::VectorDialect>();
}

llvm::Expected<OwningOpRef<ModuleOp>>
codegen::generateCpuKernels(ModuleOp plan) {
  MLIRContext *context = plan.getContext();
  loadDialects(context);
  return generateKernels(
      plan, [&](const RowProgram &program, OpBuilder &builder, StringRef name) {
        CpuKernel(program, builder, UnknownLoc::get(context)).build(name);
      });
}

llvm::Expected<llvm::SmallVector<std::string>>
codegen::compileCpuKernels(ModuleOp plan, llvm::ArrayRef<CpuLevel> levels) {
  llvm::Expected<OwningOpRef<ModuleOp>> generated = generateCpuKernels(plan);
  if (!generated)
    return generated.takeError();
  OwningOpRef<ModuleOp> module = std::move(*generated);
  if (failed(lowerToLLVM(*module)))
    return llvm::createStringError(
        "generated kernels cannot be lowered to the llvm dialect");
  // A context each, since one context is one thread's.
  size_t count = levels.size();
  llvm::SmallVector<std::unique_ptr<llvm::LLVMContext>> contexts;
  llvm::SmallVector<std::unique_ptr<llvm::Module>> codes;
  for (size_t i = 0; i < count; ++i) {
    contexts.push_back(std::make_unique<llvm::LLVMContext>());
    codes.push_back(
        translateModuleToLLVMIR(*module, *contexts.back(), "kernels"));
    if (!codes.back())
      return llvm::createStringError(
          "generated kernels cannot be translated to LLVM IR");
  }
  llvm::SmallVector<std::string> objects(count), errors(count);
  parallelFor(module->getContext(), 0, count, [&](size_t i) {
    llvm::Expected<std::string> object = compileObject(*codes[i], levels[i]);
    if (object)
      objects[i] = std::move(*object);
    else
      errors[i] = toString(object.takeError());
  });
  // The linker resets flags that the code generator reads.
  llvm::SmallVector<std::string> linked;
  for (size_t i = 0; i < count; ++i) {
    if (!errors[i].empty())
      return llvm::createStringError(errors[i]);
    llvm::Expected<std::string> shared = linkObject(objects[i]);
    if (!shared)
      return shared.takeError();
    linked.push_back(std::move(*shared));
  }
  return linked;
}
