//===- Signature.cpp - Inputs, weights, state and results -----------------===//
//
// Part of fp8c, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "GraphImporter.h"
#include "Guards.h"

#include "fp8c/Dialect/FP8/Hints.h"
#include "fp8c/Import/SymExpr.h"

#include <numeric>

using namespace mlir;
using namespace fp8c;
using namespace fp8c::import;
using llvm::Expected;

//===----------------------------------------------------------------------===//
// Inputs
//===----------------------------------------------------------------------===//

LogicalResult GraphImporter::createFunction() {
  MLIRContext *context = builder.getContext();
  SmallVector<Type> types;
  SmallVector<DictionaryAttr> attributes;
  SmallVector<std::string> names;
  std::map<std::string, int64_t> hints;
  for (const InputSpec &spec : program.inputSpecs) {
    if (spec.kind == InputSpec::Kind::Unsupported)
      return emitError(module.getLoc())
             << "inputs of kind '" << spec.name << "' are not supported";
    if (spec.kind != InputSpec::Kind::UserInput)
      continue;
    if (spec.argument.kind != Argument::Kind::Tensor)
      return emitError(module.getLoc())
             << "expected every input of the model to be a tensor";
    const std::string &name = spec.argument.names.front();
    const TensorMeta *meta = lookupMeta(name);
    Type element = meta ? getElementType(context, meta->dtype) : Type();
    if (!element)
      return emitError(module.getLoc())
             << "input '" << name << "' has an unsupported dtype";
    SmallVector<int64_t> shape;
    SmallVector<Attribute> dims;
    for (const SymInt &size : meta->sizes) {
      if (size.kind == SymInt::Kind::Number) {
        shape.push_back(size.number);
        dims.push_back(builder.getI64IntegerAttr(size.number));
        continue;
      }
      Expected<SymExpr> expression = SymExpr::parse(size.text);
      if (!expression)
        return emitError(module.getLoc())
               << "input '" << name
               << "': " << toString(expression.takeError());
      if (expression->kind == SymExpr::Kind::Number) {
        shape.push_back(expression->number);
        dims.push_back(builder.getI64IntegerAttr(expression->number));
        continue;
      }
      shape.push_back(ShapedType::kDynamic);
      dims.push_back(builder.getStringAttr(expression->str()));
      if (size.hint)
        hints.try_emplace(expression->str(), *size.hint);
    }
    if (llvm::is_contained(names, name))
      return emitError(module.getLoc())
             << "the graph defines '" << name << "' more than once";
    for (int64_t &size : shape)
      if (size < 0 && !ShapedType::isDynamic(size))
        return emitError(module.getLoc())
               << "input '" << name << "' has a size of " << size;
    names.push_back(name);
    types.push_back(RankedTensorType::get(shape, element));
    NamedAttrList list;
    list.set(fp8::kDimsAttr, builder.getArrayAttr(dims));
    list.set(fp8::kInputNameAttr, builder.getStringAttr(name));
    if (isUnsignedByte(name))
      list.set(fp8::kUnsignedAttr, builder.getUnitAttr());
    attributes.push_back(list.getDictionary(context));
  }
  builder.setInsertionPointToEnd(module.getBody());
  function = func::FuncOp::create(builder, module.getLoc(), "forward",
                                  builder.getFunctionType(types, {}));
  function.setAllArgAttrs(
      SmallVector<Attribute>(attributes.begin(), attributes.end()));
  Block *block = function.addEntryBlock();
  builder.setInsertionPointToEnd(block);

  for (const auto &[name, range] : program.ranges) {
    if (range.max && *range.max < range.min)
      return emitError(module.getLoc())
             << "symbol '" << name << "' has a range from " << range.min
             << " to " << *range.max;
    auto symbol = fp8::SymbolOp::create(
        builder, module.getLoc(), builder.getIndexType(), name, range.min,
        range.max ? builder.getI64IntegerAttr(*range.max) : IntegerAttr(), 1);
    symbols[name] = symbol.getResult();
    if (auto hint = hints.find(name); hint != hints.end())
      symbol->setAttr(fp8::kHintAttr, builder.getI64IntegerAttr(hint->second));
  }
  for (auto [name, argument] : llvm::zip(names, block->getArguments())) {
    Sizes sizes;
    for (const SymInt &size : lookupMeta(name)->sizes) {
      sizes.push_back(lookupSize(size));
      if (!sizes.back())
        return failure();
    }
    graph.getType(sizes, elementOf(argument));
    graph.setSizes(argument, sizes);
    values.defineBase(name, argument);
  }
  return success();
}

/// The dense row-major strides of a shape.
static SmallVector<int64_t> denseStrides(ArrayRef<int64_t> shape) {
  SmallVector<int64_t> strides(shape.size(), 1);
  for (int64_t i = (int64_t)shape.size() - 2; i >= 0; --i)
    strides[i] = strides[i + 1] * shape[i + 1];
  return strides;
}

LogicalResult GraphImporter::importGlobal(StringRef argument, StringRef name) {
  if (failed(checkNewName(argument)))
    return failure();
  auto it = storage.find(name.str());
  if (it == storage.end())
    return emitError(module.getLoc())
           << "the archive has no data for '" << name << "'";
  const StorageEntry &entry = it->second;
  if (entry.pickled)
    return emitError(module.getLoc())
           << "'" << name
           << "' is a pickled tensor subclass, and pickles are never loaded; "
              "call torch's unwrap_tensor_subclass_parameters(model) before "
              "exporting";
  MLIRContext *context = builder.getContext();
  Type element = getElementType(context, entry.meta.dtype);
  if (!element)
    return emitError(module.getLoc())
           << "'" << name << "' has dtype number " << entry.meta.dtype
           << ", which is not read";
  SmallVector<int64_t> shape, strides;
  for (const SymInt &size : entry.meta.sizes)
    shape.push_back(size.number);
  for (const SymInt &stride : entry.meta.strides)
    strides.push_back(stride.number);
  if (strides.size() != shape.size())
    strides = denseStrides(shape);

  // One storage with one layout is one buffer, whatever its names.
  std::string identity;
  llvm::raw_string_ostream os(identity);
  os << entry.path << '@' << entry.meta.offset.number << ':' << entry.meta.dtype
     << ':';
  llvm::interleave(shape, os, "x");
  os << '/';
  llvm::interleave(strides, os, ",");
  auto [first, isNew] = shared.try_emplace(identity, argument.str());
  if (!isNew) {
    values.defineView(argument, values.get(first->second), first->second,
                      nullptr, nullptr, 0);
    return success();
  }

  // Dims by descending stride: the order in which the storage has them.
  SmallVector<int64_t> order(shape.size());
  std::iota(order.begin(), order.end(), 0);
  llvm::stable_sort(order, [&](int64_t a, int64_t b) {
    return strides[a] > strides[b] ||
           (strides[a] == strides[b] && shape[a] > shape[b]);
  });
  if (llvm::is_contained(shape, 1))
    if (auto dense = denseStrides(shape);
        llvm::all_of(llvm::seq<size_t>(0, shape.size()), [&](size_t i) {
          return shape[i] == 1 || strides[i] == dense[i];
        }))
      std::iota(order.begin(), order.end(), 0);
  SmallVector<int64_t> stored;
  for (int64_t dim : order)
    stored.push_back(shape[dim]);
  SmallVector<int64_t> dense = denseStrides(stored);
  for (auto [position, dim] : llvm::enumerate(order))
    if (shape[dim] != 1 && strides[dim] != dense[position])
      return emitError(module.getLoc())
             << "'" << name
             << "' has strides with gaps or overlaps, which is not supported; "
                "call contiguous() on it before exporting";

  auto type = RankedTensorType::get(stored, element);
  int64_t bytes = std::max<int64_t>(1, type.getElementTypeBitWidth() / 8);
  OpBuilder::InsertionGuard guard(builder);
  auto top = OpBuilder::atBlockBegin(module.getBody());
  if (lastGlobal)
    top.setInsertionPointAfter(lastGlobal);
  auto global = fp8::GlobalOp::create(
      top, module.getLoc(), top.getStringAttr(name), StringAttr(),
      fp8::GlobalKind::Weight, type, top.getStringAttr(entry.path),
      entry.meta.offset.number * bytes);
  if (isUnsignedByte(argument))
    global->setAttr(fp8::kUnsignedAttr, builder.getUnitAttr());
  lastGlobal = global;
  globals[argument.str()] = {global, order, entry.path};
  auto load = fp8::GlobalLoadOp::create(
      builder, module.getLoc(), type,
      FlatSymbolRefAttr::get(global.getSymNameAttr()), builder.getUnitAttr());
  load->setAttr(fp8::kNodeAttr, builder.getStringAttr(argument));
  Value value = load;
  if (!llvm::is_sorted(order)) {
    SmallVector<int64_t> inverse(order.size());
    for (auto [position, dim] : llvm::enumerate(order))
      inverse[dim] = position;
    load->removeAttr(fp8::kNodeAttr);
    value = graph.permute(load, inverse);
  }
  values.defineBase(argument, value);
  return checkResult(argument, value);
}

LogicalResult GraphImporter::importGlobals() {
  for (const InputSpec &spec : program.inputSpecs) {
    if (spec.kind == InputSpec::Kind::UserInput ||
        spec.kind == InputSpec::Kind::ConstantInput)
      continue;
    if (failed(importGlobal(spec.argument.names.front(), spec.name)))
      return failure();
  }
  return success();
}

LogicalResult GraphImporter::importChecks() {
  auto dims = [&](StringRef input, int64_t dim) -> OpFoldResult {
    Value tensor = values.contains(input) ? lookupTensor(input) : Value();
    if (!tensor || dim < 0 || dim >= rankOf(tensor))
      return {};
    return graph.size(tensor, dim);
  };
  for (const std::string &guard : program.guards) {
    Expected<Value> condition = buildGuard(guard, graph, dims);
    if (!condition) {
      std::string why = toString(condition.takeError());
      if (options.assumeGuards)
        continue;
      return emitError(module.getLoc())
             << "guard '" << guard << "' cannot be read: " << why
             << "; --assume-guards leaves it out";
    }
    if (*condition)
      // The archive does not say which line of the model a guard is of.
      fp8::CheckOp::create(builder, builder.getUnknownLoc(), *condition,
                           "guard " + guard);
  }
  return success();
}

//===----------------------------------------------------------------------===//
// Results
//===----------------------------------------------------------------------===//

/// What the calls write is state: stored when everything has been read.
LogicalResult GraphImporter::importMutations() {
  // All values are read before the first write.
  SmallVector<std::pair<std::string, Value>> writes;
  for (const OutputSpec &spec : program.outputSpecs) {
    bool isBuffer = spec.kind == OutputSpec::Kind::BufferMutation;
    if (!isBuffer && spec.kind != OutputSpec::Kind::InputMutation)
      continue;
    std::string target = spec.name;
    if (isBuffer) {
      auto input = llvm::find_if(program.inputSpecs, [&](const InputSpec &in) {
        return (in.kind == InputSpec::Kind::Buffer ||
                in.kind == InputSpec::Kind::Parameter) &&
               in.name == spec.name;
      });
      target = input == program.inputSpecs.end()
                   ? ""
                   : input->argument.names.front();
    }
    Value old = values.contains(target) ? lookupTensor(target) : Value();
    Value value = lookupTensor(spec.argument.names.front());
    if (!old || !value || old.getType() != value.getType())
      return emitError(module.getLoc())
             << "the graph writes '" << spec.name
             << "', which is no buffer or input of that type";
    writes.emplace_back(target, value);
  }
  for (auto &[target, value] : writes)
    if (failed(values.write(target, value)))
      return failure();
  return success();
}

LogicalResult GraphImporter::storeState() {
  for (auto &[argument, global] : globals) {
    if (!values.isWritten(argument))
      continue;
    for (auto &[otherArgument, other] : globals)
      if (other.path == global.path && otherArgument != argument)
        return emitError(module.getLoc())
               << "buffer '" << global.op.getSymName()
               << "' is written and shares its storage with '"
               << other.op.getSymName()
               << "' in another layout, which is not supported";
    Value value = lookupTensor(argument);
    if (!llvm::is_sorted(global.order))
      value = graph.permute(value, global.order);
    global.op.setKind(fp8::GlobalKind::State);
    StringAttr name = global.op.getSymNameAttr();
    for (Operation &op : *builder.getBlock())
      if (auto load = dyn_cast<fp8::GlobalLoadOp>(op))
        if (load.getGlobalAttr().getAttr() == name)
          load.setConstant(false);
    fp8::GlobalStoreOp::create(builder, module.getLoc(), value,
                               FlatSymbolRefAttr::get(name));
  }
  return success();
}

void GraphImporter::appendResult(Value value, StringRef name,
                                 StringRef tensor) {
  NamedAttrList list;
  list.set(fp8::kInputNameAttr, builder.getStringAttr(name));
  if (isUnsignedByte(tensor))
    list.set(fp8::kUnsignedAttr, builder.getUnitAttr());
  results.push_back(value);
  resultAttributes.push_back(list.getDictionary(builder.getContext()));
}

LogicalResult GraphImporter::importOutputs() {
  auto append = [&](Value value, StringRef name, StringRef tensor) {
    leaves.push_back(builder.getI64IntegerAttr(results.size()));
    appendResult(value, name, tensor);
  };
  for (const OutputSpec &spec : program.outputSpecs) {
    if (spec.kind == OutputSpec::Kind::Unsupported)
      return emitError(module.getLoc())
             << "outputs of kind '" << spec.name << "' are not supported";
    if (spec.kind != OutputSpec::Kind::UserOutput)
      continue;
    std::string name = ("output" + Twine(leaves.size())).str();
    const Argument &argument = spec.argument;
    if (argument.kind == Argument::Kind::None) {
      leaves.push_back(builder.getUnitAttr());
      continue;
    }
    if (argument.kind == Argument::Kind::Tensor) {
      Value value = lookupTensor(argument.names.front());
      if (!value)
        return emitError(module.getLoc()) << name << " has no value";
      append(value, name, argument.names.front());
      continue;
    }
    bool isInteger = argument.kind == Argument::Kind::Int ||
                     argument.kind == Argument::Kind::SymInt;
    if (!isInteger)
      return emitError(module.getLoc())
             << name << " must be a tensor, an integer or None";
    OpFoldResult size = lookupSize(argument.ints.front());
    if (!size)
      return failure();
    append(graph.arith.value(size), name, "");
  }
  return success();
}

void GraphImporter::finish() {
  for (const InputSpec &spec : program.inputSpecs) {
    if (spec.kind != InputSpec::Kind::UserInput)
      continue;
    const std::string &name = spec.argument.names.front();
    if (!values.isWritten(name))
      continue;
    appendResult(lookupTensor(name), name, name);
  }
  func::ReturnOp::create(builder, module.getLoc(), results);
  function.setFunctionType(builder.getFunctionType(
      function.getFunctionType().getInputs(), ValueRange(results).getTypes()));
  function.setAllResultAttrs(resultAttributes);
  function->setAttr("fp8.output_leaves", builder.getArrayAttr(leaves));
  if (!program.outSpec.empty())
    function->setAttr("fp8.out_spec", builder.getStringAttr(program.outSpec));
}
