//===- Schema.cpp - Reads an exported program --------------------------===//
//
// Part of fp8c, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "fp8c/Import/Schema.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/JSON.h"

#include <cmath>
#include <limits>

using namespace llvm;
using namespace fp8c::import;
using json::ObjectMapper;
using json::Path;

/// What llvm::json may recurse into; model.json has a depth of some 12.
static constexpr unsigned kMaxDepth = 100;

/// The major version of torch/_export/serde/schema.py that is read.
static constexpr int64_t kSchemaMajor = 8;

//===----------------------------------------------------------------------===//
// Unions
//===----------------------------------------------------------------------===//

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

/// The one member of a tagged union; null, and an error, where it is none.
static const json::Object::value_type *unionMember(const json::Value &json,
                                                   Path path) {
  const json::Object *object = json.getAsObject();
  if (!object || object->size() != 1) {
    path.report("expected an object with one member");
    return nullptr;
  }
  return &*object->begin();
}

namespace fp8c::import {

/// Reads a size, or a name or number in an argument.
static bool fromJSON(const json::Value &json, SymInt &out, Path path) {
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

static bool fromJSON(const json::Value &json, TensorMeta &out, Path path) {
  ObjectMapper mapper(json, path);
  return mapper && mapper.map("dtype", out.dtype) &&
         mapper.map("sizes", out.sizes) && mapper.map("strides", out.strides) &&
         mapper.map("storage_offset", out.offset);
}

/// The name in `{"name": ...}`.
static bool readName(const json::Value &json, std::string &out, Path path) {
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

static bool fromJSON(const json::Value &json, Argument &out, Path path) {
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
  return set(Kind::Unknown);
}

static bool fromJSON(const json::Value &json, NamedArgument &out, Path path) {
  ObjectMapper mapper(json, path);
  int64_t kind = 0;
  if (!mapper || !mapper.map("name", out.name) || !mapper.map("arg", out.value))
    return false;
  if (const json::Value *given = json.getAsObject()->get("kind"))
    kind = given->getAsInteger().value_or(0);
  out.keyword = kind == 2;
  return true;
}

//===----------------------------------------------------------------------===//
// Nodes
//===----------------------------------------------------------------------===//

/// The model's own line: of the frames `File "f", line n, in g`, the innermost
/// one outside of PyTorch.
static void readStackTrace(StringRef trace, Node &node) {
  SmallVector<StringRef> lines;
  trace.split(lines, '\n');
  for (StringRef text : lines) {
    text = text.trim();
    if (!text.consume_front("File \""))
      continue;
    auto [file, rest] = text.split("\", line ");
    unsigned line = 0;
    if (rest.split(',').first.getAsInteger(10, line) ||
        file.contains("/site-packages/torch/") || file.starts_with("torch/"))
      continue;
    node.file = file.str();
    node.line = line;
  }
}

/// The path of the innermost module: the entries of `key,path,class` are
/// separated by `;`, and both key and path may hold the same commas.
static void readModuleStack(StringRef stack, Node &node) {
  if (stack.empty() || stack.contains("_empty_nn_module_stack"))
    return;
  StringRef last = stack.rsplit(';').second;
  if (last.empty())
    last = stack;
  StringRef keyAndPath = last.rsplit(',').first;
  size_t commas = keyAndPath.count(',');
  if (commas % 2 == 0)
    return;
  size_t at = 0;
  for (size_t i = 0; i <= commas / 2; ++i)
    at = keyAndPath.find(',', at) + 1;
  node.modulePath = keyAndPath.drop_front(at).str();
}

static bool fromJSON(const json::Value &json, Node &out, Path path) {
  ObjectMapper mapper(json, path);
  if (!mapper || !mapper.map("target", out.target) ||
      !mapper.map("inputs", out.inputs) || !mapper.map("outputs", out.outputs))
    return false;
  StringRef target = out.target;
  if (target.consume_front("torch.ops."))
    out.target = target.str();
  const json::Object &object = *json.getAsObject();
  if (std::optional<StringRef> name = object.getString("name"))
    out.name = name->str();
  if (const json::Object *metadata = object.getObject("metadata")) {
    readStackTrace(metadata->getString("stack_trace").value_or(""), out);
    readModuleStack(metadata->getString("nn_module_stack").value_or(""), out);
  }
  return true;
}

//===----------------------------------------------------------------------===//
// Signature
//===----------------------------------------------------------------------===//

/// Reads `{"arg": {"name": ...}, <key>: ...}` of a parameter or mutation.
static bool readNamedTensor(const json::Value &json, StringLiteral key,
                            Argument &argument, std::string &name, Path path) {
  ObjectMapper mapper(json, path);
  if (!mapper || !mapper.map(key, name))
    return false;
  const json::Value *arg = json.getAsObject()->get("arg");
  if (!arg) {
    path.field("arg").report("missing value");
    return false;
  }
  argument.kind = Argument::Kind::Tensor;
  return readName(*arg, argument.names.emplace_back(), path.field("arg"));
}

static bool fromJSON(const json::Value &json, InputSpec &out, Path path) {
  using Kind = InputSpec::Kind;
  const json::Object::value_type *member = unionMember(json, path);
  if (!member)
    return false;
  StringRef kind = member->first;
  Path inner = path.field(kind);
  if (kind == "user_input") {
    ObjectMapper mapper(member->second, inner);
    return mapper && mapper.map("arg", out.argument);
  }
  if (kind == "constant_input") {
    out.kind = Kind::ConstantInput;
    ObjectMapper mapper(member->second, inner);
    return mapper && mapper.map("name", out.name) &&
           mapper.map("value", out.argument);
  }
  StringLiteral key = "parameter_name";
  if (kind == "parameter") {
    out.kind = Kind::Parameter;
  } else if (kind == "buffer") {
    out.kind = Kind::Buffer;
    key = "buffer_name";
  } else if (kind == "tensor_constant") {
    out.kind = Kind::Constant;
    key = "tensor_constant_name";
  } else {
    out.kind = Kind::Unsupported;
    out.name = kind.str();
    return true;
  }
  return readNamedTensor(member->second, key, out.argument, out.name, inner);
}

static bool fromJSON(const json::Value &json, OutputSpec &out, Path path) {
  using Kind = OutputSpec::Kind;
  const json::Object::value_type *member = unionMember(json, path);
  if (!member)
    return false;
  StringRef kind = member->first;
  Path inner = path.field(kind);
  if (kind == "user_output") {
    ObjectMapper mapper(member->second, inner);
    return mapper && mapper.map("arg", out.argument);
  }
  StringLiteral key = "buffer_name";
  if (kind == "buffer_mutation") {
    out.kind = Kind::BufferMutation;
  } else if (kind == "parameter_mutation") {
    out.kind = Kind::BufferMutation;
    key = "parameter_name";
  } else if (kind == "user_input_mutation") {
    out.kind = Kind::InputMutation;
    key = "user_input_name";
  } else {
    out.kind = Kind::Unsupported;
    out.name = kind.str();
    return true;
  }
  return readNamedTensor(member->second, key, out.argument, out.name, inner);
}

static bool fromJSON(const json::Value &json, SymbolRange &out, Path path) {
  ObjectMapper mapper(json, path);
  std::optional<int64_t> min;
  if (!mapper || !mapper.map("min_val", min) || !mapper.map("max_val", out.max))
    return false;
  out.min = std::max<int64_t>(min.value_or(0), 0);
  return true;
}

static bool fromJSON(const json::Value &json, StorageEntry &out, Path path) {
  ObjectMapper mapper(json, path);
  std::optional<TensorMeta> meta;
  if (!mapper || !mapper.map("path_name", out.path) ||
      !mapper.map("use_pickle", out.pickled) ||
      !mapper.map("tensor_meta", meta))
    return false;
  if (meta)
    out.meta = std::move(*meta);
  return true;
}

//===----------------------------------------------------------------------===//
// The program
//===----------------------------------------------------------------------===//

static bool readGraph(const json::Value &json, ExportedProgram &out,
                      Path path) {
  ObjectMapper mapper(json, path);
  return mapper && mapper.map("inputs", out.inputs) &&
         mapper.map("outputs", out.outputs) && mapper.map("nodes", out.nodes) &&
         mapper.map("tensor_values", out.tensors) &&
         mapper.map("sym_int_values", out.symInts) &&
         mapper.map("sym_bool_values", out.symBools) &&
         mapper.mapOptional("sym_float_values", out.symFloats);
}

/// Reads the pytree specs of the whole module, where there are any.
static void readCallGraph(const json::Object &module, ExportedProgram &out) {
  const json::Array *calls = module.getArray("module_call_graph");
  if (!calls || calls->empty())
    return;
  const json::Object *root = calls->front().getAsObject();
  const json::Object *signature = root ? root->getObject("signature") : nullptr;
  if (!signature)
    return;
  out.inSpec = signature->getString("in_spec").value_or("").str();
  out.outSpec = signature->getString("out_spec").value_or("").str();
}

/// A member that has to be an object; null, and an error, where it is not.
static const json::Value *objectMember(const json::Object &object,
                                       StringRef key, Path path) {
  const json::Value *member = object.get(key);
  if (member && member->getAsObject())
    return member;
  if (member)
    path.field(key).report("expected an object");
  else
    path.field(key).report("missing value");
  return nullptr;
}

static bool readProgram(const json::Value &json, ExportedProgram &out,
                        Path path) {
  ObjectMapper mapper(json, path);
  if (!mapper || !mapper.map("range_constraints", out.ranges) ||
      !mapper.mapOptional("guards_code", out.guards) ||
      !mapper.mapOptional("torch_version", out.torchVersion))
    return false;
  std::vector<std::string> verifiers;
  if (!mapper.mapOptional("verifiers", verifiers))
    return false;
  if (!verifiers.empty())
    out.dialect = verifiers.front();
  const json::Object &program = *json.getAsObject();
  const json::Value *module = objectMember(program, "graph_module", path);
  if (!module)
    return false;
  Path inModule = path.field("graph_module");
  const json::Object &moduleObject = *module->getAsObject();
  const json::Value *graph = objectMember(moduleObject, "graph", inModule);
  const json::Value *signature =
      graph ? objectMember(moduleObject, "signature", inModule) : nullptr;
  if (!signature || !readGraph(*graph, out, inModule.field("graph")))
    return false;
  readCallGraph(moduleObject, out);
  Path inSignature = inModule.field("signature");
  ObjectMapper signatureMapper(*signature, inSignature);
  return signatureMapper &&
         signatureMapper.map("input_specs", out.inputSpecs) &&
         signatureMapper.map("output_specs", out.outputSpecs);
}

} // namespace fp8c::import

/// How deep a JSON text nests; llvm::json recurses.
static unsigned nestingDepth(StringRef text) {
  unsigned depth = 0, deepest = 0;
  bool inString = false;
  for (size_t i = 0; i < text.size(); ++i) {
    char c = text[i];
    if (inString) {
      if (c == '\\')
        ++i;
      else if (c == '"')
        inString = false;
    } else if (c == '"') {
      inString = true;
    } else if (c == '[' || c == '{') {
      deepest = std::max(deepest, ++depth);
    } else if ((c == ']' || c == '}') && depth) {
      --depth;
    }
  }
  return deepest;
}

static Expected<json::Value> parseJSON(StringRef text, StringRef name) {
  if (nestingDepth(text) > kMaxDepth)
    return createStringError(name + " nests deeper than " + Twine(kMaxDepth));
  Expected<json::Value> value = json::parse(text);
  if (!value)
    return createStringError(name +
                             " is not JSON: " + toString(value.takeError()));
  return value;
}

Expected<ExportedProgram> fp8c::import::parseProgram(StringRef text) {
  Expected<json::Value> value = parseJSON(text, "models/model.json");
  if (!value)
    return value.takeError();
  const json::Object *object = value->getAsObject();
  const json::Object *version =
      object ? object->getObject("schema_version") : nullptr;
  std::optional<int64_t> major =
      version ? version->getInteger("major") : std::nullopt;
  if (!major)
    return createStringError(
        "models/model.json must state its schema_version, found none");
  if (*major != kSchemaMajor)
    return createStringError(
        "the schema's major version must be " + Twine(kSchemaMajor) +
        ", found " + Twine(*major) + "." +
        Twine(version->getInteger("minor").value_or(0)) +
        " (written by PyTorch " +
        object->getString("torch_version").value_or("?") + ")");
  ExportedProgram program;
  Path::Root root("models/model.json");
  if (!readProgram(*value, program, root))
    return root.getError();
  return program;
}

Expected<std::map<std::string, StorageEntry>>
fp8c::import::parseStorageConfig(StringRef text) {
  Expected<json::Value> value = parseJSON(text, "a storage config");
  if (!value)
    return value.takeError();
  std::map<std::string, StorageEntry> entries;
  Path::Root root("config");
  ObjectMapper mapper(*value, root);
  if (!mapper || !mapper.map("config", entries))
    return root.getError();
  return entries;
}
