//===- LargeMembersTest.cpp - JSON that is parsed item by item ------------===//
//
// Part of fp8c, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "fp8c/Import/LargeMembers.h"

#include <gtest/gtest.h>

using namespace fp8c::import;

namespace {
struct Cut {
  std::string rest, error;
  LargeMember list{{"graph", "nodes"}, {}};
  LargeMember map{{"graph", "values"}, {}};
};
} // namespace

static Cut cut(llvm::StringRef text, unsigned maxDepth = 10) {
  Cut result;
  LargeMember *members[] = {&result.list, &result.map};
  auto rest = cutLargeMembers(text, members, maxDepth);
  if (rest)
    result.rest = *rest;
  else
    result.error = llvm::toString(rest.takeError());
  return result;
}

TEST(LargeMembers, ItemsAreCutOut) {
  Cut made = cut(R"({"a": 1, "graph": {"nodes": [ {"b": [1, 2]}, "x,]}", 3 ],
    "values": {"k": {"nodes": [7]}, "l": "\"},"}, "nodes2": [4]}})");
  EXPECT_EQ(made.rest,
            "{\"a\": 1, \"graph\": {\"nodes\": [],\n    \"values\": {}, "
            "\"nodes2\": [4]}}");
  std::vector<llvm::StringRef> list{R"({"b": [1, 2]})", R"("x,]}")", "3"};
  std::vector<llvm::StringRef> map{R"("k": {"nodes": [7]})", R"("l": "\"},")"};
  EXPECT_EQ(made.list.items, list);
  EXPECT_EQ(made.map.items, map);
}

TEST(LargeMembers, EmptyOnesHaveNoItems) {
  Cut made = cut(R"({"graph": {"nodes": [ ], "values": {}}})");
  EXPECT_EQ(made.rest, R"({"graph": {"nodes": [], "values": {}}})");
  EXPECT_TRUE(made.list.items.empty() && made.map.items.empty());
}

TEST(LargeMembers, OtherPathsStay) {
  for (llvm::StringRef text :
       {R"({"nodes": [1]})", R"([{"graph": {"nodes": [1]}}])",
        R"({"graph": [{"nodes": [1]}]})", R"({"graph": {"no\u0064es": [1]}})"})
    EXPECT_EQ(cut(text).rest, text);
}

// What is no JSON stays so: the rest, or an item, is none.
TEST(LargeMembers, NothingWrongIsLost) {
  Cut trailing = cut(R"({"graph": {"nodes": [1,]}})");
  EXPECT_EQ(trailing.list.items, (std::vector<llvm::StringRef>{"1", ""}));
  Cut without = cut(R"({"graph": {"nodes": [1 2]}})");
  EXPECT_EQ(without.list.items, std::vector<llvm::StringRef>{"1 2"});
  EXPECT_EQ(cut(R"({"graph": {"nodes": [1}})").rest,
            R"({"graph": {"nodes": [}})");
  EXPECT_EQ(cut(R"({"graph": {"nodes": [1)").rest, R"({"graph": {"nodes": [1)");
  EXPECT_EQ(cut(R"(]}"\)").rest, R"(]}"\)");
}

TEST(LargeMembers, Errors) {
  EXPECT_EQ(cut("[[[[", 3).error, "nests deeper than 3");
  EXPECT_EQ(cut(R"({"graph": {"nodes": [1], "nodes": [2]}})").error,
            "has 'graph.nodes' twice");
}
