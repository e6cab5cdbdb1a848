//===- Importer.cpp - The nodes of an exported program --------------------===//
//
// Part of fp8c, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "fp8c/Import/Importer.h"

#include "GraphImporter.h"

#include "fp8c/Import/SymExpr.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/Verifier.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/ScopeExit.h"

using namespace mlir;
using namespace fp8c;
using namespace fp8c::import;
using llvm::Expected;

//===----------------------------------------------------------------------===//
// Lookups
//===----------------------------------------------------------------------===//

Value GraphImporter::lookupTensor(StringRef name) {
  auto value = llvm::dyn_cast_if_present<Value>(values.get(name));
  return value && isa<RankedTensorType>(value.getType()) ? value : Value();
}

const TensorMeta *GraphImporter::lookupMeta(StringRef name) {
  auto it = program.tensors.find(name.str());
  return it == program.tensors.end() ? nullptr : &it->second;
}

OpFoldResult GraphImporter::lookupSize(const SymInt &size) {
  if (size.kind == SymInt::Kind::Number)
    return graph.arith.constant(size.number);
  if (size.kind == SymInt::Kind::Name) {
    Result known =
        values.contains(size.text) ? values.get(size.text) : Result();
    auto value = llvm::dyn_cast_if_present<Value>(known);
    if (known && !(value && isa<RankedTensorType>(value.getType())))
      return known;
    auto it = program.symInts.find(size.text);
    if (it != program.symInts.end() && it->second.kind != SymInt::Kind::Name)
      return lookupSize(it->second);
    graph.fail("size '" + Twine(size.text) + "' has no value");
    return {};
  }
  Expected<SymExpr> expression = SymExpr::parse(size.text);
  if (!expression) {
    graph.fail(toString(expression.takeError()));
    return {};
  }
  OpFoldResult result = expression->build(
      graph.arith, [&](StringRef name) { return symbols.lookup(name); });
  if (!result)
    graph.fail("size expression '" + expression->str() +
               "' names no known symbol");
  return result;
}

Location GraphImporter::getLocation(const Node &node) {
  MLIRContext *context = builder.getContext();
  Location loc = node.file.empty()
                     ? Location(UnknownLoc::get(context))
                     : FileLineColLoc::get(context, node.file, node.line, 1);
  StringRef path = node.modulePath;
  return path.empty() ? loc : NameLoc::get(StringAttr::get(context, path), loc);
}

//===----------------------------------------------------------------------===//
// Operators
//===----------------------------------------------------------------------===//

/// All operators and arguments that are not read, in one error.
LogicalResult GraphImporter::checkOperators() {
  llvm::MapVector<StringRef, std::pair<unsigned, const Node *>> missing;
  auto note = [&](StringRef what, const Node &node) {
    auto &entry = missing[what];
    entry.second = entry.first++ ? entry.second : &node;
  };
  for (const Node &node : program.nodes) {
    if (!OpTable::get().lookup(node.target))
      note(node.target, node);
    for (const NamedArgument &input : node.inputs)
      if (input.value.kind == Argument::Kind::Unknown)
        note(input.value.names.front(), node);
  }
  if (missing.empty())
    return success();
  InFlightDiagnostic diagnostic = emitError(module.getLoc());
  diagnostic << "the model uses " << missing.size()
             << (missing.size() == 1 ? " unsupported operator:"
                                     : " unsupported operators:");
  for (auto &[name, entry] : missing) {
    diagnostic << "\n  " << name << " (" << entry.first
               << (entry.first == 1 ? " use" : " uses") << ", first at ";
    if (entry.second->file.empty())
      diagnostic << "node " << entry.second->name << ")";
    else
      diagnostic << entry.second->file << ":" << entry.second->line << ")";
  }
  diagnostic
      << "\nfp8-translate --print-supported-operators lists those that are";
  return diagnostic;
}

FailureOr<SmallVector<Result>> GraphImporter::convert(const Node &newNode,
                                                      const OpEntry &newEntry) {
  // Reading an input may replay a view, which binds another node: so all are
  // read before this one is bound.
  graph.setLoc(getLocation(newNode));
  for (const NamedArgument &input : newNode.inputs) {
    bool isTensor = input.value.kind == Argument::Kind::Tensor ||
                    input.value.kind == Argument::Kind::Tensors ||
                    input.value.kind == Argument::Kind::OptionalTensors;
    for (const std::string &name : input.value.names)
      if (isTensor && !name.empty() && !lookupTensor(name))
        return LogicalResult(emitError(getLocation(newNode))
                             << "'" << newNode.target << "' uses '" << name
                             << "', which has no value");
    for (const SymInt &size : input.value.ints)
      if (!lookupSize(size))
        return failure();
  }
  llvm::scope_exit restore([this, oldNode = node, oldEntry = entry,
                            oldBound = bound, loc = graph.getLoc()]() mutable {
    node = oldNode;
    entry = oldEntry;
    bound = std::move(oldBound);
  });
  graph.setLoc(getLocation(newNode));
  if (failed(bind(newNode, newEntry)))
    return failure();
  auto results = newEntry.convert(*this);
  if (graph.isBroken())
    return failure();
  if (succeeded(results))
    narrow(*results);
  return results;
}

FailureOr<Result> GraphImporter::replay(const Node &viewNode,
                                        const OpEntry &viewEntry,
                                        unsigned output) {
  Location loc = graph.getLoc();
  auto results = convert(viewNode, viewEntry);
  graph.setLoc(loc);
  if (failed(results) || results->size() <= output)
    return failure();
  return (*results)[output];
}

FailureOr<Value> GraphImporter::scatter(const Node &viewNode,
                                        const OpEntry &viewEntry,
                                        unsigned output, Value base,
                                        Value written) {
  llvm::scope_exit restore(
      [this, oldNode = node, oldEntry = entry, oldBound = bound]() mutable {
        node = oldNode;
        entry = oldEntry;
        bound = std::move(oldBound);
        viewIndex = 0;
      });
  if (failed(bind(viewNode, viewEntry)))
    return failure();
  if (!viewEntry.scatter)
    return LogicalResult(error() << "makes a view that cannot be written");
  viewIndex = output;
  FailureOr<Value> result = viewEntry.scatter(*this, base, written);
  if (graph.isBroken())
    return failure();
  if (succeeded(result) && result->getType() != base.getType())
    return LogicalResult(error() << "cannot write " << written.getType()
                                 << " into " << base.getType());
  return result;
}

bool GraphImporter::isContiguous(const TensorMeta &meta) {
  if (meta.strides.size() != meta.sizes.size())
    return false;
  SizeArith &arith = graph.arith;
  OpFoldResult expected = arith.constant(1);
  for (size_t i = meta.sizes.size(); i-- > 0;) {
    OpFoldResult size = lookupSize(meta.sizes[i]);
    OpFoldResult stride = lookupSize(meta.strides[i]);
    if (!size || !stride)
      return false;
    if (arith.getConstant(size) == 1)
      continue;
    if (!arith.equal(stride, expected))
      return false;
    expected = arith.mul(expected, size);
  }
  return true;
}

bool GraphImporter::isAlias(const Node &newNode, const OpEntry &newEntry,
                            StringRef self, StringRef output) {
  if (newEntry.kind != OpKind::MaybeView)
    return newEntry.kind == OpKind::View;
  for (const NamedArgument &input : newNode.inputs)
    if (input.name == "copy" && input.value.kind == Argument::Kind::Bool &&
        input.value.bools.front())
      return false;
  const TensorMeta *from = lookupMeta(self), *to = lookupMeta(output);
  if (!from || !to || from->dtype != to->dtype)
    return false;
  auto same = [](const SymInt &a, const SymInt &b) {
    return a.kind == b.kind && a.number == b.number && a.text == b.text;
  };
  if (llvm::equal(from->sizes, to->sizes, same) &&
      llvm::equal(from->strides, to->strides, same))
    return true;
  return newEntry.name != "aten.contiguous.default" && isContiguous(*from);
}

LogicalResult GraphImporter::checkNewName(StringRef name) {
  if (!values.contains(name))
    return success();
  return emitError(graph.getLoc())
         << "the graph defines '" << name << "' more than once";
}

FailureOr<RankedTensorType> GraphImporter::getStatedType(StringRef name) {
  const TensorMeta *meta = lookupMeta(name);
  if (!meta)
    return LogicalResult(emitError(graph.getLoc())
                         << "the archive does not say what '" << name
                         << "' is");
  Type element = getElementType(builder.getContext(), meta->dtype);
  if (!element)
    return LogicalResult(emitError(graph.getLoc())
                         << "'" << name << "' has dtype number " << meta->dtype
                         << ", which is not read");
  Sizes sizes;
  for (const SymInt &size : meta->sizes)
    if (!sizes.emplace_back(lookupSize(size)))
      return failure();
  RankedTensorType type = graph.getType(sizes, element);
  if (graph.isBroken())
    return failure();
  return type;
}

LogicalResult GraphImporter::checkOutputs(const Node &newNode) {
  graph.setLoc(getLocation(newNode));
  for (const Argument &output : newNode.outputs)
    if (output.kind == Argument::Kind::Tensor ||
        output.kind == Argument::Kind::Tensors)
      for (const std::string &name : output.names)
        if (!name.empty() && failed(getStatedType(name)))
          return failure();
  return success();
}

LogicalResult GraphImporter::checkResult(StringRef name, Value value) {
  auto type = dyn_cast<RankedTensorType>(value.getType());
  if (!type || !lookupMeta(name))
    return success();
  FailureOr<RankedTensorType> stated = getStatedType(name);
  if (failed(stated))
    return failure();
  if (type.getElementType() != stated->getElementType() ||
      failed(verifyCompatibleShape(type, *stated)))
    return emitError(graph.getLoc()) << "'" << name << "' would be " << type
                                     << ", the archive says " << *stated;
  return success();
}

LogicalResult GraphImporter::importNode(const Node &newNode) {
  const OpEntry &newEntry = *OpTable::get().lookup(newNode.target);
  if (failed(checkOutputs(newNode)))
    return failure();
  Operation *last =
      builder.getBlock()->empty() ? nullptr : &builder.getBlock()->back();
  auto results = convert(newNode, newEntry);
  if (failed(results))
    return failure();
  SmallVector<StringRef> names;
  for (const Argument &output : newNode.outputs) {
    if (output.kind == Argument::Kind::SymInt && !output.ints.empty())
      names.push_back(output.ints.front().text);
    else
      llvm::append_range(names, output.names);
    if (output.kind == Argument::Kind::None)
      names.push_back("");
  }
  graph.setLoc(getLocation(newNode));
  if (names.size() != results->size())
    return emitError(graph.getLoc())
           << "'" << newNode.target << "' gave " << results->size()
           << " results for " << names.size() << " outputs";
  // What is wrong in the archive is found here, at its own place.
  Block::iterator made =
      last ? std::next(last->getIterator()) : builder.getBlock()->begin();
  for (Operation &op : llvm::make_range(made, builder.getBlock()->end()))
    if (failed(verify(&op)))
      return failure();
  for (auto [name, result] : llvm::zip(names, *results))
    if (Value value = dyn_cast_if_present<Value>(result))
      if (failed(checkResult(name, value)))
        return failure();

  // The tensor that a view shows or an in-place operator writes.
  StringRef self;
  if (newEntry.kind != OpKind::Functional)
    for (const NamedArgument &input : newNode.inputs)
      if (input.name == newEntry.parameters.front().name &&
          input.value.kind == Argument::Kind::Tensor)
        self = input.value.names.front();
  for (StringRef name : names)
    if (!name.empty() && failed(checkNewName(name)))
      return failure();
  if (!self.empty() && values.getDepth(self) >= Values::kMaxDepth)
    return emitError(graph.getLoc())
           << "'" << self << "' is a view behind more than "
           << Values::kMaxDepth << " views";
  if (newEntry.kind == OpKind::InPlace && !self.empty()) {
    Value value = results->empty()
                      ? Value()
                      : dyn_cast_if_present<Value>(results->front());
    Value old = lookupTensor(self);
    if (!value || value.getType() != old.getType())
      return emitError(graph.getLoc())
             << "'" << newNode.target << "' would change the type of '" << self
             << "'";
    if (failed(values.write(self, value)))
      return failure();
    if (!names.empty() && !names.front().empty())
      values.defineView(names.front(), value, self, nullptr, nullptr, 0);
    return success();
  }
  for (auto [index, name] : llvm::enumerate(names)) {
    if (name.empty())
      continue;
    Result result = (*results)[index];
    if (!self.empty() && isAlias(newNode, newEntry, self, name))
      values.defineView(name, result, self, &newNode, &newEntry, index);
    else
      values.defineBase(name, result);
    Value value = dyn_cast_if_present<Value>(result);
    Operation *op = value ? value.getDefiningOp() : nullptr;
    if (op && isa<RankedTensorType>(value.getType()) &&
        !op->hasAttr(fp8::kNodeAttr))
      op->setAttr(fp8::kNodeAttr, builder.getStringAttr(name));
  }
  return success();
}

//===----------------------------------------------------------------------===//
// The road
//===----------------------------------------------------------------------===//

LogicalResult GraphImporter::run() {
  if (failed(checkOperators()) || failed(createFunction()) ||
      failed(importGlobals()) || failed(importChecks()) || graph.isBroken())
    return failure();
  for (const Node &newNode : program.nodes)
    if (failed(importNode(newNode)))
      return failure();
  graph.setLoc(module.getLoc());
  // Outputs that show a buffer show what it was before the mutations that a
  // functional graph lists at its end.
  if (failed(importOutputs()) || failed(importMutations()) ||
      failed(storeState()) || graph.isBroken())
    return failure();
  finish();
  return success();
}
