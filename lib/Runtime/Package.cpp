//===- Package.cpp - A .fp8 file in memory --------------------------------===//
//
// Part of fp8c, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Package.h"

#include "fp8c/Package/Format.h"

#include <nlohmann/json.hpp>
#include <openssl/sha.h>
#include <unzip.h>

#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

using namespace fp8c::rt;
using nlohmann::json;

//===----------------------------------------------------------------------===//
// A zip file in memory, as minizip wants files
//===----------------------------------------------------------------------===//

namespace {
/// The open file: a position in memory.
struct MemoryFile {
  Bytes bytes;
  uint64_t position = 0;
};

void *openMemoryFile(void *opaque, const void *, int) { return opaque; }
uLong readMemoryFile(void *, void *stream, void *out, uLong size) {
  auto *f = static_cast<MemoryFile *>(stream);
  uint64_t left = f->bytes.size - f->position;
  size_t n = size < left ? size : left;
  if (n)
    std::memcpy(out, f->bytes.data + f->position, n);
  f->position += n;
  return n;
}
uLong writeMemoryFile(void *, void *, const void *, uLong) { return 0; }
ZPOS64_T tellMemoryFile(void *, void *stream) {
  return static_cast<MemoryFile *>(stream)->position;
}
long seekMemoryFile(void *, void *stream, ZPOS64_T offset, int origin) {
  auto *f = static_cast<MemoryFile *>(stream);
  uint64_t base = origin == ZLIB_FILEFUNC_SEEK_SET   ? 0
                  : origin == ZLIB_FILEFUNC_SEEK_CUR ? f->position
                                                     : f->bytes.size;
  uint64_t target;
  if (__builtin_add_overflow(base, uint64_t(offset), &target) ||
      target > f->bytes.size)
    return -1;
  f->position = target;
  return 0;
}
int closeMemoryFile(void *, void *) { return 0; }
int errorMemoryFile(void *, void *) { return 0; }
} // namespace

//===----------------------------------------------------------------------===//
// Opening
//===----------------------------------------------------------------------===//

std::unique_ptr<Package> Package::openFile(const std::string &path) {
  std::unique_ptr<Package> package(new Package());
  package->label = "\"" + path + "\"";
  int fd = open(path.c_str(), O_RDONLY | O_CLOEXEC);
  require(fd >= 0, FP8RT_IO_ERROR, "cannot open ", package->label, ": ",
          std::strerror(errno));
  struct stat info;
  bool regular = fstat(fd, &info) == 0 && S_ISREG(info.st_mode);
  if (regular && info.st_size > 0) {
    void *p = mmap(nullptr, info.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
    if (p != MAP_FAILED) {
      package->mapping = p;
      package->file = {static_cast<const unsigned char *>(p),
                       size_t(info.st_size)};
    }
  }
  close(fd);
  require(regular, FP8RT_IO_ERROR, package->label, " is not a regular file");
  require(package->mapping, FP8RT_INVALID_PACKAGE, package->label,
          ": not a .fp8 package: not a zip file");
  package->readDirectory();
  package->readManifest();
  return package;
}

std::unique_ptr<Package> Package::openMemory(Bytes file) {
  std::unique_ptr<Package> package(new Package());
  package->file = file;
  package->readDirectory();
  package->readManifest();
  return package;
}

Package::~Package() {
  if (mapping)
    munmap(mapping, file.size);
}

void Package::readDirectory() {
  MemoryFile memory{file};
  zlib_filefunc64_def functions{
      openMemoryFile, readMemoryFile,  writeMemoryFile, tellMemoryFile,
      seekMemoryFile, closeMemoryFile, errorMemoryFile, &memory};
  std::unique_ptr<void, int (*)(unzFile)> zip(unzOpen2_64("", &functions),
                                              unzClose);
  require(zip != nullptr, FP8RT_INVALID_PACKAGE, label,
          ": not a .fp8 package: not a zip file");
  for (int rc = unzGoToFirstFile(zip.get()); rc != UNZ_END_OF_LIST_OF_FILE;
       rc = unzGoToNextFile(zip.get())) {
    char name[1024];
    unz_file_info64 info;
    require(rc == UNZ_OK &&
                unzGetCurrentFileInfo64(zip.get(), &info, name,
                                        sizeof(name) - 1, nullptr, 0, nullptr,
                                        0) == UNZ_OK &&
                info.size_filename < sizeof(name) - 1,
            FP8RT_INVALID_PACKAGE, label, ": damaged zip directory");
    name[info.size_filename] = 0;
    require(info.compression_method == 0 && !(info.flag & 1) &&
                info.compressed_size == info.uncompressed_size,
            FP8RT_INVALID_PACKAGE, label, ": entry \"", name,
            "\" is compressed or encrypted, entries must be stored");
    require(unzOpenCurrentFile2(zip.get(), nullptr, nullptr, 1) == UNZ_OK,
            FP8RT_INVALID_PACKAGE, label, ": entry \"", name, "\" is damaged");
    uint64_t begin = unzGetCurrentFileZStreamPos64(zip.get());
    unzCloseCurrentFile(zip.get());
    require(begin <= file.size && info.uncompressed_size <= file.size - begin,
            FP8RT_INVALID_PACKAGE, label, ": entry \"", name,
            "\" is not within the file");
    bool fresh = entries
                     .emplace(name, Bytes{file.data + begin,
                                          size_t(info.uncompressed_size)})
                     .second;
    require(fresh, FP8RT_INVALID_PACKAGE, label, ": entry \"", name,
            "\" is there twice");
  }
}

//===----------------------------------------------------------------------===//
// The manifest
//===----------------------------------------------------------------------===//

/// A string member, or the empty string.
static std::string getString(const json &object, const char *key) {
  auto it = object.find(key);
  return it != object.end() && it->is_string() ? it->get<std::string>() : "";
}

void Package::readManifest() {
  Bytes text = entry(package::kManifestFile);
  json manifest = json::parse(text.data, text.data + text.size, nullptr, false);
  require(manifest.is_object() &&
              getString(manifest, "format") == package::kFormat,
          FP8RT_INVALID_PACKAGE, label,
          ": not a .fp8 package: manifest.json does not have format \"",
          package::kFormat, "\"");
  const json version = manifest.value("version", json());
  require(version.is_number_integer() && version == package::kVersion,
          FP8RT_INCOMPATIBLE, label, ": package format version ",
          version.dump(), ", this runtime reads ", package::kVersion);
  const json list = manifest.value("files", json());
  require(list.is_object(), FP8RT_INVALID_PACKAGE, label,
          ": manifest.json has no files");
  for (const auto &[name, info] : list.items()) {
    require(info.is_object() && info.contains("size") &&
                info["size"].is_number_unsigned(),
            FP8RT_INVALID_PACKAGE, label, ": manifest.json: file \"", name,
            "\" has no size");
    uint64_t size = info["size"].get<uint64_t>();
    require(entry(name).size == size, FP8RT_INVALID_PACKAGE, label,
            ": entry \"", name, "\" has ", entry(name).size,
            " bytes, the manifest says ", size);
    files[name] = {size, getString(info, "sha256")};
  }
  const json objectList = manifest.value("objects", json::array());
  require(objectList.is_array(), FP8RT_INVALID_PACKAGE, label,
          ": manifest.json: objects is not a list");
  for (const json &object : objectList) {
    require(object.is_object(), FP8RT_INVALID_PACKAGE, label,
            ": manifest.json: objects holds something else");
    objects.push_back({getString(object, "device"), getString(object, "isa"),
                       getString(object, "file")});
  }
  const json plans = manifest.value("plans", json());
  require(plans.is_array() && !plans.empty(), FP8RT_INVALID_PACKAGE, label,
          ": manifest.json has no plans");
  for (const json &plan : plans) {
    require(plan.is_object() && !getString(plan, "target").empty(),
            FP8RT_INVALID_PACKAGE, label,
            ": manifest.json: a plan has no target");
    planList.push_back({getString(plan, "target"), getString(plan, "file")});
  }
  if (files.count(package::kWeightsFile))
    tensors = readSafetensors(entry(package::kWeightsFile),
                              label + ": " + package::kWeightsFile);
}

Bytes Package::entry(const std::string &name) const {
  auto it = entries.find(name);
  require(it != entries.end(), FP8RT_INVALID_PACKAGE, label,
          ": has no entry \"", name, "\"");
  return it->second;
}

Bytes Package::report() const { return checkedEntry(package::kReportFile); }

Bytes Package::checkedEntry(const std::string &name) const {
  Bytes bytes = entry(name);
  auto it = files.find(name);
  require(it != files.end(), FP8RT_INVALID_PACKAGE, label, ": entry \"", name,
          "\" is not in the manifest");
  unsigned char digest[SHA256_DIGEST_LENGTH];
  SHA256(bytes.data, bytes.size, digest);
  std::string hex;
  for (unsigned char byte : digest) {
    hex += "0123456789abcdef"[byte >> 4];
    hex += "0123456789abcdef"[byte & 15];
  }
  require(hex == it->second.sha256, FP8RT_INVALID_PACKAGE, label, ": entry \"",
          name, "\" has SHA-256 ", hex, ", the manifest says \"",
          it->second.sha256, "\"");
  return bytes;
}

Bytes Package::cpuObject() const {
  bool v3 = __builtin_cpu_supports("x86-64-v3");
  bool v4 = __builtin_cpu_supports("x86-64-v4");
  for (const char *isa : {package::kIsaV4, package::kIsaV3}) {
    if (!(isa == package::kIsaV4 ? v4 : v3))
      continue;
    for (const Object &object : objects)
      if (object.device == package::kCpu && object.isa == isa)
        return checkedEntry(object.file);
  }
  std::string have;
  for (const Object &object : objects)
    if (object.device == package::kCpu)
      have += (have.empty() ? "" : ", ") + object.isa;
  fail(FP8RT_INCOMPATIBLE, label, ": has CPU kernels for ",
       have.empty() ? "no processor" : have, ", this processor runs ",
       v4   ? "x86-64-v4 and x86-64-v3"
       : v3 ? "x86-64-v3"
            : "neither x86-64-v4 nor x86-64-v3");
}

Bytes Package::gpuObject(const std::string &target,
                         const char *extension) const {
  std::string suffix = std::string(".") + extension;
  for (const Object &object : objects) {
    const std::string &file = object.file;
    if (object.device == package::kCuda && object.isa == target &&
        file.size() > suffix.size() &&
        !file.compare(file.size() - suffix.size(), suffix.size(), suffix))
      return checkedEntry(file);
  }
  return {};
}
