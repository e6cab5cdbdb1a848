//===- OpTable.cpp - The operators that import reads ----------------------===//
//
// Part of fp8c, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "fp8c/Import/OpTable.h"

#include "Ops/Families.h"

#include "llvm/ADT/StringSwitch.h"
#include "llvm/Support/ErrorHandling.h"
#include "llvm/Support/FormatVariadic.h"

#include <map>

using namespace fp8c::import;
using llvm::StringRef;

/// The parameter type of a schema's type without its `?`.
static Parameter::Type parseType(StringRef type, bool optional) {
  using Type = Parameter::Type;
  // An alias annotation, `Tensor(a!)`, says what the table's kind says too.
  if (type.consume_front("Tensor")) {
    if (type.starts_with("("))
      type = type.drop_front(type.find(')') + 1);
    if (type.empty())
      return optional ? Type::OptionalTensor : Type::Tensor;
    return type.starts_with("?[") ? Type::OptionalTensors : Type::Tensors;
  }
  // `int[2]` is `int[]`: a list that a single number may stand for.
  bool isList = type.ends_with("]");
  StringRef element = isList ? type.take_front(type.find('[')) : type;
  if (isList)
    return llvm::StringSwitch<Type>(element)
        .Case("int", Type::Ints)
        .Case("SymInt", Type::Sizes)
        .Case("Scalar", Type::Scalars)
        .Case("float", Type::Floats)
        .Case("bool", Type::Bools)
        .Default(Type::Ignored);
  return llvm::StringSwitch<Type>(element)
      .Case("int", Type::Int)
      .Case("SymInt", Type::Size)
      .Case("Scalar", Type::Scalar)
      .Case("float", Type::Float)
      .Case("bool", Type::Bool)
      .Case("str", Type::String)
      .Case("ScalarType", Type::DType)
      .Default(Type::Ignored);
}

/// "int[1] dim=[0, 1]" or "Tensor? bias=None".
static Parameter parseParameter(StringRef text) {
  Parameter parameter;
  auto [declaration, defaultValue] = text.split('=');
  parameter.defaultValue = defaultValue.trim().str();
  auto [type, name] = declaration.trim().rsplit(' ');
  parameter.name = name.str();
  parameter.optional = type.consume_back("?");
  parameter.type = parseType(type, parameter.optional);
  return parameter;
}

void OpTable::add(StringRef family, StringRef name, StringRef schema,
                  Converter convert, OpKind kind, Scatter scatter) {
  OpEntry entry{name.str(), family.str(), kind, {}, convert, scatter};
  // Commas inside brackets belong to a default.
  unsigned depth = 0;
  size_t begin = 0;
  for (size_t i = 0; i <= schema.size(); ++i) {
    char c = i < schema.size() ? schema[i] : ',';
    depth += c == '[' || c == '(';
    depth -= c == ']' || c == ')';
    if (c != ',' || depth != 0)
      continue;
    StringRef text = schema.slice(begin, i).trim();
    begin = i + 1;
    if (!text.empty() && text != "*")
      entry.parameters.push_back(parseParameter(text));
  }
  bool isNew = entries.try_emplace(name, std::move(entry)).second;
  if (!isNew)
    llvm::report_fatal_error(llvm::Twine("operator registered twice: ") + name);
}

const OpEntry *OpTable::lookup(StringRef name) const {
  auto it = entries.find(name);
  return it == entries.end() ? nullptr : &it->second;
}

void OpTable::print(llvm::raw_ostream &os) const {
  std::map<std::string, std::map<std::string, const OpEntry *>> families;
  for (const auto &entry : entries)
    families[entry.second.family][entry.second.name] = &entry.second;
  os << "# Supported operators\n\n"
        "Printed from the operator table by `fp8-translate "
        "--print-supported-operators`.\n";
  for (const auto &[family, members] : families) {
    os << "\n## " << family << "\n\n| operator | kind |\n| --- | --- |\n";
    for (const auto &[name, entry] : members) {
      StringRef kind = entry->kind == OpKind::Functional  ? "functional"
                       : entry->kind == OpKind::View      ? "view"
                       : entry->kind == OpKind::MaybeView ? "view or copy"
                                                          : "in place";
      os << llvm::formatv("| `{0}` | {1} |\n", name, kind);
    }
  }
}

const OpTable &OpTable::get() {
  static const OpTable table = [] {
    OpTable made;
    registerAllFamilies(made);
    return made;
  }();
  return table;
}
