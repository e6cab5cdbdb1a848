//===- Object.cpp - LLVM IR to machine code -------------------------------===//
//
// Part of fp8c, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Object.h"

#include "../Optimise.h"

#include "llvm/IR/LegacyPassManager.h"
#include "llvm/IR/Module.h"
#include "llvm/MC/TargetRegistry.h"
#include "llvm/Support/TargetSelect.h"
#include "llvm/Target/TargetMachine.h"
#include "llvm/Target/TargetOptions.h"
#include "llvm/TargetParser/Triple.h"

#include <mutex>

using namespace llvm;
using namespace fp8c;
using namespace fp8c::codegen;

static constexpr StringLiteral kTriple = "x86_64-unknown-linux-gnu";

static Expected<std::unique_ptr<TargetMachine>> makeMachine(CpuLevel level) {
  static std::once_flag once;
  std::call_once(once, [] {
    LLVMInitializeX86TargetInfo();
    LLVMInitializeX86Target();
    LLVMInitializeX86TargetMC();
    LLVMInitializeX86AsmPrinter();
  });
  Triple triple(kTriple);
  std::string error;
  const Target *target = TargetRegistry::lookupTarget(triple, error);
  if (!target)
    return createStringError("no code generator for " + kTriple + ": " + error);
  TargetOptions options;
  // Every rounding is the program's.
  options.AllowFPOpFusion = FPOpFusion::Strict;
  return std::unique_ptr<TargetMachine>(target->createTargetMachine(
      triple, level == CpuLevel::V4 ? "x86-64-v4" : "x86-64-v3", "", options,
      Reloc::PIC_, CodeModel::Small, CodeGenOptLevel::Default));
}

Expected<std::string> codegen::compileObject(Module &module, CpuLevel level) {
  Expected<std::unique_ptr<TargetMachine>> machine = makeMachine(level);
  if (!machine)
    return machine.takeError();
  module.setTargetTriple(Triple(kTriple));
  module.setDataLayout((*machine)->createDataLayout());
  for (Function &function : module) {
    if (function.isDeclaration())
      continue;
    function.addFnAttr(Attribute::NoUnwind);
    function.addFnAttr("no-builtins");
    if (level == CpuLevel::V4) {
      function.addFnAttr("prefer-vector-width", "512");
      function.addFnAttr("min-legal-vector-width", "512");
    }
  }
  optimise(module, **machine, /*scalarize=*/false);
  SmallString<0> bytes;
  raw_svector_ostream stream(bytes);
  legacy::PassManager passes;
  if ((*machine)->addPassesToEmitFile(passes, stream, nullptr,
                                      CodeGenFileType::ObjectFile))
    return createStringError("no object files for " + kTriple);
  passes.run(module);
  return std::string(bytes);
}
