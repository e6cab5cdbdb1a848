//===- Schema.cpp - Reads an exported program --------------------------===//
//
// Part of fp8c, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "SchemaReader.h"

#include "fp8c/Import/LargeMembers.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"

using namespace llvm;
using namespace fp8c::import;
using json::ObjectMapper;
using json::Path;

/// What llvm::json may recurse into; model.json has a depth of some 12.
static constexpr unsigned kMaxDepth = 100;

/// The archive's entry with the graph.
static constexpr StringLiteral kModel = "models/model.json";

/// The major version of torch/_export/serde/schema.py that is read.
static constexpr int64_t kSchemaMajor = 8;

namespace fp8c::import {

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

bool readGraph(const json::Value &json, Graph &out, Path path) {
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

static Expected<json::Value> parseJSON(StringRef text, const Twine &name) {
  Expected<json::Value> value = json::parse(text);
  if (!value)
    return createStringError(name +
                             " is not JSON: " + toString(value.takeError()));
  return value;
}

/// Parses a text but for the items of `members`.
static Expected<json::Value> parseRest(StringRef text, StringRef name,
                                       ArrayRef<LargeMember *> members = {}) {
  Expected<std::string> rest = cutLargeMembers(text, members, kMaxDepth);
  if (!rest)
    return createStringError(name + " " + toString(rest.takeError()));
  return parseJSON(*rest, name);
}

/// Reads the items of a large member one by one. An item of an object becomes
/// an object with that one member.
static Error readItems(const LargeMember &member, bool ofObject,
                       Path::Root &root,
                       function_ref<bool(const json::Value &, unsigned)> read) {
  for (auto [i, text] : llvm::enumerate(member.items)) {
    bool wrap = ofObject && !text.empty();
    Expected<json::Value> item = parseJSON(
        wrap ? ("{" + text + "}").str() : text.str(),
        Twine(kModel) + ": item " + Twine(i) + " of " + join(member.path, "."));
    if (!item)
      return item.takeError();
    if (!read(*item, i))
      return root.getError();
  }
  return Error::success();
}

Expected<ExportedProgram> fp8c::import::parseProgram(StringRef text) {
  LargeMember nodes{{"graph_module", "graph", "nodes"}, {}};
  LargeMember tensors{{"graph_module", "graph", "tensor_values"}, {}};
  LargeMember *members[] = {&nodes, &tensors};
  Expected<json::Value> value = parseRest(text, kModel, members);
  if (!value)
    return value.takeError();
  const json::Object *object = value->getAsObject();
  const json::Object *version =
      object ? object->getObject("schema_version") : nullptr;
  std::optional<int64_t> major =
      version ? version->getInteger("major") : std::nullopt;
  if (!major)
    return createStringError(Twine(kModel) +
                             " must state its schema_version, found none");
  if (*major != kSchemaMajor)
    return createStringError(
        "the schema's major version must be " + Twine(kSchemaMajor) +
        ", found " + Twine(*major) + "." +
        Twine(version->getInteger("minor").value_or(0)) +
        " (written by PyTorch " +
        object->getString("torch_version").value_or("?") + ")");
  ExportedProgram program;
  Path::Root root(kModel);
  if (!readProgram(*value, program, root))
    return root.getError();
  Path top(root);
  Path module = top.field("graph_module");
  Path graph = module.field("graph");
  Path inNodes = graph.field("nodes"), inTensors = graph.field("tensor_values");
  auto readNode = [&](const json::Value &item, unsigned i) {
    return fromJSON(item, program.nodes.emplace_back(), inNodes.index(i));
  };
  auto readTensor = [&](const json::Value &item, unsigned) {
    return llvm::all_of(*item.getAsObject(), [&](const auto &member) {
      StringRef name = member.first;
      return fromJSON(member.second, program.tensors[name.str()],
                      inTensors.field(name));
    });
  };
  if (Error error = readItems(nodes, false, root, readNode))
    return error;
  if (Error error = readItems(tensors, true, root, readTensor))
    return error;
  if (Error error = inlineGraphs(program))
    return error;
  return program;
}

Expected<std::map<std::string, StorageEntry>>
fp8c::import::parseStorageConfig(StringRef text) {
  Expected<json::Value> value = parseRest(text, "a storage config");
  if (!value)
    return value.takeError();
  std::map<std::string, StorageEntry> entries;
  Path::Root root("config");
  ObjectMapper mapper(*value, root);
  if (!mapper || !mapper.map("config", entries))
    return root.getError();
  return entries;
}
