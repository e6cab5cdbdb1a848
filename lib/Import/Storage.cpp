//===- Storage.cpp - Where an archive holds weights ---------------------===//
//
// Part of fp8c, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "fp8c/Import/Importer.h"

#include "llvm/Support/CheckedArithmetic.h"

using namespace fp8c::import;
using llvm::createStringError;
using llvm::Error;
using llvm::Expected;
using llvm::StringRef;
using llvm::Twine;

/// Bytes of one element of a schema dtype; 0 for one that is not known, which
/// import refuses by name where it is used.
static int64_t elementBytes(int64_t dtype) {
  switch (dtype) {
  case 1:
  case 2:
  case 12:
  case 29:
  case 30:
  case 33:
    return 1;
  case 3:
  case 6:
  case 13:
  case 28:
    return 2;
  case 4:
  case 7:
  case 34:
    return 4;
  case 5:
  case 8:
  case 35:
    return 8;
  default:
    return 0;
  }
}

/// Checks one tensor against the bytes of its entry.
static Error checkEntry(const StorageEntry &entry, StringRef bytes) {
  if (!bytes.data())
    return createStringError("the archive has no entry '" + entry.path + "'");
  const TensorMeta &meta = entry.meta;
  for (const std::vector<SymInt> *list : {&meta.sizes, &meta.strides})
    for (const SymInt &size : *list)
      if (size.kind != SymInt::Kind::Number || size.number < 0)
        return createStringError(
            "sizes and strides must be numbers, at least 0");
  if (meta.offset.kind != SymInt::Kind::Number || meta.offset.number < 0)
    return createStringError("the offset must be a number, at least 0");
  if (!meta.strides.empty() && meta.strides.size() != meta.sizes.size())
    return createStringError("expected " + Twine(meta.sizes.size()) +
                             " strides, found " + Twine(meta.strides.size()));
  // One past the last element, over dense or stated strides.
  bool isEmpty = false;
  std::optional<int64_t> end = meta.offset.number, dense = 1;
  for (size_t i = meta.sizes.size(); i-- > 0;) {
    int64_t size = meta.sizes[i].number;
    std::optional<int64_t> stride =
        meta.strides.empty() ? dense : meta.strides[i].number;
    isEmpty |= size == 0;
    if (size > 1 && end && stride) {
      std::optional<int64_t> reach =
          llvm::checkedMul<int64_t>(size - 1, *stride);
      end = reach ? llvm::checkedAdd<int64_t>(*end, *reach) : std::nullopt;
    }
    dense = dense
                ? llvm::checkedMul<int64_t>(*dense, std::max<int64_t>(size, 1))
                : std::nullopt;
  }
  if (!dense)
    return createStringError("the number of elements is out of range");
  int64_t width = std::max<int64_t>(1, elementBytes(meta.dtype));
  if (isEmpty)
    end = meta.offset.number - 1; // One past the last element is the offset.
  std::optional<int64_t> last =
      end ? llvm::checkedMulAdd<int64_t>(*end, width, width) : std::nullopt;
  if (!last || static_cast<uint64_t>(*last) > bytes.size())
    return createStringError("the tensor ends beyond the " +
                             Twine(bytes.size()) + " bytes of entry '" +
                             entry.path + "'");
  return Error::success();
}

Expected<std::map<std::string, StorageEntry>>
fp8c::import::readStorage(const Archive &archive) {
  std::map<std::string, StorageEntry> storage;
  for (auto [folder, config] :
       {std::pair("data/weights/", "data/weights/model_weights_config.json"),
        std::pair("data/constants/",
                  "data/constants/model_constants_config.json")}) {
    StringRef text = archive.find(config);
    if (!text.data())
      continue;
    auto entries = parseStorageConfig(text);
    if (!entries)
      return createStringError(Twine(config) + ": " +
                               toString(entries.takeError()));
    for (auto &[name, entry] : *entries) {
      entry.path = folder + entry.path;
      if (!entry.pickled)
        if (Error error = checkEntry(entry, archive.find(entry.path)))
          return createStringError("'" + Twine(name) +
                                   "': " + toString(std::move(error)));
      storage.emplace(name, std::move(entry));
    }
  }
  return storage;
}
