//===- JoinedFrame.cpp - Products around what takes their results ---------===//
//
// Part of fp8c, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "JoinedFrame.h"

#include "fp8c/Package/JoinedProduct.h"

#include "llvm/Bitcode/BitcodeReader.h"
#include "llvm/IR/Module.h"
#include "llvm/Linker/Linker.h"
#include "llvm/Support/MemoryBuffer.h"

using namespace llvm;
using namespace fp8c;
using package::kJoinedForms;

/// The bitcode of Device/JoinedProduct.cpp for each form.
#define FP8C_EMBED(FORM)                                                       \
  asm(".section .rodata\n"                                                     \
      ".balign 16\n"                                                           \
      ".local fp8c_joined_begin" #FORM "\n"                                    \
      ".local fp8c_joined_end" #FORM "\n"                                      \
      "fp8c_joined_begin" #FORM ":\n"                                          \
      ".incbin \"" FP8C_BITCODE_DIR "/JoinedProduct" #FORM ".bc\"\n"           \
      "fp8c_joined_end" #FORM ":\n"                                            \
      ".previous\n");                                                          \
  extern "C" const char fp8c_joined_begin##FORM[], fp8c_joined_end##FORM[];
FP8C_EMBED(0)
FP8C_EMBED(1)
#undef FP8C_EMBED
static StringRef getBitcode(size_t form) {
  static const char *const ends[][2] = {
      {fp8c_joined_begin0, fp8c_joined_end0},
      {fp8c_joined_begin1, fp8c_joined_end1},
  };
  static_assert(std::size(ends) == std::size(kJoinedForms));
  return StringRef(ends[form][0], size_t(ends[form][1] - ends[form][0]));
}

Error codegen::linkJoinedProducts(Module &code, ArrayRef<std::string> kernels) {
  for (size_t i = 0; i < std::size(kJoinedForms); ++i)
    for (const std::string &kernel : kernels) {
      Expected<std::unique_ptr<Module>> frame = parseBitcodeFile(
          MemoryBufferRef(getBitcode(i), "joined"), code.getContext());
      if (!frame)
        return frame.takeError();
      Function *function = (*frame)->getFunction("fp8c_joined");
      function->setName(kernel + kJoinedForms[i].suffix);
      function->addFnAttr("nvvm.maxntid",
                          std::to_string(package::kJoinedThreads));
      function->addFnAttr("nvvm.minctasm", "1");
      if (kJoinedForms[i].cluster > 1)
        function->addFnAttr("nvvm.cluster_dim",
                            std::to_string(kJoinedForms[i].cluster));
      // Its tensor maps are read where they lie.
      function->addParamAttr(
          0, Attribute::get(code.getContext(), "nvvm.grid_constant"));
      for (StringRef take : {"take1", "take4"})
        (*frame)
            ->getFunction(("fp8c_" + take).str())
            ->setName(getTakeName(kernel, take));
      code.setTargetTriple((*frame)->getTargetTriple());
      code.setDataLayout((*frame)->getDataLayout());
      if (Linker::linkModules(code, std::move(*frame)))
        return createStringError("kernel '" + kernel +
                                 "' cannot be linked with a product");
    }
  // What takes results is inlined everywhere.
  for (const std::string &kernel : kernels)
    for (StringRef take : {"take1", "take4"})
      code.getFunction(getTakeName(kernel, take))
          ->setLinkage(GlobalValue::InternalLinkage);
  return Error::success();
}
