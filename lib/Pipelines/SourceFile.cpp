//===- SourceFile.cpp - What the tools read and write ---------------------===//
//
// Part of fp8c, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "fp8c/Pipelines/SourceFile.h"

#include "fp8c/Package/Format.h"
#include "mlir/Bytecode/BytecodeReader.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/ToolOutputFile.h"
#include "llvm/Support/raw_ostream.h"

using namespace llvm;

/// What the tools' own output nests is below 30.
static constexpr unsigned kMaxDepth = 256;

Expected<std::unique_ptr<MemoryBuffer>> fp8c::openSource(StringRef path,
                                                         bool isText) {
  sys::fs::file_status status;
  std::error_code error = path == "-" ? sys::fs::status(fileno(stdin), status)
                                      : sys::fs::status(path, status);
  if (error)
    return createStringError("cannot be read: " + error.message());
  if (!sys::fs::is_regular_file(status) &&
      status.type() != sys::fs::file_type::fifo_file)
    return createStringError("is neither a regular file nor a pipe");
  auto buffer = MemoryBuffer::getFileOrSTDIN(path, isText, isText);
  if (!buffer)
    return createStringError("cannot be read: " + buffer.getError().message());
  return std::move(*buffer);
}

Error fp8c::writeText(StringRef path, StringRef text) {
  if (path == "-" ||
      (sys::fs::exists(path) && !sys::fs::is_regular_file(path))) {
    std::error_code error;
    raw_fd_ostream os(path, error);
    os << text;
    os.flush();
    error = error ? error : os.error();
    os.clear_error();
    return error ? createStringError("'" + path +
                                     "' cannot be written: " + error.message())
                 : Error::success();
  }
  return writeToOutput(path, [&](raw_ostream &os) {
    os << text;
    return Error::success();
  });
}

/// The text without the string literal or comment that it begins with; as it is
/// where it begins with neither.
static StringRef skipQuoted(StringRef text) {
  if (text.consume_front("//"))
    return text.drop_until([](char c) { return c == '\n'; });
  if (!text.consume_front("\""))
    return text;
  while (!text.empty() && text.front() != '"' && text.front() != '\n')
    text = text.drop_front(text.front() == '\\' && text.size() > 1 ? 2 : 1);
  return text.drop_front(text.starts_with("\"") ? 1 : 0);
}

Error fp8c::checkNesting(MemoryBufferRef source) {
  if (mlir::isBytecode(source))
    return Error::success();
  StringRef text = source.getBuffer();
  unsigned depth = 0, line = 1;
  while (!text.empty()) {
    // What --split-input-file parses by itself.
    if (text.starts_with("// -----"))
      depth = 0;
    if (StringRef rest = skipQuoted(text); rest.size() != text.size()) {
      line += text.drop_back(rest.size()).count('\n');
      text = rest;
      continue;
    }
    // Neither of them brackets anything.
    if (text.consume_front("->") || text.consume_front(">=") ||
        text.consume_front("<="))
      continue;
    char c = text.front();
    text = text.drop_front();
    line += c == '\n';
    if (StringRef("([{<").contains(c) && ++depth > kMaxDepth)
      return createStringError("line " + Twine(line) + " nests deeper than " +
                               Twine(kMaxDepth));
    if (StringRef(")]}>").contains(c) && depth)
      --depth;
  }
  return Error::success();
}

bool fp8c::isZip(StringRef bytes) { return bytes.starts_with("PK\3\4"); }

bool fp8c::isPackage(StringRef bytes) {
  // The directory is at the end; archives have no such entry at the top.
  static constexpr size_t kTail = 1 << 16;
  StringRef directory = bytes.take_back(kTail);
  return isZip(bytes) && directory.contains(package::kManifestFile) &&
         !directory.contains("models/model.json");
}
