//===- LargeMembers.cpp - JSON that is parsed item by item ----------------===//
//
// Part of fp8c, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "fp8c/Import/LargeMembers.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"

using namespace llvm;
using namespace fp8c::import;

namespace {
class Cutter {
public:
  Cutter(StringRef text, ArrayRef<LargeMember *> members, unsigned maxDepth)
      : text(text), members(members), maxDepth(maxDepth) {}

  Expected<std::string> run();

private:
  /// An array or object that is open, with the last key in it.
  struct Level {
    bool isObject;
    StringRef key;
  };

  Error open(size_t at);
  void close(size_t at);
  void endItem(size_t at);
  LargeMember *findMember();

  StringRef text;
  ArrayRef<LargeMember *> members;
  unsigned maxDepth;
  std::string rest;
  SmallVector<Level> levels;
  /// The end of what is in `rest` or in items.
  size_t done = 0;
  /// The member that is being cut, and the depth of its items.
  LargeMember *cut = nullptr;
  size_t cutDepth = 0;
};
} // namespace

LargeMember *Cutter::findMember() {
  for (LargeMember *member : members)
    if (llvm::equal(levels, member->path,
                    [](const Level &level, StringRef key) {
                      return level.isObject && level.key == key;
                    }))
      return member;
  return nullptr;
}

Error Cutter::open(size_t at) {
  if (levels.size() == maxDepth)
    return createStringError("nests deeper than " + Twine(maxDepth));
  LargeMember *member = cut ? nullptr : findMember();
  levels.push_back({text[at] == '{', {}});
  if (!member)
    return Error::success();
  if (!member->items.empty())
    return createStringError("has '" + join(member->path, ".") + "' twice");
  rest += text.slice(done, at + 1);
  done = at + 1;
  cut = member;
  cutDepth = levels.size();
  return Error::success();
}

void Cutter::endItem(size_t at) {
  cut->items.push_back(text.slice(done, at).trim());
  done = at + 1;
}

void Cutter::close(size_t at) {
  if (cut && levels.size() == cutDepth) {
    if (!cut->items.empty() || !text.slice(done, at).trim().empty())
      endItem(at);
    done = at;
    cut = nullptr;
  }
  if (!levels.empty())
    levels.pop_back();
}

Expected<std::string> Cutter::run() {
  StringRef string;
  for (size_t i = 0; i < text.size(); ++i) {
    switch (text[i]) {
    case '"': {
      size_t begin = i + 1;
      for (++i; i < text.size() && text[i] != '"'; ++i)
        if (text[i] == '\\')
          ++i;
      string = text.slice(begin, i);
      break;
    }
    case ':':
      if (!levels.empty())
        levels.back().key = string;
      break;
    case ',':
      if (cut && levels.size() == cutDepth)
        endItem(i);
      break;
    case '[':
    case '{':
      if (Error error = open(i))
        return error;
      break;
    case ']':
    case '}':
      close(i);
      break;
    }
  }
  rest += text.substr(done);
  return std::move(rest);
}

Expected<std::string>
fp8c::import::cutLargeMembers(StringRef text, ArrayRef<LargeMember *> members,
                              unsigned maxDepth) {
  return Cutter(text, members, maxDepth).run();
}
