//===- ImportContext.cpp - What a converter sees --------------------------===//
//
// Part of fp8c, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "fp8c/Import/ImportContext.h"

#include "llvm/ADT/StringSwitch.h"

using namespace mlir;
using namespace fp8c::import;

//===----------------------------------------------------------------------===//
// Binding
//===----------------------------------------------------------------------===//

/// The argument that a schema's default text stands for.
static Argument parseDefault(const Parameter &parameter) {
  using Type = Parameter::Type;
  Argument argument;
  StringRef text = parameter.defaultValue;
  if (text.empty() || text == "None")
    return argument;
  if (parameter.type == Type::Bool || text == "True" || text == "False") {
    argument.kind = Argument::Kind::Bool;
    argument.bools = {text == "True"};
    return argument;
  }
  if (parameter.type == Type::String) {
    argument.kind = Argument::Kind::String;
    argument.names = {text.trim("\"'").str()};
    return argument;
  }
  double floating;
  int64_t integer;
  if (text.starts_with("[")) {
    argument.kind = Argument::Kind::Ints;
    llvm::SmallVector<StringRef> parts;
    text.drop_front().drop_back().split(parts, ',', -1, false);
    for (StringRef part : parts)
      if (!part.trim().getAsInteger(10, integer))
        argument.ints.push_back({SymInt::Kind::Number, integer, ""});
  } else if (!text.getAsInteger(10, integer)) {
    argument.kind = Argument::Kind::Int;
    argument.ints = {{SymInt::Kind::Number, integer, ""}};
  } else if (!text.getAsDouble(floating)) {
    argument.kind = Argument::Kind::Float;
    argument.floats = {floating};
  }
  return argument;
}

/// True if an argument may be bound to a parameter; a single number may stand
/// for a list, and a number for any tensor but the first (PyTorch wraps it).
static bool fits(const Argument &argument, const Parameter &parameter,
                 bool isFirst) {
  using Kind = Argument::Kind;
  using Type = Parameter::Type;
  Kind kind = argument.kind;
  if (kind == Kind::None)
    return parameter.optional || parameter.type == Type::Ignored ||
           parameter.type == Type::OptionalTensor;
  bool isInt = kind == Kind::Int;
  bool isSize = isInt || kind == Kind::SymInt;
  bool isNumber = isSize || kind == Kind::Float || kind == Kind::Bool;
  // An empty list has no type of its own.
  bool isEmpty = (kind == Kind::Ints || kind == Kind::Tensors) &&
                 argument.ints.empty() && argument.names.empty();
  switch (parameter.type) {
  case Type::Tensor:
  case Type::OptionalTensor:
    return (kind == Kind::Tensor && !argument.names.front().empty()) ||
           (isNumber && !isFirst);
  case Type::Tensors:
    return (kind == Kind::Tensors || kind == Kind::OptionalTensors ||
            isEmpty) &&
           llvm::none_of(argument.names,
                         [](const std::string &name) { return name.empty(); });
  case Type::OptionalTensors:
    return kind == Kind::Tensors || kind == Kind::OptionalTensors || isEmpty;
  case Type::Int:
    return isInt;
  case Type::Ints:
    return isInt || kind == Kind::Ints || isEmpty;
  case Type::Size:
    return isSize;
  case Type::Sizes:
    return isSize || kind == Kind::Ints || kind == Kind::SymInts || isEmpty;
  case Type::Scalar:
    return isNumber || kind == Kind::SymBool;
  case Type::Scalars:
    return isNumber || kind == Kind::Floats || kind == Kind::Ints || isEmpty;
  case Type::Float:
    return kind == Kind::Float || isInt;
  case Type::Floats:
    return kind == Kind::Floats || kind == Kind::Ints || isEmpty;
  case Type::Bool:
    return kind == Kind::Bool;
  case Type::Bools:
    return kind == Kind::Bools || isEmpty;
  case Type::String:
    return kind == Kind::String;
  case Type::DType:
    return kind == Kind::ScalarType || isInt;
  case Type::Ignored:
    return true;
  }
  return false;
}

LogicalResult ImportContext::bind(const Node &newNode,
                                  const OpEntry &newEntry) {
  node = &newNode;
  entry = &newEntry;
  bound.assign(newEntry.parameters.size(), Argument());
  llvm::SmallVector<bool> given(bound.size(), false);
  for (const NamedArgument &input : newNode.inputs) {
    auto it = llvm::find_if(newEntry.parameters, [&](const Parameter &p) {
      return p.name == input.name;
    });
    if (it == newEntry.parameters.end())
      return error() << "has no parameter '" << input.name << "'";
    size_t index = it - newEntry.parameters.begin();
    if (given[index])
      return error() << "has two arguments for '" << input.name << "'";
    if (!fits(input.value, *it, index == 0))
      return error() << "expected another kind of argument for '" << input.name
                     << "'";
    if (it->type == Parameter::Type::DType && !input.value.ints.empty() &&
        !getElementType(graph.getBuilder().getContext(),
                        input.value.ints.front().number))
      return error() << "has dtype number " << input.value.ints.front().number
                     << " for '" << input.name << "', which is not read";
    given[index] = true;
    bound[index] = input.value;
  }
  for (auto [index, parameter] : llvm::enumerate(newEntry.parameters)) {
    if (given[index])
      continue;
    if (parameter.defaultValue.empty() && !parameter.optional &&
        parameter.type != Parameter::Type::Ignored)
      return error() << "misses an argument for '" << parameter.name << "'";
    bound[index] = parseDefault(parameter);
  }
  return success();
}

InFlightDiagnostic ImportContext::error() {
  InFlightDiagnostic diagnostic = emitError(graph.getLoc());
  diagnostic << "'" << node->target << "' (" << node->name << ") ";
  return diagnostic;
}

//===----------------------------------------------------------------------===//
// Accessors
//===----------------------------------------------------------------------===//

const Argument &ImportContext::argument(StringRef name) const {
  for (auto [parameter, value] : llvm::zip(entry->parameters, bound))
    if (parameter.name == name)
      return value;
  llvm::report_fatal_error(llvm::Twine(entry->name) +
                           " has no parameter named " + name);
}

bool ImportContext::has(StringRef name) const {
  return argument(name).kind != Argument::Kind::None;
}

bool ImportContext::isNumber(StringRef name) const {
  switch (argument(name).kind) {
  case Argument::Kind::Int:
  case Argument::Kind::SymInt:
  case Argument::Kind::Float:
  case Argument::Kind::Bool:
    return true;
  default:
    return false;
  }
}

/// Says that an operator needs an argument that is None or has another form.
static void needs(GraphBuilder &graph, const Node &node, StringRef name,
                  StringRef what) {
  graph.fail("'" + llvm::Twine(node.target) + "' (" + node.name + ") needs " +
             what + " for '" + name + "'");
}

bool ImportContext::isUnsignedByte(StringRef tensor) {
  const TensorMeta *meta = lookupMeta(tensor);
  if (!meta)
    return false;
  bool isUnsigned = false;
  Type element =
      getElementType(graph.getBuilder().getContext(), meta->dtype, &isUnsigned);
  return isUnsigned && element.isInteger(8);
}

/// True for operators that compute with elements, rather than move them.
static bool isArithmetic(const OpEntry &entry) {
  static constexpr StringRef families[] = {
      "elementwise", "interpolation", "joins", "logic",  "norms",
      "products",    "reductions",    "scans", "softmax"};
  return llvm::is_contained(families, entry.family) &&
         (entry.kind == OpKind::Functional || entry.kind == OpKind::InPlace);
}

Value ImportContext::lookupOperand(StringRef name) {
  Value value = lookupTensor(name);
  if (!value || !isUnsignedByte(name) || !isArithmetic(*entry))
    return value;
  return graph.convert(value, graph.getBuilder().getI16Type(),
                       /*isUnsigned=*/true);
}

void ImportContext::narrow(MutableArrayRef<Result> results) {
  Type byte = graph.getBuilder().getI8Type();
  for (auto [index, result] : llvm::enumerate(results)) {
    auto value = llvm::dyn_cast_if_present<Value>(result);
    if (isArithmetic(*entry) && value &&
        isa<RankedTensorType>(value.getType()) &&
        elementOf(value).isInteger(16) && isUnsignedByte(outputName(index)))
      result = graph.convert(value, byte);
  }
}

Value ImportContext::tensor(StringRef name) {
  const Argument &value = argument(name);
  if (value.kind == Argument::Kind::Tensor)
    return lookupOperand(value.names.front());
  needs(graph, *node, name, "a tensor");
  return graph.full({}, graph.getBuilder().getF32FloatAttr(0));
}

Value ImportContext::optionalTensor(StringRef name) {
  return has(name) ? tensor(name) : Value();
}

llvm::SmallVector<Value> ImportContext::tensors(StringRef name) {
  return llvm::map_to_vector(argument(name).names, [&](const std::string &n) {
    return n.empty() ? Value() : lookupOperand(n);
  });
}

int64_t ImportContext::integer(StringRef name) {
  const Argument &value = argument(name);
  if (!value.ints.empty())
    return value.ints.front().number;
  needs(graph, *node, name, "an integer");
  return 0;
}

llvm::SmallVector<int64_t> ImportContext::integers(StringRef name) {
  return llvm::map_to_vector(argument(name).ints,
                             [](const SymInt &i) { return i.number; });
}

OpFoldResult ImportContext::size(StringRef name) {
  const Argument &value = argument(name);
  if (!value.ints.empty())
    return lookupSize(value.ints.front());
  needs(graph, *node, name, "a size");
  return graph.arith.constant(1);
}

Sizes ImportContext::sizes(StringRef name) {
  Sizes sizes;
  for (const SymInt &size : argument(name).ints)
    sizes.push_back(lookupSize(size));
  return sizes;
}

Number ImportContext::number(StringRef name) {
  const Argument &value = argument(name);
  Number number;
  switch (value.kind) {
  case Argument::Kind::Float:
    number.isFloat = true;
    number.floating = value.floats.front();
    break;
  case Argument::Kind::Bool:
    number.integer = value.bools.front();
    break;
  case Argument::Kind::Int:
    number.integer = value.ints.front().number;
    break;
  case Argument::Kind::SymInt:
    number.size = lookupSize(value.ints.front());
    if (std::optional<int64_t> constant =
            graph.arith.getConstant(number.size)) {
      number.size = {};
      number.integer = *constant;
    }
    break;
  case Argument::Kind::SymBool:
    number.size =
        lookupSize({SymInt::Kind::Name, /*number=*/0, value.names.front()});
    break;
  default:
    break;
  }
  return number;
}

double ImportContext::floating(StringRef name) {
  return number(name).asDouble();
}

llvm::SmallVector<double> ImportContext::floats(StringRef name) {
  const Argument &value = argument(name);
  if (value.kind == Argument::Kind::Floats)
    return llvm::SmallVector<double>(value.floats.begin(), value.floats.end());
  return llvm::map_to_vector(value.ints, [](const SymInt &i) {
    return static_cast<double>(i.number);
  });
}

bool ImportContext::boolean(StringRef name) {
  const Argument &value = argument(name);
  if (!value.bools.empty())
    return value.bools.front();
  needs(graph, *node, name, "a bool");
  return false;
}

StringRef ImportContext::string(StringRef name) {
  const Argument &value = argument(name);
  if (!value.names.empty())
    return value.names.front();
  needs(graph, *node, name, "a string");
  return "";
}

Type ImportContext::dtype(StringRef name) {
  const Argument &value = argument(name);
  if (value.ints.empty())
    return {};
  return getElementType(graph.getBuilder().getContext(),
                        value.ints.front().number);
}

bool ImportContext::isUnsigned(StringRef name) {
  const Argument &value = argument(name);
  bool result = false;
  MLIRContext *context = graph.getBuilder().getContext();
  if (value.kind == Argument::Kind::ScalarType ||
      value.kind == Argument::Kind::Int)
    getElementType(context, value.ints.front().number, &result);
  else if (value.kind == Argument::Kind::Tensor)
    if (const TensorMeta *meta = lookupMeta(value.names.front()))
      getElementType(context, meta->dtype, &result);
  return result;
}

//===----------------------------------------------------------------------===//
// Outputs
//===----------------------------------------------------------------------===//

unsigned ImportContext::getNumOutputs() const {
  unsigned count = 0;
  for (const Argument &output : node->outputs)
    count += output.kind == Argument::Kind::Tensors ? output.names.size() : 1;
  return count;
}

const std::string &ImportContext::outputName(unsigned index) const {
  static const std::string none;
  for (const Argument &output : node->outputs) {
    unsigned count =
        output.kind == Argument::Kind::Tensors ? output.names.size() : 1;
    if (index < count)
      return output.names.empty() ? none : output.names[index];
    index -= count;
  }
  return none;
}

Type ImportContext::outputType(unsigned index) {
  const std::string &name = outputName(index);
  if (isUnsignedByte(name) && isArithmetic(*entry))
    return graph.getBuilder().getI16Type();
  if (const TensorMeta *meta = lookupMeta(name))
    return getElementType(graph.getBuilder().getContext(), meta->dtype);
  graph.fail("'" + llvm::Twine(node->target) + "' (" + node->name +
             ") must have a tensor as output " + llvm::Twine(index));
  return graph.getBuilder().getF32Type();
}

Sizes ImportContext::outputSizes(unsigned index) {
  Sizes sizes;
  if (const TensorMeta *meta = lookupMeta(outputName(index)))
    for (const SymInt &size : meta->sizes)
      sizes.push_back(lookupSize(size));
  return sizes;
}
