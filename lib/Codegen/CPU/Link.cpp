//===- Link.cpp - Objects to a shared object ------------------------------===//
//
// Part of fp8c, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Object.h"

#include "lld/Common/Driver.h"
#include "llvm/ADT/ScopeExit.h"
#include "llvm/ADT/SmallString.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/raw_ostream.h"

#include <mutex>

LLD_HAS_DRIVER(elf)

using namespace llvm;
using namespace fp8c;
using namespace fp8c::codegen;

Expected<std::string> codegen::linkObject(StringRef object) {
  // The linker reads and writes files.
  SmallVector<SmallString<64>> paths;
  llvm::scope_exit remove([&] {
    for (SmallString<64> &path : paths)
      sys::fs::remove(path);
  });
  auto makeFile = [&](StringRef suffix, StringRef bytes) -> Error {
    int file;
    if (std::error_code error = sys::fs::createTemporaryFile(
            "fp8c", suffix, file, paths.emplace_back()))
      return createStringError(error, "no temporary file for the linker");
    raw_fd_ostream stream(file, /*shouldClose=*/true);
    stream << bytes;
    return Error::success();
  };
  if (Error error = makeFile("o", object))
    return error;
  if (Error error = makeFile("so", ""))
    return error;

  SmallVector<const char *> arguments = {"ld.lld",
                                         "-shared",
                                         "-z",
                                         "defs",
                                         "-z",
                                         "norelro",
                                         "--hash-style=gnu",
                                         "-z",
                                         "noexecstack",
                                         "--build-id=none",
                                         "--threads=1",
                                         "-o"};
  arguments.push_back(paths.back().c_str());
  for (SmallString<64> &path : MutableArrayRef(paths).drop_back())
    arguments.push_back(path.c_str());
  // The linker keeps state in globals.
  static std::mutex mutex;
  std::lock_guard<std::mutex> lock(mutex);
  std::string errors;
  raw_string_ostream stream(errors);
  lld::Result result =
      lld::lldMain(arguments, nulls(), stream, {{lld::Gnu, &lld::elf::link}});
  if (result.retCode != 0)
    return createStringError("kernels cannot be linked: " + errors);
  ErrorOr<std::unique_ptr<MemoryBuffer>> buffer =
      MemoryBuffer::getFile(paths.back(), /*IsText=*/false,
                            /*RequiresNullTerminator=*/false);
  if (!buffer)
    return createStringError(buffer.getError(), "no output of the linker");
  return (*buffer)->getBuffer().str();
}
