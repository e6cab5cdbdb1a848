//===- SchemaArguments.cpp - Sizes and arguments of nodes -----------------===//
//
// Part of fp8c, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "SchemaReader.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/FormatVariadic.h"

#include <limits>

using namespace llvm;
using namespace fp8c::import;
using json::ObjectMapper;
using json::Path;

namespace {
/// A float; infinities and NaN are strings in the archive.
struct Float {
  double value = 0;
};
} // namespace

static bool fromJSON(const json::Value &json, Float &out, Path path) {
  if (std::optional<double> number = json.getAsNumber()) {
    out.value = *number;
    return true;
  }
  StringRef text = json.getAsString().value_or("");
  if (text == "Infinity" || text == "-Infinity")
    out.value = text.front() == '-' ? -std::numeric_limits<double>::infinity()
                                    : std::numeric_limits<double>::infinity();
  else if (text == "NaN")
    out.value = std::numeric_limits<double>::quiet_NaN();
  else {
    path.report("expected a number");
    return false;
  }
  return true;
}

const json::Object::value_type *
fp8c::import::unionMember(const json::Value &json, Path path) {
  const json::Object *object = json.getAsObject();
  if (!object || object->size() != 1) {
    path.report("expected an object with one member");
    return nullptr;
  }
  return &*object->begin();
}

namespace fp8c::import {

bool fromJSON(const json::Value &json, SymInt &out, Path path) {
  const json::Object::value_type *member = unionMember(json, path);
  if (!member)
    return false;
  StringRef kind = member->first;
  Path inner = path.field(kind);
  if (kind == "as_int") {
    out.kind = SymInt::Kind::Number;
    return json::fromJSON(member->second, out.number, inner);
  }
  if (kind == "as_bool") {
    bool value = false;
    if (!json::fromJSON(member->second, value, inner))
      return false;
    out.number = value;
    return true;
  }
  if (kind == "as_name") {
    out.kind = SymInt::Kind::Name;
    return json::fromJSON(member->second, out.text, inner);
  }
  if (kind == "as_expr") {
    out.kind = SymInt::Kind::Expression;
    ObjectMapper mapper(member->second, inner);
    if (const json::Object *object = member->second.getAsObject())
      if (const json::Object *hint = object->getObject("hint"))
        out.hint = hint->getInteger("as_int");
    return mapper && mapper.map("expr_str", out.text);
  }
  if (kind == "as_float") {
    // A float that is known at export; written as an expression.
    Float value;
    if (!::fromJSON(member->second, value, inner))
      return false;
    out.kind = SymInt::Kind::Expression;
    out.text = formatv("Float('{0:f17}')", value.value).str();
    return true;
  }
  path.report("unknown kind of size");
  return false;
}

bool fromJSON(const json::Value &json, TensorMeta &out, Path path) {
  ObjectMapper mapper(json, path);
  return mapper && mapper.map("dtype", out.dtype) &&
         mapper.map("sizes", out.sizes) && mapper.map("strides", out.strides) &&
         mapper.map("storage_offset", out.offset);
}

bool readName(const json::Value &json, std::string &out, Path path) {
  ObjectMapper mapper(json, path);
  return mapper && mapper.map("name", out);
}

/// Calls `read` with each element of an array.
static bool forEachElement(const json::Value &json, Path path,
                           function_ref<bool(const json::Value &, Path)> read) {
  const json::Array *array = json.getAsArray();
  if (!array) {
    path.report("expected an array");
    return false;
  }
  for (auto [index, element] : llvm::enumerate(*array))
    if (!read(element, path.index(index)))
      return false;
  return true;
}

/// `{"as_tensor": {"name": ...}}`, or None as an empty name.
static bool readOptionalTensor(const json::Value &json, std::string &out,
                               Path path) {
  const json::Object::value_type *member = unionMember(json, path);
  if (!member)
    return false;
  StringRef kind = member->first;
  if (kind == "as_none")
    return true;
  if (kind == "as_tensor")
    return readName(member->second, out, path.field(kind));
  path.report("expected as_tensor or as_none");
  return false;
}

bool fromJSON(const json::Value &json, Argument &out, Path path) {
  using Kind = Argument::Kind;
  const json::Object::value_type *member = unionMember(json, path);
  if (!member)
    return false;
  StringRef name = member->first;
  const json::Value &value = member->second;
  Path inner = path.field(name);
  auto set = [&](Kind kind) {
    out.kind = kind;
    return true;
  };
  auto addName = [&](const json::Value &element, Path at) {
    return readName(element, out.names.emplace_back(), at);
  };
  auto addInt = [&](const json::Value &element, Path at) {
    return json::fromJSON(element, out.ints.emplace_back().number, at);
  };
  auto addFloat = [&](const json::Value &element, Path at) {
    Float number;
    bool good = ::fromJSON(element, number, at);
    out.floats.push_back(number.value);
    return good;
  };
  auto addBool = [&](const json::Value &element, Path at) {
    bool flag = false;
    bool good = json::fromJSON(element, flag, at);
    out.bools.push_back(flag);
    return good;
  };
  auto addString = [&](const json::Value &element, Path at) {
    return json::fromJSON(element, out.names.emplace_back(), at);
  };
  auto addSymInt = [&](const json::Value &element, Path at) {
    return fromJSON(element, out.ints.emplace_back(), at);
  };
  auto addOptional = [&](const json::Value &element, Path at) {
    return readOptionalTensor(element, out.names.emplace_back(), at);
  };

  if (name == "as_none")
    return set(Kind::None);
  if (name == "as_tensor")
    return set(Kind::Tensor) && addName(value, inner);
  if (name == "as_tensors")
    return set(Kind::Tensors) && forEachElement(value, inner, addName);
  if (name == "as_optional_tensors")
    return set(Kind::OptionalTensors) &&
           forEachElement(value, inner, addOptional);
  if (name == "as_optional_tensor") {
    if (!addOptional(value, inner))
      return false;
    return set(out.names.front().empty() ? Kind::None : Kind::Tensor);
  }
  if (name == "as_int")
    return set(Kind::Int) && addInt(value, inner);
  if (name == "as_ints")
    return set(Kind::Ints) && forEachElement(value, inner, addInt);
  if (name == "as_sym_int")
    return set(Kind::SymInt) && addSymInt(value, inner);
  if (name == "as_sym_ints")
    return set(Kind::SymInts) && forEachElement(value, inner, addSymInt);
  if (name == "as_float")
    return set(Kind::Float) && addFloat(value, inner);
  if (name == "as_floats")
    return set(Kind::Floats) && forEachElement(value, inner, addFloat);
  if (name == "as_bool")
    return set(Kind::Bool) && addBool(value, inner);
  if (name == "as_bools")
    return set(Kind::Bools) && forEachElement(value, inner, addBool);
  if (name == "as_string")
    return set(Kind::String) && addString(value, inner);
  if (name == "as_strings")
    return set(Kind::Strings) && forEachElement(value, inner, addString);
  if (name == "as_scalar_type")
    return set(Kind::ScalarType) && addInt(value, inner);
  if (name == "as_layout")
    return set(Kind::Layout) && addInt(value, inner);
  if (name == "as_memory_format")
    return set(Kind::MemoryFormat) && addInt(value, inner);
  if (name == "as_device")
    return set(Kind::Device);
  if (name == "as_sym_float" || name == "as_sym_bool") {
    SymInt symbol;
    if (!fromJSON(value, symbol, inner))
      return false;
    bool isFloat = name == "as_sym_float";
    if (symbol.kind == SymInt::Kind::Name) {
      out.names.push_back(symbol.text);
      return set(isFloat ? Kind::SymFloat : Kind::SymBool);
    }
    // A number in the place of a symbol.
    const json::Object::value_type *number = unionMember(value, inner);
    if (isFloat)
      return set(Kind::Float) && addFloat(number->second, inner);
    return set(Kind::Bool) && addBool(number->second, inner);
  }
  out.names.push_back(name.str());
  if (name == "as_graph") {
    const json::Object *named = value.getAsObject();
    const json::Value *graph = named ? named->get("graph") : nullptr;
    if (!graph) {
      inner.field("graph").report("missing value");
      return false;
    }
    out.graph = std::make_shared<Graph>();
    return set(Kind::Unknown) &&
           readGraph(*graph, *out.graph, inner.field("graph"));
  }
  return set(Kind::Unknown);
}

} // namespace fp8c::import
