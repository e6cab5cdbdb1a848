//===- Safetensors.cpp - Reading and writing safetensors ------------------===//
//
// Part of fp8c, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Safetensors.h"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <memory>
#include <sys/stat.h>
#include <tuple>
#include <unistd.h>
#include <unordered_set>

using namespace fp8c::rt;
using nlohmann::json;

/// Longest header that is read, as the format's own library has it.
static constexpr uint64_t kMaxHeader = 100'000'000;

int64_t fp8c::rt::byteSize(DType dtype, const int64_t *dims, size_t rank) {
  // A dim of 0 makes any size legal beside it, but no overflow: the product of
  // the others is still bounded so that strides can be computed.
  int64_t size = elementSize(dtype);
  bool empty = false;
  for (size_t i = 0; i < rank; ++i) {
    if (dims[i] < 0)
      return -1;
    if (dims[i] == 0)
      empty = true;
    else if (__builtin_mul_overflow(size, dims[i], &size))
      return -1;
  }
  return empty ? 0 : size;
}

/// An integer of a header that is not negative.
static bool getIndex(const json &value, int64_t &out) {
  if (!value.is_number_integer())
    return false;
  if (value.is_number_unsigned() && value.get<uint64_t>() > uint64_t(INT64_MAX))
    return false;
  out = value.get<int64_t>();
  return out >= 0;
}

/// The header's object. Of two equal keys JSON keeps one, so they are refused
/// while it is read.
static json parseHeader(const char *text, uint64_t length,
                        const std::string &what) {
  // The keys of each object that is open.
  std::vector<std::unordered_set<std::string>> keys;
  auto visit = [&](int, json::parse_event_t event, json &parsed) {
    if (event == json::parse_event_t::object_start)
      keys.emplace_back();
    else if (event == json::parse_event_t::object_end)
      keys.pop_back();
    else if (event == json::parse_event_t::key)
      require(keys.back().insert(parsed.get<std::string>()).second,
              FP8RT_INVALID_PACKAGE, what, ": the header has the key \"",
              parsed.get_ref<const std::string &>(), "\" twice");
    return true;
  };
  json header = json::parse(text, text + length, visit, false);
  require(header.is_object(), FP8RT_INVALID_PACKAGE, what,
          ": the header is not a JSON object");
  return header;
}

namespace {
/// Where a tensor's data lies, in bytes.
struct Span {
  int64_t begin, end;
  std::string name;
};
} // namespace

/// The format has tensors side by side, from the first byte to the last.
static void checkSpans(std::vector<Span> spans, int64_t size,
                       const std::string &what) {
  std::sort(spans.begin(), spans.end(), [](const Span &a, const Span &b) {
    return std::tie(a.begin, a.end) < std::tie(b.begin, b.end);
  });
  int64_t last = 0;
  for (const Span &span : spans) {
    require(span.begin == last, FP8RT_INVALID_PACKAGE, what, ": tensor \"",
            span.name, "\": its data begins at byte ", span.begin,
            ", expected ", last, ", where the one before it ends");
    last = span.end;
  }
  require(last == size, FP8RT_INVALID_PACKAGE, what, ": has ", size,
          " bytes of data, its tensors take ", last);
}

std::unordered_map<std::string, StoredTensor>
fp8c::rt::readSafetensors(Bytes file, const std::string &what,
                          UnknownTypes unknown) {
  uint64_t length = 0;
  require(file.size >= 8, FP8RT_INVALID_PACKAGE, what, ": of ", file.size,
          " bytes, shorter than its header's length");
  std::memcpy(&length, file.data, 8);
  require(length <= kMaxHeader && length <= file.size - 8,
          FP8RT_INVALID_PACKAGE, what, ": header of ", length,
          " bytes in a file of ", file.size);
  const char *text = reinterpret_cast<const char *>(file.data + 8);
  json header = parseHeader(text, length, what);
  Bytes data{file.data + 8 + length, size_t(file.size - 8 - length)};
  std::unordered_map<std::string, StoredTensor> tensors;
  std::vector<Span> spans;
  for (const auto &[name, entry] : header.items()) {
    if (name == "__metadata__")
      continue;
    auto bad = [&, &name = name](const auto &...why) {
      fail(FP8RT_INVALID_PACKAGE, what, ": tensor \"", name, "\": ", why...);
    };
    if (!entry.is_object() || !entry.contains("dtype") ||
        !entry["dtype"].is_string() || !entry.contains("shape") ||
        !entry["shape"].is_array() || !entry.contains("data_offsets") ||
        !entry["data_offsets"].is_array() || entry["data_offsets"].size() != 2)
      bad("needs dtype, shape and data_offsets");
    int64_t begin = 0, end = 0;
    auto dtype =
        fromSafetensorsName(entry["dtype"].get_ref<const std::string &>());
    if (!dtype && unknown == UnknownTypes::LeaveOut) {
      if (!getIndex(entry["data_offsets"][0], begin) ||
          !getIndex(entry["data_offsets"][1], end))
        bad("its data is not within the file");
      spans.push_back({begin, end, name});
      continue;
    }
    if (!dtype)
      bad("has the dtype \"", entry["dtype"].get_ref<const std::string &>(),
          "\", expected one of ", safetensorsNames());
    StoredTensor tensor;
    tensor.dtype = *dtype;
    for (const json &dim : entry["shape"]) {
      tensor.dims.push_back(0);
      if (!getIndex(dim, tensor.dims.back()))
        bad("a dim is not a size");
    }
    if (!getIndex(entry["data_offsets"][0], begin) ||
        !getIndex(entry["data_offsets"][1], end) || begin > end ||
        uint64_t(end) > data.size)
      bad("its data is not within the file");
    if (byteSize(*dtype, tensor.dims.data(), tensor.dims.size()) != end - begin)
      bad("dtype and shape do not give the size of its data");
    tensor.data = {data.data + begin, size_t(end - begin)};
    spans.push_back({begin, end, name});
    tensors.emplace(name, std::move(tensor));
  }
  checkSpans(std::move(spans), int64_t(data.size), what);
  return tensors;
}

void fp8c::rt::writeSafetensors(const std::string &path,
                                const std::vector<TensorToStore> &tensors) {
  json header = json::object();
  int64_t offset = 0;
  std::vector<int64_t> sizes;
  for (const TensorToStore &t : tensors) {
    sizes.push_back(byteSize(t.dtype, t.dims.data(), t.dims.size()));
    header[t.name] = {{"dtype", safetensorsName(t.dtype)},
                      {"shape", t.dims},
                      {"data_offsets", {offset, offset + sizes.back()}}};
    offset += sizes.back();
  }
  std::string text =
      header.dump(-1, ' ', false, json::error_handler_t::replace);
  text.append((8 - text.size() % 8) % 8, ' ');
  uint64_t length = text.size();

  // A rename would put a file in the place of a device.
  struct stat info;
  require(stat(path.c_str(), &info) != 0 || S_ISREG(info.st_mode),
          FP8RT_IO_ERROR, "cannot write \"", path, "\": not a regular file");
  std::string temporary = path + ".tmp" + std::to_string(getpid());
  FILE *file = std::fopen(temporary.c_str(), "wb");
  require(file, FP8RT_IO_ERROR, "cannot write \"", path,
          "\": ", std::strerror(errno));
  bool ok = std::fwrite(&length, 8, 1, file) == 1 &&
            (text.empty() || std::fwrite(text.data(), text.size(), 1, file));
  for (size_t i = 0; i < tensors.size() && ok; ++i)
    ok = sizes[i] == 0 ||
         std::fwrite(tensors[i].data, size_t(sizes[i]), 1, file) == 1;
  ok = std::fclose(file) == 0 && ok;
  ok = ok && std::rename(temporary.c_str(), path.c_str()) == 0;
  if (!ok) {
    int saved = errno;
    std::remove(temporary.c_str());
    fail(FP8RT_IO_ERROR, "cannot write \"", path, "\": ", std::strerror(saved));
  }
}

std::vector<char> fp8c::rt::readWholeFile(const std::string &path) {
  const bool isStdin = path == "-";
  std::unique_ptr<FILE, int (*)(FILE *)> file(
      isStdin ? stdin : std::fopen(path.c_str(), "rb"),
      isStdin ? [](FILE *) { return 0; } : std::fclose);
  require(file != nullptr, FP8RT_IO_ERROR, "cannot read \"", path,
          "\": ", std::strerror(errno));
  struct stat info;
  require(fstat(fileno(file.get()), &info) == 0 &&
              (S_ISREG(info.st_mode) || S_ISFIFO(info.st_mode)),
          FP8RT_IO_ERROR, "cannot read \"", path,
          "\": neither a regular file nor a pipe");
  std::vector<char> bytes;
  char block[1 << 16];
  while (size_t count = std::fread(block, 1, sizeof(block), file.get()))
    bytes.insert(bytes.end(), block, block + count);
  require(!std::ferror(file.get()), FP8RT_IO_ERROR, "cannot read \"", path,
          "\": ", std::strerror(errno));
  return bytes;
}
