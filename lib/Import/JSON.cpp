//===- JSON.cpp - JSON values in place ------------------------------------===//
//
// Part of fp8c, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "JSON.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/ConvertUTF.h"

#include <cerrno>
#include <cstdlib>

using namespace llvm;

namespace fp8c::import::json {

/// How deep a text may nest; model.json has a depth of some 12.
static constexpr unsigned kMaxDepth = 100;

//===----------------------------------------------------------------------===//
// Access
//===----------------------------------------------------------------------===//

const Value *Object::get(StringRef name) const {
  for (const Member &member : llvm::reverse(*this))
    if (member.first == name)
      return &member.second;
  return nullptr;
}

const Object *Object::getObject(StringRef name) const {
  const Value *value = get(name);
  return value ? value->getAsObject() : nullptr;
}

const Array *Object::getArray(StringRef name) const {
  const Value *value = get(name);
  return value ? value->getAsArray() : nullptr;
}

std::optional<StringRef> Object::getString(StringRef name) const {
  const Value *value = get(name);
  return value ? value->getAsString() : std::nullopt;
}

std::optional<int64_t> Object::getInteger(StringRef name) const {
  const Value *value = get(name);
  return value ? value->getAsInteger() : std::nullopt;
}

std::optional<bool> Value::getAsBoolean() const {
  return kind == Kind::Boolean ? std::optional<bool>(boolean) : std::nullopt;
}

std::optional<double> Value::getAsNumber() const {
  if (kind != Kind::Number)
    return std::nullopt;
  return std::strtod(text.str().c_str(), nullptr);
}

std::optional<int64_t> Value::getAsInteger() const {
  int64_t integer;
  if (kind == Kind::Number && !text.getAsInteger(10, integer))
    return integer;
  // 1e3 and 2.0 are integers too.
  std::optional<double> number = getAsNumber();
  if (number && *number >= -0x1p63 && *number < 0x1p63 &&
      *number == double(int64_t(*number)))
    return int64_t(*number);
  return std::nullopt;
}

std::optional<StringRef> Value::getAsString() const {
  return kind == Kind::String ? std::optional<StringRef>(text) : std::nullopt;
}

const Array *Value::getAsArray() const {
  return kind == Kind::Array ? &elements : nullptr;
}

const Object *Value::getAsObject() const {
  return kind == Kind::Object ? &members : nullptr;
}

//===----------------------------------------------------------------------===//
// The parser
//===----------------------------------------------------------------------===//

namespace {
class Parser {
public:
  Parser(StringRef text, BumpPtrAllocator &arena)
      : start(text.begin()), at(text.begin()), end(text.end()), arena(arena) {}

  /// Parses the whole text; false and an error where it is no JSON.
  bool parse(Value &out) {
    if (!parseValue(out))
      return false;
    skipSpace();
    return at == end || fail("text after the end");
  }
  const char *error = nullptr;
  bool tooDeep = false;
  size_t errorOffset() const { return at - start; }

private:
  bool fail(const char *message) {
    error = message;
    return false;
  }
  void skipSpace() {
    while (at != end &&
           (*at == ' ' || *at == '\n' || *at == '\t' || *at == '\r'))
      ++at;
  }
  bool consume(char c) {
    if (at == end || *at != c)
      return false;
    ++at;
    return true;
  }
  bool consume(StringRef word) {
    if (!StringRef(at, end - at).starts_with(word))
      return fail("invalid value");
    at += word.size();
    return true;
  }

  bool parseValue(Value &out);
  bool parseNumber(Value &out);
  bool parseString(StringRef &out);
  bool parseEscape(SmallVectorImpl<char> &out);
  bool parseUnicode(unsigned &out);
  bool parseArray(Value &out);
  bool parseObject(Value &out);

  /// Moves what came after `first` on the stack to the arena.
  template <typename T> ArrayRef<T> take(std::vector<T> &stack, size_t first) {
    size_t count = stack.size() - first;
    T *copy = arena.Allocate<T>(count);
    std::uninitialized_copy(stack.begin() + first, stack.end(), copy);
    stack.resize(first);
    return ArrayRef<T>(copy, count);
  }

  const char *start, *at, *end;
  BumpPtrAllocator &arena;
  unsigned depth = 0;
  /// The elements and members of the arrays and objects that are open.
  std::vector<Value> elements;
  std::vector<Member> members;
};
} // namespace

bool Parser::parseValue(Value &out) {
  skipSpace();
  if (at == end)
    return fail("unexpected end");
  switch (*at) {
  case '{':
  case '[': {
    if (++depth > kMaxDepth) {
      tooDeep = true;
      return fail("too deep");
    }
    bool good = *at == '{' ? parseObject(out) : parseArray(out);
    --depth;
    return good;
  }
  case '"': {
    StringRef text;
    if (!parseString(text))
      return false;
    out = Value::string(text);
    return true;
  }
  case 't':
    out = Value(true);
    return consume("true");
  case 'f':
    out = Value(false);
    return consume("false");
  case 'n':
    out = Value();
    return consume("null");
  default:
    return parseNumber(out);
  }
}

bool Parser::parseNumber(Value &out) {
  const char *first = at;
  auto digits = [&] {
    const char *begin = at;
    while (at != end && isDigit(*at))
      ++at;
    return at != begin;
  };
  consume('-');
  if (!digits())
    return fail("invalid value");
  if (consume('.') && !digits())
    return fail("invalid number");
  if (at != end && (*at == 'e' || *at == 'E')) {
    ++at;
    if (!consume('+'))
      consume('-');
    if (!digits())
      return fail("invalid number");
  }
  out = Value::number(StringRef(first, at - first));
  return true;
}

bool Parser::parseString(StringRef &out) {
  const char *first = ++at;
  auto plain = [&] {
    while (at != end && *at != '"' && *at != '\\' && uint8_t(*at) >= 0x20)
      ++at;
    return at != end && uint8_t(*at) >= 0x20;
  };
  if (!plain())
    return fail("unterminated string");
  if (*at == '"') {
    out = StringRef(first, at++ - first);
    return true;
  }
  SmallVector<char, 256> buffer(first, at);
  while (*at == '\\') {
    ++at;
    if (!parseEscape(buffer))
      return false;
    first = at;
    if (!plain())
      return fail("unterminated string");
    buffer.append(first, at);
  }
  ++at;
  out = StringRef(buffer.data(), buffer.size()).copy(arena);
  return true;
}

bool Parser::parseEscape(SmallVectorImpl<char> &out) {
  static constexpr StringLiteral kNames = "\"\\/bfnrt";
  static constexpr StringLiteral kValues = "\"\\/\b\f\n\r\t";
  if (at == end)
    return fail("unterminated string");
  char c = *at++;
  if (size_t index = kNames.find(c); index != StringRef::npos) {
    out.push_back(kValues[index]);
    return true;
  }
  if (c != 'u')
    return fail("invalid escape");
  unsigned code;
  if (!parseUnicode(code))
    return false;
  // Half a surrogate pair is no character.
  unsigned low = 0;
  if (code >= 0xD800 && code < 0xDC00 &&
      StringRef(at, end - at).starts_with("\\u")) {
    const char *saved = at;
    at += 2;
    if (!parseUnicode(low))
      return false;
    if (low >= 0xDC00 && low < 0xE000)
      code = 0x10000 + ((code - 0xD800) << 10) + (low - 0xDC00);
    else
      at = saved;
  }
  char bytes[UNI_MAX_UTF8_BYTES_PER_CODE_POINT], *next = bytes;
  if (!ConvertCodePointToUTF8(code, next)) {
    next = bytes;
    ConvertCodePointToUTF8(UNI_REPLACEMENT_CHAR, next);
  }
  out.append(bytes, next);
  return true;
}

bool Parser::parseUnicode(unsigned &out) {
  if (end - at < 4 || !all_of(StringRef(at, 4), isHexDigit) ||
      StringRef(at, 4).getAsInteger(16, out))
    return fail("invalid escape");
  at += 4;
  return true;
}

bool Parser::parseArray(Value &out) {
  size_t first = elements.size();
  ++at;
  skipSpace();
  if (!consume(']'))
    do {
      Value element;
      if (!parseValue(element))
        return false;
      elements.push_back(element);
      skipSpace();
      if (consume(']'))
        break;
    } while (consume(',') || fail("expected , or ]"));
  if (error)
    return false;
  out = Value(Array(take(elements, first)));
  return true;
}

bool Parser::parseObject(Value &out) {
  size_t first = members.size();
  ++at;
  skipSpace();
  if (!consume('}'))
    do {
      Member member;
      skipSpace();
      if (at == end || *at != '"')
        return fail("expected a member's name");
      if (!parseString(member.first))
        return false;
      skipSpace();
      if (!consume(':'))
        return fail("expected :");
      if (!parseValue(member.second))
        return false;
      members.push_back(member);
      skipSpace();
      if (consume('}'))
        break;
    } while (consume(',') || fail("expected , or }"));
  if (error)
    return false;
  ArrayRef<Member> taken = take(members, first);
  out = Value(Object(taken.data(), taken.size()));
  return true;
}

Expected<Document> Document::parse(StringRef text, StringRef name) {
  Document document;
  Parser parser(text, document.arena);
  if (size_t bad; !llvm::json::isUTF8(text, &bad))
    return createStringError(name + " is not JSON: invalid UTF-8 at byte " +
                             Twine(bad));
  if (!parser.parse(document.value)) {
    if (parser.tooDeep)
      return createStringError(name + " nests deeper than " + Twine(kMaxDepth));
    return createStringError(name + " is not JSON: " + parser.error +
                             " at byte " + Twine(parser.errorOffset()));
  }
  return document;
}

//===----------------------------------------------------------------------===//
// Readers
//===----------------------------------------------------------------------===//

bool fromJSON(const Value &value, std::string &out, Path path) {
  std::optional<StringRef> text = value.getAsString();
  if (!text) {
    path.report("expected string");
    return false;
  }
  out = text->str();
  return true;
}

bool fromJSON(const Value &value, int64_t &out, Path path) {
  std::optional<int64_t> integer = value.getAsInteger();
  if (!integer) {
    path.report("expected integer");
    return false;
  }
  out = *integer;
  return true;
}

bool fromJSON(const Value &value, bool &out, Path path) {
  std::optional<bool> boolean = value.getAsBoolean();
  if (!boolean) {
    path.report("expected boolean");
    return false;
  }
  out = *boolean;
  return true;
}

} // namespace fp8c::import::json
