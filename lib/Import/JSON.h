//===- JSON.h - JSON values in place ----------------------------*- C++ -*-===//
//
// Part of fp8c, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A graph of some thousand nodes is megabytes of small objects. A value here
// is a few words in one arena and points into the text; llvm::json allocates a
// hash table an object and copies arrays as they grow. Names, readers and
// messages are llvm::json's.
//
//===----------------------------------------------------------------------===//

#ifndef FP8C_LIB_IMPORT_JSON_H
#define FP8C_LIB_IMPORT_JSON_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/Allocator.h"
#include "llvm/Support/JSON.h"

#include <map>
#include <optional>
#include <string>
#include <vector>

namespace fp8c::import::json {

using llvm::json::Path;

class Value;
struct Member;
using Array = llvm::ArrayRef<Value>;

/// The members of an object, in the order of the text.
struct Object : llvm::ArrayRef<Member> {
  using llvm::ArrayRef<Member>::ArrayRef;

  /// The member of that name (of several, the last); null without.
  const Value *get(llvm::StringRef name) const;
  const Object *getObject(llvm::StringRef name) const;
  const Array *getArray(llvm::StringRef name) const;
  std::optional<llvm::StringRef> getString(llvm::StringRef name) const;
  std::optional<int64_t> getInteger(llvm::StringRef name) const;
};

/// A value; what it refers to belongs to the Document.
class Value {
public:
  Value() = default;
  explicit Value(bool value) : kind(Kind::Boolean), boolean(value) {}
  explicit Value(Array elements) : kind(Kind::Array), elements(elements) {}
  explicit Value(Object members) : kind(Kind::Object), members(members) {}
  static Value string(llvm::StringRef text) { return {Kind::String, text}; }
  /// `text` is a number by JSON's grammar.
  static Value number(llvm::StringRef text) { return {Kind::Number, text}; }

  bool isNull() const { return kind == Kind::Null; }
  std::optional<bool> getAsBoolean() const;
  std::optional<double> getAsNumber() const;
  std::optional<int64_t> getAsInteger() const;
  std::optional<llvm::StringRef> getAsString() const;
  const Array *getAsArray() const;
  const Object *getAsObject() const;

private:
  enum class Kind { Null, Boolean, Number, String, Array, Object };
  Value(Kind kind, llvm::StringRef text) : kind(kind), text(text) {}

  Kind kind = Kind::Null;
  union {
    bool boolean = false;
    llvm::StringRef text;
    Array elements;
    Object members;
  };
};

struct Member {
  llvm::StringRef first;
  Value second;
};

/// A parsed text, which has to live as long.
class Document {
public:
  /// `name` is what errors call the text. Nesting is limited.
  static llvm::Expected<Document> parse(llvm::StringRef text,
                                        llvm::StringRef name);
  const Value &root() const { return value; }

private:
  llvm::BumpPtrAllocator arena;
  Value value;
};

//===----------------------------------------------------------------------===//
// Readers: false, and a report to the path, where the value is another one
//===----------------------------------------------------------------------===//

bool fromJSON(const Value &value, std::string &out, Path path);
bool fromJSON(const Value &value, int64_t &out, Path path);
bool fromJSON(const Value &value, bool &out, Path path);

template <typename T>
bool fromJSON(const Value &value, std::optional<T> &out, Path path) {
  if (value.isNull()) {
    out = std::nullopt;
    return true;
  }
  return fromJSON(value, out.emplace(), path);
}

template <typename T>
bool fromJSON(const Value &value, std::vector<T> &out, Path path) {
  const Array *array = value.getAsArray();
  if (!array) {
    path.report("expected array");
    return false;
  }
  out.clear();
  out.resize(array->size());
  for (auto [index, element] : llvm::enumerate(*array))
    if (!fromJSON(element, out[index], path.index(index)))
      return false;
  return true;
}

template <typename T>
bool fromJSON(const Value &value, std::map<std::string, T> &out, Path path) {
  const Object *object = value.getAsObject();
  if (!object) {
    path.report("expected object");
    return false;
  }
  out.clear();
  for (const Member &member : *object)
    if (!fromJSON(member.second, out[member.first.str()],
                  path.field(member.first)))
      return false;
  return true;
}

/// Reads an object's members: `mapper && mapper.map("name", name) && ...`.
class ObjectMapper {
public:
  ObjectMapper(const Value &value, Path path)
      : object(value.getAsObject()), path(path) {
    if (!object)
      path.report("expected object");
  }
  explicit operator bool() const { return object; }

  /// Reads a member; it is an error if it is missing.
  template <typename T> bool map(llvm::StringLiteral name, T &out) {
    if (const Value *member = object->get(name))
      return fromJSON(*member, out, path.field(name));
    path.field(name).report("missing value");
    return false;
  }
  /// Reads a member; none, where it is missing.
  template <typename T>
  bool map(llvm::StringLiteral name, std::optional<T> &out) {
    out = std::nullopt;
    return mapOptional(name, out);
  }
  /// Reads a member; `out` stays as it is where it is missing.
  template <typename T> bool mapOptional(llvm::StringLiteral name, T &out) {
    const Value *member = object->get(name);
    return !member || fromJSON(*member, out, path.field(name));
  }

private:
  const Object *object;
  Path path;
};

} // namespace fp8c::import::json

#endif // FP8C_LIB_IMPORT_JSON_H
