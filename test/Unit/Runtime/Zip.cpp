//===- Zip.cpp - Zips made by hand ----------------------------------------===//
//
// Part of fp8c, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Zip.h"

#include <cstdint>
#include <initializer_list>
#include <utility>

/// Appends little-endian numbers of the given sizes.
static void append(std::string &out,
                   std::initializer_list<std::pair<uint64_t, int>> fields) {
  for (auto [value, size] : fields)
    for (int i = 0; i < size; ++i)
      out += char(value >> (8 * i));
}

std::string
fp8c::test::makeZip(const std::map<std::string, std::string> &entries) {
  std::string out, directory;
  for (const auto &[name, data] : entries) {
    size_t offset = out.size();
    // The checksum stays 0: hashes in the manifest are what is checked.
    append(out, {{0x04034b50, 4}, {20, 2}, {0, 2}, {0, 2}, {0, 4}, {0, 4}});
    append(out, {{data.size(), 4}, {data.size(), 4}, {name.size(), 2}, {0, 2}});
    out += name + data;
    append(directory, {{0x02014b50, 4}, {20, 2}, {20, 2}, {0, 2}, {0, 2}});
    append(directory, {{0, 4}, {0, 4}, {data.size(), 4}, {data.size(), 4}});
    append(directory, {{name.size(), 2}, {0, 2}, {0, 2}, {0, 2}, {0, 2}});
    append(directory, {{0, 4}, {offset, 4}});
    directory += name;
  }
  size_t start = out.size();
  out += directory;
  append(out, {{0x06054b50, 4}, {0, 2}, {0, 2}, {entries.size(), 2}});
  append(out, {{entries.size(), 2}, {directory.size(), 4}, {start, 4}, {0, 2}});
  return out;
}
