//===- Archive.cpp - A .pt2 file ----------------------------------------===//
//
// Part of fp8c, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "fp8c/Import/Archive.h"

#include "llvm/ADT/ScopeExit.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/Endian.h"
#include "llvm/Support/JSON.h"

#include <minizip/unzip.h>

using namespace llvm;
using namespace fp8c::import;

//===----------------------------------------------------------------------===//
// minizip on memory
//===----------------------------------------------------------------------===//

namespace {
/// What minizip takes for a file: the mapped bytes and a position.
struct Stream {
  StringRef bytes;
  size_t position = 0;
};
} // namespace

static voidpf openStream(voidpf opaque, const void *, int) { return opaque; }

static uLong readStream(voidpf, voidpf stream, void *buffer, uLong size) {
  auto *from = static_cast<Stream *>(stream);
  StringRef part = from->bytes.substr(from->position, size);
  if (!part.empty())
    memcpy(buffer, part.data(), part.size());
  from->position += part.size();
  return part.size();
}

static ZPOS64_T tellStream(voidpf, voidpf stream) {
  return static_cast<Stream *>(stream)->position;
}

static long seekStream(voidpf, voidpf stream, ZPOS64_T offset, int origin) {
  auto *in = static_cast<Stream *>(stream);
  uint64_t base = origin == ZLIB_FILEFUNC_SEEK_CUR   ? in->position
                  : origin == ZLIB_FILEFUNC_SEEK_END ? in->bytes.size()
                                                     : 0;
  // Modulo 2^64: minizip seeks backwards with offsets that have wrapped.
  uint64_t position = base + offset;
  if (position > in->bytes.size())
    return -1;
  in->position = position;
  return 0;
}

static int closeStream(voidpf, voidpf) { return 0; }
static int testStream(voidpf, voidpf) { return 0; }

//===----------------------------------------------------------------------===//
// The directory
//===----------------------------------------------------------------------===//

/// Why a name is not one that PyTorch writes; empty for a good one.
static StringRef checkName(StringRef name) {
  if (name.empty())
    return "is empty";
  if (!all_of(name, [](unsigned char c) {
        return c >= ' ' && c != 127 && c != '\\';
      }))
    return "has a control character or a backslash";
  if (!json::isUTF8(name))
    return "is not UTF-8";
  SmallVector<StringRef> parts;
  name.split(parts, '/');
  for (StringRef part : parts)
    if (part.empty() || part == "." || part == "..")
      return "has a part that is empty, '.' or '..'";
  return {};
}

/// An entry's name as messages show it.
static std::string quote(StringRef name) {
  std::string text;
  raw_string_ostream os(text);
  os << '\'';
  printEscapedString(name.take_front(100), os);
  os << '\'';
  return text;
}

/// The bytes of the current entry, in place.
static Expected<StringRef> currentEntry(unzFile zip, StringRef file,
                                        StringRef name,
                                        const unz_file_info64 &info) {
  if (info.flag & 1)
    return createStringError("entry " + quote(name) + " is encrypted");
  if (info.compression_method != 0 ||
      info.compressed_size != info.uncompressed_size)
    return createStringError("entries must be stored without compression, " +
                             quote(name) + " has method " +
                             Twine(info.compression_method) + " and " +
                             Twine(info.compressed_size) + " bytes for " +
                             Twine(info.uncompressed_size));
  int method = 0, level = 0;
  if (unzOpenCurrentFile2(zip, &method, &level, /*raw=*/1) != UNZ_OK)
    return createStringError("entry " + quote(name) +
                             " has no local header that fits the directory");
  uint64_t begin = unzGetCurrentFileZStreamPos64(zip);
  unzCloseCurrentFile(zip);
  uint64_t size = info.uncompressed_size;
  if (begin > file.size() || size > file.size() - begin)
    return createStringError("entry " + quote(name) + " ends at byte " +
                             Twine(begin) + "+" + Twine(size) +
                             " of a file of " + Twine(file.size()));
  return StringRef(file.data() + begin, size);
}

/// The record that ends a zip, with its comment, ends the file: minizip reads
/// one whose last bytes are missing.
static bool endsWithRecord(StringRef bytes) {
  static constexpr size_t kRecordSize = 22;
  size_t at = bytes.rfind("PK\5\6");
  if (at == StringRef::npos || bytes.size() - at < kRecordSize)
    return false;
  uint16_t comment =
      llvm::support::endian::read16le(bytes.data() + at + kRecordSize - 2);
  return bytes.size() - at == kRecordSize + comment;
}

Error Archive::readDirectory() {
  Stream stream{file->getBuffer()};
  zlib_filefunc64_def functions = {};
  functions.zopen64_file = openStream;
  functions.zread_file = readStream;
  functions.ztell64_file = tellStream;
  functions.zseek64_file = seekStream;
  functions.zclose_file = closeStream;
  functions.zerror_file = testStream;
  functions.opaque = &stream;
  unzFile zip =
      endsWithRecord(stream.bytes) ? unzOpen2_64("", &functions) : nullptr;
  if (!zip)
    return createStringError(
        "not a zip archive, or cut short: " + Twine(stream.bytes.size()) +
        " bytes without a directory at the end");
  llvm::scope_exit close([&] { unzClose(zip); });

  unz_global_info64 global = {};
  unzGetGlobalInfo64(zip, &global);
  std::string top;
  int status =
      global.number_entry ? unzGoToFirstFile(zip) : UNZ_END_OF_LIST_OF_FILE;
  for (; status == UNZ_OK; status = unzGoToNextFile(zip)) {
    unz_file_info64 info = {};
    char buffer[1024];
    if (unzGetCurrentFileInfo64(zip, &info, buffer, sizeof(buffer), nullptr, 0,
                                nullptr, 0) != UNZ_OK)
      return createStringError("the zip directory is damaged");
    if (info.size_filename >= sizeof(buffer))
      return createStringError("an entry's name must be shorter than " +
                               Twine(sizeof(buffer)) + " bytes, found " +
                               Twine(info.size_filename));
    StringRef name(buffer, info.size_filename);
    if (name.ends_with("/") && info.uncompressed_size == 0)
      continue;
    if (StringRef why = checkName(name); !why.empty())
      return createStringError("the name of entry " + quote(name) + " " + why);
    auto [folder, rest] = name.split('/');
    if (entries.empty())
      top = folder.str();
    if (rest.empty() || folder != top)
      return createStringError(
          "all entries must lie in one top folder, found " + quote(name) +
          (entries.empty() ? Twine() : " beside '" + Twine(top) + "'"));
    Expected<StringRef> bytes = currentEntry(zip, stream.bytes, name, info);
    if (!bytes)
      return bytes.takeError();
    if (!entries.try_emplace(rest, *bytes).second)
      return createStringError("two entries have the name " + quote(name));
  }
  if (status != UNZ_END_OF_LIST_OF_FILE || entries.size() > global.number_entry)
    return createStringError("the zip directory is damaged after " +
                             Twine(entries.size()) + " entries");
  return Error::success();
}

//===----------------------------------------------------------------------===//
// Archive
//===----------------------------------------------------------------------===//

Expected<std::shared_ptr<Archive>>
Archive::read(std::unique_ptr<MemoryBuffer> file) {
  auto archive = std::make_shared<Archive>();
  archive->file = std::move(file);
  if (Error error = archive->readDirectory())
    return std::move(error);
  if (!archive->find("models/model.json").data())
    return createStringError(
        "an exported program must hold models/model.json, found " +
        Twine(archive->entries.size()) +
        " entries without it; torch.export.save writes it");
  StringRef order = archive->find("byteorder");
  if (order.data() && order.trim() != "little")
    return createStringError("byteorder must be little, found " +
                             quote(order.trim()));
  return archive;
}

Expected<std::shared_ptr<Archive>> Archive::open(StringRef path) {
  ErrorOr<std::unique_ptr<MemoryBuffer>> file =
      MemoryBuffer::getFile(path, /*IsText=*/false,
                            /*RequiresNullTerminator=*/false);
  if (!file)
    return createStringError("cannot be read: " + file.getError().message());
  return read(std::move(*file));
}
