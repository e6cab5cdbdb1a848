//===- ArchiveTest.cpp - Damaged archives ---------------------------------===//
//
// Part of fp8c, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "fp8c/Import/Importer.h"

#include "../Runtime/Zip.h"

#include <gtest/gtest.h>

#include <random>

using namespace fp8c::import;
using fp8c::test::makeZip;

static constexpr const char *kModel = R"({
  "graph_module": {
    "graph": {"inputs": [], "outputs": [], "nodes": [], "tensor_values": {},
              "sym_int_values": {}, "sym_bool_values": {}},
    "signature": {"input_specs": [], "output_specs": []}},
  "range_constraints": {}, "schema_version": {"major": 8, "minor": 20}})";

/// The tensor_meta of a weights config.
static std::string meta(const std::string &dtype, const std::string &sizes,
                        const std::string &strides, const std::string &offset) {
  auto list = [](const std::string &numbers) {
    std::string text;
    llvm::SmallVector<llvm::StringRef> parts;
    llvm::StringRef(numbers).split(parts, ',', -1, /*KeepEmpty=*/false);
    for (llvm::StringRef part : parts)
      text += (text.empty() ? "{\"as_int\": " : ", {\"as_int\": ") +
              part.str() + "}";
    return "[" + text + "]";
  };
  return R"({"config": {"w": {"path_name": "weight_0", "use_pickle": false,
    "tensor_meta": {"dtype": )" +
         dtype + ", \"sizes\": " + list(sizes) +
         ", \"strides\": " + list(strides) +
         ", \"storage_offset\": {\"as_int\": " + offset + "}}}}}";
}

static std::string archiveOf(const std::string &config) {
  return makeZip({{"m/models/model.json", kModel},
                  {"m/data/weights/weight_0", std::string(64, 'w')},
                  {"m/data/weights/model_weights_config.json", config}});
}

/// The message of reading all of an archive, "" when all is well.
static std::string failureOf(const std::string &bytes) {
  auto archive = Archive::read(llvm::MemoryBuffer::getMemBuffer(
      bytes, "", /*RequiresNullTerminator=*/false));
  if (!archive)
    return llvm::toString(archive.takeError());
  auto program = parseProgram((*archive)->find("models/model.json"));
  if (!program)
    return llvm::toString(program.takeError());
  auto storage = readStorage(**archive);
  return storage ? "" : llvm::toString(storage.takeError());
}

TEST(Archive, WeightsLieInTheirEntries) {
  auto weight = [](const char *dtype, const char *sizes, const char *strides,
                   const char *offset) {
    return failureOf(archiveOf(meta(dtype, sizes, strides, offset)));
  };
  std::string beyond =
      "'w': the tensor ends beyond the 64 bytes of entry 'data/weights/"
      "weight_0'";
  EXPECT_EQ(weight("7", "4,4", "4,1", "0"), "");
  EXPECT_EQ(weight("7", "4,4", "1,4", "0"), "");
  EXPECT_EQ(weight("7", "2,4", "8,1", "0"), "");
  EXPECT_EQ(weight("7", "", "", "15"), "");
  EXPECT_EQ(weight("7", "0,4", "4,1", "16"), "");
  EXPECT_EQ(weight("7", "4,5", "5,1", "0"), beyond);
  EXPECT_EQ(weight("8", "4,4", "4,1", "0"), beyond);
  EXPECT_EQ(weight("7", "4,4", "4,1", "1"), beyond);
  EXPECT_EQ(weight("7", "4,4", "5,1", "0"), beyond);
  EXPECT_EQ(weight("7", "", "", "16"), beyond);
  EXPECT_EQ(weight("7", "0", "1", "9223372036854775807"), beyond);
  EXPECT_EQ(weight("7", "4", "9223372036854775807", "0"), beyond);
  EXPECT_EQ(weight("7", "4", "1", "9223372036854775807"), beyond);
  EXPECT_EQ(weight("7", "4294967296,4294967296", "0,0", "0"),
            "'w': the number of elements is out of range");
  EXPECT_EQ(weight("7", "-1", "1", "0"),
            "'w': sizes and strides must be numbers, at least 0");
  EXPECT_EQ(weight("7", "4", "-1", "0"),
            "'w': sizes and strides must be numbers, at least 0");
  EXPECT_EQ(weight("7", "4", "1", "-1"),
            "'w': the offset must be a number, at least 0");
  EXPECT_EQ(weight("7", "4,4", "1", "0"), "'w': expected 2 strides, found 1");
  EXPECT_NE(weight("7", "99999999999999999999", "1", "0"), "");
  EXPECT_NE(weight("\"f32\"", "4", "1", "0"), "");
}

TEST(Archive, PathsStayInTheArchive) {
  std::string config = meta("7", "4", "1", "0");
  config.replace(config.find("weight_0"), 8, "../../../etc/passwd");
  EXPECT_EQ(failureOf(archiveOf(config)),
            "'w': the archive has no entry 'data/weights/../../../etc/passwd'");
}

TEST(Archive, NamesAreText) {
  for (const char *name : {"m/\xff\xfe", "m/a\x01", "m/a\\b", "m//a", "/m/a",
                           "m/./a", "m/../a", "m/a/.."}) {
    std::string error =
        failureOf(makeZip({{"m/models/model.json", kModel}, {name, ""}}));
    EXPECT_NE(error, "") << name;
  }
}

TEST(Archive, EveryTruncationAndManyFlips) {
  std::string good = archiveOf(meta("7", "4,4", "4,1", "0"));
  ASSERT_EQ(failureOf(good), "");
  for (size_t n = 0; n < good.size(); ++n)
    EXPECT_NE(failureOf(good.substr(0, n)), "") << n;
  std::mt19937 random(7);
  for (int i = 0; i < 20000; ++i) {
    std::string bad = good;
    for (unsigned j = 0; j <= random() % 4; ++j)
      bad[random() % bad.size()] ^= char(1 << random() % 8);
    failureOf(bad);
  }
}

TEST(Archive, HugeNumbersOfEntriesAndJSON) {
  // A directory that promises more entries than there are.
  std::string many = archiveOf(meta("7", "4,4", "4,1", "0"));
  size_t end = many.rfind("PK\5\6");
  many.replace(end + 8, 4, "\xff\xff\xff\xff");
  EXPECT_NE(failureOf(many), "");
  for (const char *nested : {"[", "{\"a\":", "[[[\"", "{\"config\":{\"w\":"}) {
    std::string text;
    for (int i = 0; i < 200000; ++i)
      text += nested;
    EXPECT_NE(failureOf(archiveOf(text)), "") << nested;
  }
}
