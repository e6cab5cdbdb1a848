//===- ZipWriter.cpp - Writes zips of stored entries ----------------------===//
//
// Part of fp8c, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ZipWriter.h"

#include "fp8c/Package/Format.h"
#include "llvm/Support/MathExtras.h"

#include <minizip/zip.h>

using namespace fp8c::package;
using llvm::Error;
using llvm::StringRef;

llvm::Expected<ZipWriter> ZipWriter::create(StringRef path) {
  void *zip = zipOpen64(path.str().c_str(), APPEND_STATUS_CREATE);
  if (!zip)
    return llvm::createStringError("'%s' cannot be written",
                                   path.str().c_str());
  return ZipWriter(zip, path);
}

ZipWriter::ZipWriter(ZipWriter &&other)
    : zip(other.zip), path(std::move(other.path)), position(other.position) {
  other.zip = nullptr;
}

ZipWriter::~ZipWriter() {
  if (zip)
    zipClose(zip, nullptr);
}

Error ZipWriter::fail(StringRef what) {
  return llvm::createStringError("'%s' cannot be written: %s", path.c_str(),
                                 what.str().c_str());
}

Error ZipWriter::add(StringRef name, llvm::ArrayRef<StringRef> parts) {
  uint64_t size = 0;
  for (StringRef part : parts)
    size += part.size();
  bool isZip64 = size >= 0xFFFFFFFF;
  // A local header is 30 bytes, the name and the extra fields: minizip's own
  // for zip64, and a padding field (4 bytes and what they announce).
  constexpr uint64_t kHeader = 30, kZip64Field = 20, kFieldHeader = 4;
  uint64_t header = kHeader + name.size() + (isZip64 ? kZip64Field : 0);
  uint64_t data = llvm::alignTo(position + header + kFieldHeader, kAlignment);
  std::string padding(data - position - header, '\0');
  // 0xD935 is the field that zipalign pads with.
  uint64_t padded = padding.size() - kFieldHeader;
  padding[0] = char(0x35);
  padding[1] = char(0xD9);
  padding[2] = char(padded & 0xFF);
  padding[3] = char(padded >> 8);

  zip_fileinfo info = {};
  info.tmz_date.tm_mday = 1;
  info.tmz_date.tm_year = 1980;
  if (zipOpenNewFileInZip64(zip, name.str().c_str(), &info, padding.data(),
                            padding.size(), nullptr, 0, nullptr, 0, 0,
                            isZip64) != ZIP_OK)
    return fail(name);
  for (StringRef part : parts)
    while (!part.empty()) {
      StringRef chunk = part.take_front(1u << 30);
      if (zipWriteInFileInZip(zip, chunk.data(), chunk.size()) != ZIP_OK)
        return fail(name);
      part = part.drop_front(chunk.size());
    }
  if (zipCloseFileInZip(zip) != ZIP_OK)
    return fail(name);
  position = data + size;
  return Error::success();
}

Error ZipWriter::finish() {
  int status = zipClose(zip, nullptr);
  zip = nullptr;
  return status == ZIP_OK ? Error::success() : fail("directory");
}
