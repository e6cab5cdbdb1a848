//===- ArchiveMutator.cpp - Archives that are almost sound ----------------===//
//
// Part of fp8c, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ArchiveMutator.h"

#include "../Unit/Runtime/Zip.h"

#include "fp8c/Import/Archive.h"
#include "fp8c/Import/OpTable.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/JSON.h"

#include <limits>
#include <random>

using namespace llvm;
using namespace fp8c::import;

/// A program with a buffer, an input, a node, an output and a guard.
static constexpr const char *kSound = R"json({
  "graph_module": {"graph": {
    "inputs": [{"as_tensor": {"name": "w"}}, {"as_tensor": {"name": "x"}}],
    "outputs": [{"as_tensor": {"name": "y"}}],
    "nodes": [{"target": "torch.ops.aten.mul.Tensor", "name": "y",
      "inputs": [{"name": "self", "arg": {"as_tensor": {"name": "x"}}},
                 {"name": "other", "arg": {"as_tensor": {"name": "w"}}}],
      "outputs": [{"as_tensor": {"name": "y"}}], "metadata": {}}],
    "tensor_values": {
      "w": {"dtype": 7, "sizes": [{"as_int": 4}], "strides": [{"as_int": 1}],
            "storage_offset": {"as_int": 0}},
      "x": {"dtype": 7, "strides": [{"as_int": 4}, {"as_int": 1}],
            "sizes": [{"as_expr": {"expr_str": "Symbol('s0', integer=True)"}},
                      {"as_int": 4}], "storage_offset": {"as_int": 0}},
      "y": {"dtype": 7, "strides": [{"as_int": 4}, {"as_int": 1}],
            "sizes": [{"as_expr": {"expr_str": "Symbol('s0', integer=True)"}},
                      {"as_int": 4}], "storage_offset": {"as_int": 0}}},
    "sym_int_values": {}, "sym_bool_values": {}, "sym_float_values": {}},
    "signature": {"input_specs": [
        {"buffer": {"arg": {"name": "w"}, "buffer_name": "w"}},
        {"user_input": {"arg": {"as_tensor": {"name": "x"}}}}],
      "output_specs": [{"user_output": {"arg": {"as_tensor": {"name": "y"}}}}]},
    "module_call_graph": []},
  "range_constraints": {"s0": {"min_val": 0, "max_val": 64}},
  "guards_code": ["L['x'].size()[0] % 2 == 0"],
  "schema_version": {"major": 8, "minor": 20},
  "verifiers": ["TRAINING"]})json";
static constexpr const char *kSoundWeights = R"json({"config": {"w": {
  "path_name": "weight_0", "use_pickle": false, "tensor_meta": {"dtype": 7,
  "sizes": [{"as_int": 4}], "strides": [{"as_int": 1}],
  "storage_offset": {"as_int": 0}}}}})json";

namespace {

/// Changes one JSON tree.
class Mutator {
public:
  explicit Mutator(unsigned seed) : random(seed) {}

  unsigned below(unsigned limit) { return limit ? random() % limit : 0; }
  bool oneIn(unsigned n) { return below(n) == 0; }

  /// One change somewhere in the tree.
  void change(json::Value &root) {
    if (json::Array *nodes = getNodes(root); nodes && oneIn(2)) {
      addNode(root, *nodes);
      return;
    }
    places.clear();
    collect(root, "");
    Place place = places[below(places.size())];
    // A subtree becomes another one, of the same key where there is one.
    if (oneIn(3)) {
      SmallVector<Place> alike;
      for (const Place &other : places)
        if (other.key == place.key)
          alike.push_back(other);
      Place from =
          oneIn(8) ? places[below(places.size())] : alike[below(alike.size())];
      json::Value copy = *from.value;
      *place.value = std::move(copy);
      return;
    }
    if (json::Object *object = place.value->getAsObject())
      return changeObject(*object);
    if (json::Array *array = place.value->getAsArray())
      return changeArray(*array);
    if (place.value->getAsString())
      *place.value = changeString(place.value->getAsString()->str());
    else
      *place.value = scalar();
  }

private:
  struct Place {
    std::string key;
    json::Value *value;
  };

  void collect(json::Value &value, StringRef key) {
    places.push_back({key.str(), &value});
    if (json::Object *object = value.getAsObject())
      for (auto &member : *object)
        collect(member.second, member.first);
    if (json::Array *array = value.getAsArray())
      for (json::Value &element : *array)
        collect(element, key);
  }

  int64_t number() {
    static constexpr int64_t extremes[] = {std::numeric_limits<int64_t>::min(),
                                           std::numeric_limits<int64_t>::max(),
                                           std::numeric_limits<int64_t>::max() /
                                               2,
                                           int64_t(1) << 31,
                                           int64_t(1) << 40,
                                           -(int64_t(1) << 33),
                                           1000003};
    if (oneIn(8))
      return extremes[below(std::size(extremes))];
    return static_cast<int64_t>(below(12)) - 3;
  }

  json::Value scalar() {
    switch (below(8)) {
    case 0:
      return nullptr;
    case 1:
      return oneIn(2);
    case 2:
      return 0.5;
    case 3:
      return "Infinity";
    default:
      return number();
    }
  }

  std::string changeString(std::string text) {
    static constexpr const char *expressions[] = {
        "Symbol('s0', positive=True, integer=True)",
        "Mul(Integer(2), Symbol('s0'))",
        "Add(Symbol('s0'), Integer(-9))",
        "FloorDiv(Symbol('s0'), Integer(0))",
        "Mod(Symbol('s0'), Integer(3))",
        "Max(Integer(1), Symbol('s0'))",
        "Pow(Symbol('s0'), Integer(8))",
        "Mul(Integer(9223372036854775807), Symbol('s0'))",
        "CeilToInt(IntTrueDiv(Symbol('s0'), Integer(2)))",
        "L['x'].size()[0] // (L['x'].size()[0] - 3) == 1",
        "not L['x'].size()[0] * 9223372036854775807 > 4 or False",
        "inf",
        "none",
        "tanh"};
    if (oneIn(2)) {
      SmallVector<std::string> others;
      for (const Place &place : places)
        if (std::optional<StringRef> other = place.value->getAsString())
          others.push_back(other->str());
      return others[below(others.size())];
    }
    if (text.empty() || oneIn(2))
      return expressions[below(std::size(expressions))];
    switch (below(3)) {
    case 0:
      text[below(text.size())] = static_cast<char>(32 + below(95));
      return text;
    case 1:
      return text.substr(0, below(text.size()));
    default:
      return text + text;
    }
  }

  void changeObject(json::Object &object) {
    if (object.empty())
      return;
    auto member = object.begin();
    std::advance(member, below(object.size()));
    static constexpr const char *kinds[] = {
        "as_int",  "as_name",     "as_expr",        "as_tensor", "as_none",
        "as_ints", "as_sym_ints", "as_scalar_type", "as_float",  "as_tensors"};
    // A tagged union gets another tag; anything loses a member.
    if (object.size() == 1) {
      json::Value value = member->second;
      object = json::Object{{kinds[below(std::size(kinds))], std::move(value)}};
      return;
    }
    object.erase(member);
  }

  void changeArray(json::Array &array) {
    if (array.empty()) {
      array.push_back(sizeOf(number()));
      return;
    }
    size_t at = below(array.size());
    switch (below(3)) {
    case 0:
      array.erase(array.begin() + at);
      return;
    case 1: {
      json::Value copy = array[at];
      array.insert(array.begin() + below(array.size()), std::move(copy));
      return;
    }
    default:
      std::swap(array[at], array[below(array.size())]);
    }
  }

  //===--------------------------------------------------------------------===//
  // Nodes
  //===--------------------------------------------------------------------===//

  static json::Object *getGraph(json::Value &root) {
    json::Object *object = root.getAsObject();
    json::Object *module = object ? object->getObject("graph_module") : nullptr;
    return module ? module->getObject("graph") : nullptr;
  }
  static json::Array *getNodes(json::Value &root) {
    json::Object *graph = getGraph(root);
    return graph ? graph->getArray("nodes") : nullptr;
  }

  static json::Value sizeOf(int64_t number) {
    return json::Object{{"as_int", number}};
  }

  json::Value anySize() {
    if (oneIn(3))
      return json::Object{
          {"as_expr", json::Object{{"expr_str", changeString("")}}}};
    return sizeOf(number());
  }

  int64_t dtype() {
    static constexpr int64_t numbers[] = {1,  2,  3,  4,  5,  6,  7, 8,
                                          12, 13, 29, 30, 33, 35, 7, 13};
    return numbers[below(std::size(numbers))];
  }

  json::Value numbers(function_ref<json::Value()> make) {
    json::Array array;
    for (unsigned count = below(5); count; --count)
      array.push_back(make());
    return array;
  }

  json::Value nameOf() {
    return json::Object{{"name", names[below(names.size())]}};
  }

  json::Value argument(const Parameter &parameter) {
    using Type = Parameter::Type;
    auto tagged = [](const char *tag, json::Value value) -> json::Value {
      return json::Object{{tag, std::move(value)}};
    };
    auto integer = [&]() -> json::Value { return number(); };
    switch (oneIn(16) ? static_cast<Type>(below(17)) : parameter.type) {
    case Type::OptionalTensor:
    case Type::Tensor:
      if (oneIn(12))
        return tagged("as_float", 0.5);
      return tagged("as_tensor", nameOf());
    case Type::OptionalTensors:
    case Type::Tensors:
      return tagged("as_tensors", numbers([&] { return nameOf(); }));
    case Type::Int:
      return tagged("as_int", number());
    case Type::Ints:
      return tagged("as_ints", numbers(integer));
    case Type::Size:
      return tagged("as_sym_int", sizeOf(number()));
    case Type::Sizes:
      return tagged("as_sym_ints", numbers([&] { return anySize(); }));
    case Type::Scalar:
    case Type::Float:
      return oneIn(2) ? tagged("as_float", oneIn(4) ? json::Value("NaN") : 0.5)
                      : tagged("as_int", number());
    case Type::Scalars:
    case Type::Floats:
      return tagged("as_floats", numbers([] { return 1.5; }));
    case Type::Bool:
      return tagged("as_bool", oneIn(2));
    case Type::Bools:
      return tagged("as_bools", numbers([&] { return oneIn(2); }));
    case Type::String:
      return tagged("as_string", changeString(""));
    case Type::DType:
      return tagged("as_scalar_type", dtype());
    case Type::Ignored:
      return tagged("as_none", true);
    }
    return nullptr;
  }

  /// Adds a node with an operator of the table, and its result's meta.
  void addNode(json::Value &root, json::Array &nodes) {
    static const std::vector<const OpEntry *> entries = [] {
      std::map<std::string, const OpEntry *> sorted;
      for (const auto &entry : OpTable::get().getEntries())
        sorted[entry.first().str()] = &entry.second;
      std::vector<const OpEntry *> list;
      for (auto &[name, entry] : sorted)
        list.push_back(entry);
      return list;
    }();
    json::Object *tensors = getGraph(root)->getObject("tensor_values");
    if (!tensors || tensors->empty())
      return;
    names.clear();
    for (auto &member : *tensors)
      names.push_back(member.first.str());
    places.clear();
    collect(root, "");
    const OpEntry &entry = *entries[below(entries.size())];
    json::Array inputs;
    for (const Parameter &parameter : entry.parameters)
      if (parameter.defaultValue.empty() || oneIn(2))
        inputs.push_back(json::Object{{"name", parameter.name},
                                      {"arg", argument(parameter)}});
    json::Array outputs;
    // `places` points into the tree, which stays as it is until all is made.
    json::Object metas;
    for (unsigned count = oneIn(6) ? 2 + below(2) : 1; count; --count) {
      std::string name = formatv("n{0}", random()).str();
      json::Object meta;
      if (const json::Object *other =
              tensors->getObject(names[below(names.size())]))
        meta = *other;
      if (oneIn(3))
        meta["sizes"] = numbers([&] { return anySize(); });
      if (oneIn(3))
        meta["dtype"] = dtype();
      metas[name] = std::move(meta);
      json::Value made = json::Object{{"name", name}};
      if (oneIn(6))
        outputs.push_back(json::Object{{"as_tensors", json::Array{made}}});
      else
        outputs.push_back(json::Object{{"as_tensor", made}});
    }
    for (auto &[name, meta] : metas)
      (*tensors)[name] = std::move(meta);
    nodes.insert(nodes.begin() + below(nodes.size() + 1),
                 json::Object{{"target", "torch.ops." + entry.name},
                              {"inputs", std::move(inputs)},
                              {"outputs", std::move(outputs)},
                              {"name", "n"},
                              {"metadata", json::Object{}}});
  }

  std::mt19937 random;
  std::vector<Place> places;
  std::vector<std::string> names;
};

} // namespace

std::string fp8c::test::mutateArchive(const uint8_t *data, size_t size,
                                      unsigned seed) {
  static constexpr const char *kModel = "models/model.json";
  static constexpr const char *kWeights =
      "data/weights/model_weights_config.json";
  Mutator mutator(seed);
  std::map<std::string, std::string> entries;
  StringRef bytes(reinterpret_cast<const char *>(data), size);
  auto archive = Archive::read(
      MemoryBuffer::getMemBuffer(bytes, "", /*RequiresNullTerminator=*/false));
  if (archive) {
    for (const auto &entry : (*archive)->getEntries())
      entries[entry.first().str()] = entry.second.str();
  } else {
    consumeError(archive.takeError());
    entries = {{kModel, kSound},
               {kWeights, kSoundWeights},
               {"data/weights/weight_0", std::string(16, '\0')}};
  }
  std::string &text =
      entries[mutator.oneIn(12) && entries.count(kWeights) ? kWeights : kModel];
  Expected<json::Value> root = json::parse(text);
  if (!root) {
    consumeError(root.takeError());
    root = cantFail(json::parse(kSound));
  }
  for (unsigned count = 1 + mutator.below(4); count; --count)
    mutator.change(*root);
  text = formatv("{0}", *root).str();
  std::map<std::string, std::string> named;
  for (auto &[name, entry] : entries)
    named["m/" + name] = std::move(entry);
  return makeZip(named);
}
