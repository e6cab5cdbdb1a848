//===- Assembly.cpp - LLVM IR to PTX, and PTX to cubin --------------------===//
//
// Part of fp8c, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Assembly.h"

#include "../Optimise.h"

#include "fp8c/Codegen/NVVM.h"

#include "llvm/ADT/ScopeExit.h"
#include "llvm/IR/LegacyPassManager.h"
#include "llvm/IR/Module.h"
#include "llvm/MC/TargetRegistry.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Process.h"
#include "llvm/Support/Program.h"
#include "llvm/Support/TargetSelect.h"
#include "llvm/Target/TargetMachine.h"
#include "llvm/Target/TargetOptions.h"
#include "llvm/TargetParser/Triple.h"

#include <mutex>

using namespace llvm;
using namespace fp8c;
using namespace fp8c::codegen;

static constexpr StringLiteral kTriple = "nvptx64-nvidia-cuda";

static Expected<std::unique_ptr<TargetMachine>>
makeMachine(const fp8c::Target &target) {
  static std::once_flag once;
  std::call_once(once, [] {
    LLVMInitializeNVPTXTargetInfo();
    LLVMInitializeNVPTXTarget();
    LLVMInitializeNVPTXTargetMC();
    LLVMInitializeNVPTXAsmPrinter();
  });
  Triple triple(kTriple);
  std::string error;
  const llvm::Target *generator = TargetRegistry::lookupTarget(triple, error);
  if (!generator)
    return createStringError("no code generator for " + kTriple + ": " + error);
  TargetOptions options;
  // Every rounding is the program's.
  options.AllowFPOpFusion = FPOpFusion::Strict;
  return std::unique_ptr<TargetMachine>(generator->createTargetMachine(
      triple, target.name, ("+" + target.ptxVersion).str(), options,
      std::nullopt, std::nullopt, CodeGenOptLevel::Aggressive));
}

Expected<std::string> codegen::emitPTX(Module &module,
                                       const fp8c::Target &target) {
  Expected<std::unique_ptr<TargetMachine>> machine = makeMachine(target);
  if (!machine)
    return machine.takeError();
  module.setTargetTriple(Triple(kTriple));
  module.setDataLayout((*machine)->createDataLayout());
  for (Function &function : module)
    if (!function.isDeclaration())
      function.addFnAttr(Attribute::NoUnwind);
  optimise(module, **machine, /*scalarize=*/true);
  SmallString<0> text;
  raw_svector_ostream stream(text);
  legacy::PassManager passes;
  if ((*machine)->addPassesToEmitFile(passes, stream, nullptr,
                                      CodeGenFileType::AssemblyFile))
    return createStringError("no assembly for " + kTriple);
  passes.run(module);
  return std::string(text);
}

//===----------------------------------------------------------------------===//
// The toolkit's assembler
//===----------------------------------------------------------------------===//

std::optional<std::string> codegen::findAssembler() {
  if (std::optional<std::string> path = sys::Process::GetEnv("FP8C_PTXAS"))
    return path->empty() ? std::nullopt : path;
  if (ErrorOr<std::string> path = sys::findProgramByName("ptxas"))
    return *path;
  if (ErrorOr<std::string> path =
          sys::findProgramByName("ptxas", {"/usr/local/cuda/bin"}))
    return *path;
  return std::nullopt;
}

Expected<std::string> codegen::assemblePTX(StringRef ptx,
                                           const fp8c::Target &target,
                                           StringRef assembler) {
  SmallVector<SmallString<64>> paths;
  llvm::scope_exit remove([&] {
    for (SmallString<64> &path : paths)
      sys::fs::remove(path);
  });
  for (StringRef suffix : {"ptx", "cubin", "log"}) {
    int file;
    if (std::error_code error = sys::fs::createTemporaryFile(
            "fp8c", suffix, file, paths.emplace_back()))
      return createStringError(error, "no temporary file for ptxas");
    raw_fd_ostream stream(file, /*shouldClose=*/true);
    if (suffix == "ptx")
      stream << ptx;
  }
  std::string architecture = ("-arch=" + target.name).str(), message;
  StringRef log = paths[2];
  int code = sys::ExecuteAndWait(
      assembler, {assembler, architecture, "-O3", paths[0], "-o", paths[1]},
      std::nullopt, {std::nullopt, log, log}, /*SecondsToWait=*/0,
      /*MemoryLimit=*/0, &message);
  if (code != 0) {
    auto said = MemoryBuffer::getFile(log);
    return createStringError("'" + assembler + "' failed: " + message +
                             (said ? (*said)->getBuffer() : StringRef()));
  }
  auto cubin = MemoryBuffer::getFile(paths[1], /*IsText=*/false);
  if (!cubin)
    return createStringError(cubin.getError(), "no cubin from ptxas");
  return (*cubin)->getBuffer().str();
}
