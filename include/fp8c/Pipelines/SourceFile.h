//===- SourceFile.h - What the tools read and write -------------*- C++ -*-===//
//
// Part of fp8c, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef FP8C_PIPELINES_SOURCEFILE_H
#define FP8C_PIPELINES_SOURCEFILE_H

#include "llvm/Support/Error.h"
#include "llvm/Support/MemoryBuffer.h"

#include <memory>

namespace fp8c {

/// Opens a file, or stdin for "-"; mapped, but for text, which ends with a
/// null. What is neither a regular file nor a pipe may have no end: an error,
/// which leaves the file's name to the caller.
llvm::Expected<std::unique_ptr<llvm::MemoryBuffer>>
openSource(llvm::StringRef path, bool isText);

/// Writes text beside `path` and renames it; straight to stdout ("-") and to
/// devices, in whose place a rename would put a file.
llvm::Error writeText(llvm::StringRef path, llvm::StringRef text);

/// Fails for textual IR that nests so deep that MLIR, whose parser, printer and
/// destructors recurse, would overflow the stack. Bytecode is left alone.
llvm::Error checkNesting(llvm::MemoryBufferRef source);

/// True for the bytes of a zip: an archive or a package.
bool isZip(llvm::StringRef bytes);
/// True for the bytes of a package.
bool isPackage(llvm::StringRef bytes);

} // namespace fp8c

#endif // FP8C_PIPELINES_SOURCEFILE_H
