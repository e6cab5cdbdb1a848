//===- Entry.cpp - From a function to a plan entry ------------------------===//
//
// Part of fp8c, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Entry.h"

#include "mlir/Dialect/Utils/StaticValueUtils.h"

using namespace mlir;
using namespace fp8c;
using namespace fp8c::toplan;

StringRef toplan::getNodeName(Value value) {
  auto result = dyn_cast<OpResult>(value);
  if (!result)
    return "";
  Operation *op = result.getOwner();
  if (auto names = op->getAttrOfType<ArrayAttr>("fp8.nodes"))
    if (result.getResultNumber() < names.size())
      if (auto name = dyn_cast<StringAttr>(names[result.getResultNumber()]))
        return name.getValue();
  Attribute node = op->getDiscardableAttr(fp8::kNodeAttr);
  if (auto names = dyn_cast_if_present<ArrayAttr>(node);
      names && result.getResultNumber() < names.size())
    node = names[result.getResultNumber()];
  auto name = dyn_cast_if_present<StringAttr>(node);
  if (name)
    return name.getValue();
  // A reshape of what a product or a kernel gives has the same elements in the
  // same order.
  if (isProducer(op))
    for (Operation *user : op->getUsers())
      if (isa<tensor::ExpandShapeOp, tensor::CollapseShapeOp, tensor::CastOp>(
              user) &&
          user->getOperand(0) == value)
        if (auto reshaped = user->getAttrOfType<StringAttr>(fp8::kNodeAttr))
          return reshaped.getValue();
  return "";
}

Entry::Entry(func::FuncOp func, plan::EntryOp entry, KernelTable &kernels,
             const Target &target)
    : func(func), builder(OpBuilder::atBlockEnd(&entry.getBody().front())),
      kernels(kernels), target(target), shapes(builder) {}

LogicalResult Entry::run() {
  for (Operation &op : func.front())
    positions[&op] = positions.size() + 1;
  if (failed(checkSizes()) || failed(shapes.run(func)) ||
      failed(makeInputs()) || failed(makeOutputs()))
    return failure();
  place();
  for (Operation &op : func.front()) {
    shapes.arith.setLoc(op.getLoc());
    if (failed(convert(&op)))
      return failure();
    if (isProducer(&op) && !isa<fp8::KernelOp>(op))
      noteSweep(&op);
  }
  copyOutputs();
  storeState();
  if (shapes.arith.isBroken())
    return func.emitError("has a size that 64 bits do not hold, or one of too "
                          "many terms");
  return success();
}

void Entry::noteSweep(Operation *op) {
  SmallVector<Layout> touched;
  for (ValueRange values :
       {ValueRange(op->getOperands()), ValueRange(op->getResults())})
    for (Value value : values)
      if (auto it = layouts.find(value); it != layouts.end())
        touched.push_back(it->second);
  sweeps.note(touched, /*backwards=*/false);
}

LogicalResult Entry::checkSizes() {
  auto check = [](Value value) -> LogicalResult {
    auto type = dyn_cast<ShapedType>(value.getType());
    if (!type || !type.hasRank() || fp8::isAddressable(type))
      return success();
    return emitError(value.getLoc())
           << "a tensor of type " << type << " needs more than 2^63 - 1 bytes";
  };
  for (Value argument : func.getArguments())
    if (failed(check(argument)))
      return failure();
  WalkResult result = func.walk([&](Operation *op) {
    return WalkResult(failure(llvm::any_of(
        op->getResults(), [&](Value value) { return failed(check(value)); })));
  });
  return failure(result.wasInterrupted());
}

//===----------------------------------------------------------------------===//
// Memory
//===----------------------------------------------------------------------===//

/// The type of a dense buffer, and its dynamic sizes as values.
static std::pair<MemRefType, SmallVector<Value>> getRootType(const Sizes &sizes,
                                                             Type element) {
  SmallVector<int64_t> shape;
  SmallVector<Value> dynamic;
  for (OpFoldResult size : sizes) {
    shape.push_back(getConstantIntValue(size).value_or(ShapedType::kDynamic));
    if (ShapedType::isDynamic(shape.back()))
      dynamic.push_back(cast<Value>(size));
  }
  return {MemRefType::get(shape, element), dynamic};
}

/// An attribute for a name, null for none.
static StringAttr getNodeAttr(OpBuilder &builder, StringRef node) {
  return node.empty() ? StringAttr() : builder.getStringAttr(node);
}

Layout Entry::allocate(const Sizes &sizes, Type element, StringRef node) {
  auto [type, dynamic] = getRootType(sizes, element);
  Value root = plan::AllocOp::create(builder, func.getLoc(), type, dynamic,
                                     getNodeAttr(builder, node));
  rootSizes[root] = sizes;
  return Layout::dense(shapes.arith, root, sizes);
}

Layout Entry::allocate(Value tensor) {
  return allocate(shapes.sizes(tensor), getElementTypeOrSelf(tensor),
                  getNodeName(tensor));
}

Layout Entry::getGlobal(FlatSymbolRefAttr name, Type type) {
  auto tensor = cast<RankedTensorType>(type);
  auto [it, isNew] = globals.try_emplace(name.getValue());
  if (isNew) {
    Sizes sizes;
    for (int64_t size : tensor.getShape())
      sizes.push_back(shapes.arith.constant(size));
    Value root = plan::GlobalOp::create(
        builder, func.getLoc(),
        MemRefType::get(tensor.getShape(), tensor.getElementType()), name,
        StringAttr());
    rootSizes[root] = sizes;
    it->second = Layout::dense(shapes.arith, root, sizes);
  }
  return it->second;
}

Value Entry::getBuffer(const Layout &layout, Type element, StringRef node) {
  SizeArith &arith = shapes.arith;
  Operation *root = layout.root.getDefiningOp();
  const Sizes &whole = rootSizes[layout.root];
  bool isWhole = whole.size() == layout.sizes.size() &&
                 isConstantIntValue(layout.offset, 0) && layout.isDense(arith);
  for (size_t i = 0; isWhole && i < whole.size(); ++i)
    isWhole = arith.equal(whole[i], layout.sizes[i]);
  if (isWhole) {
    auto known = root->getAttrOfType<StringAttr>("node");
    if (node.empty() || (known && known.getValue() == node))
      return layout.root;
    if (!known) {
      root->setAttr("node", builder.getStringAttr(node));
      return layout.root;
    }
  }
  auto values = [&](const Sizes &sizes) {
    SmallVector<Value> result;
    for (OpFoldResult size : sizes)
      result.push_back(arith.value(size));
    return result;
  };
  Value offset = arith.value(layout.offset);
  return plan::ViewOp::create(
      builder, func.getLoc(), layout.getType(element), layout.root, offset,
      values(layout.sizes), values(layout.strides), getNodeAttr(builder, node));
}

Value Entry::getBuffer(Value tensor) {
  Value &known = buffers[tensor];
  if (!known)
    known = getBuffer(layouts.find(tensor)->second,
                      getElementTypeOrSelf(tensor), getNodeName(tensor));
  return known;
}

plan::CopyOp Entry::copy(Location loc, const Layout &from, const Layout &to,
                         Type element) {
  Value source = getBuffer(from, element), target = getBuffer(to, element);
  return plan::CopyOp::create(builder, loc, source, target);
}

//===----------------------------------------------------------------------===//
// Inputs, outputs, state
//===----------------------------------------------------------------------===//

/// The names of arguments or results, each once.
static FailureOr<SmallVector<std::string>>
getNames(func::FuncOp func, unsigned count, StringRef kind,
         llvm::function_ref<Attribute(unsigned)> getGiven) {
  SmallVector<std::string> names;
  llvm::StringMap<unsigned> known;
  for (unsigned i = 0; i < count; ++i) {
    Attribute given = getGiven(i);
    auto name = dyn_cast_if_present<StringAttr>(given);
    if (given && (!name || name.empty()))
      return LogicalResult(func.emitError()
                           << kind << " " << i << " has " << given << " as "
                           << fp8::kInputNameAttr
                           << ", which is no string that names it");
    names.push_back(name ? name.str() : (kind + Twine(i)).str());
    auto [it, isNew] = known.try_emplace(names.back(), i);
    if (!isNew)
      return LogicalResult(func.emitError()
                           << kind << "s " << it->second << " and " << i
                           << " have one name, '" << names.back() << "'");
  }
  return names;
}

LogicalResult Entry::makeInputs() {
  auto names = getNames(func, func.getNumArguments(), "input", [&](unsigned i) {
    return func.getArgAttr(i, fp8::kInputNameAttr);
  });
  if (failed(names))
    return failure();
  for (BlockArgument argument : func.getArguments()) {
    const Sizes &sizes = shapes.sizes(argument);
    auto [type, dynamic] =
        getRootType(sizes, getElementTypeOrSelf(argument.getType()));
    // The node of an input has the input's name.
    StringAttr name = builder.getStringAttr((*names)[argument.getArgNumber()]);
    Value root = plan::InputOp::create(builder, argument.getLoc(), type, name,
                                       dynamic, name);
    if (Attribute flag =
            func.getArgAttr(argument.getArgNumber(), fp8::kUnsignedAttr))
      root.getDefiningOp()->setAttr(fp8::kUnsignedAttr, flag);
    rootSizes[root] = sizes;
    layouts[argument] = Layout::dense(shapes.arith, root, sizes);
  }
  return success();
}

LogicalResult Entry::makeOutputs() {
  Operation *terminator = func.front().getTerminator();
  auto names = getNames(func, func.getNumResults(), "output", [&](unsigned i) {
    return func.getResultAttr(i, fp8::kInputNameAttr);
  });
  if (failed(names))
    return failure();
  for (auto [i, value] : llvm::enumerate(terminator->getOperands())) {
    StringAttr name = builder.getStringAttr((*names)[i]);
    if (isa<IndexType>(value.getType())) {
      plan::OutputIndexOp::create(builder, terminator->getLoc(), name,
                                  shapes.arith.value(shapes.index(value)));
      continue;
    }
    if (!isa<RankedTensorType>(value.getType()))
      return func.emitError()
             << "result " << i << " has type " << value.getType()
             << ", which is neither a tensor nor an index";
    const Sizes &sizes = shapes.sizes(value);
    auto [type, dynamic] = getRootType(sizes, getElementTypeOrSelf(value));
    Value root = plan::OutputOp::create(
        builder, terminator->getLoc(), type, name, dynamic,
        getNodeAttr(builder, getNodeName(value)));
    if (Attribute flag = func.getResultAttr(i, fp8::kUnsignedAttr))
      root.getDefiningOp()->setAttr(fp8::kUnsignedAttr, flag);
    rootSizes[root] = sizes;
    outputs.push_back(root);
  }
  return success();
}

void Entry::copyOutputs() {
  Operation *terminator = func.front().getTerminator();
  size_t next = 0;
  for (Value value : terminator->getOperands()) {
    if (!isa<RankedTensorType>(value.getType()))
      continue;
    Value output = outputs[next++];
    const Layout &layout = layouts.find(value)->second;
    if (layout.root == output)
      continue;
    copy(terminator->getLoc(), layout,
         Layout::dense(shapes.arith, output, shapes.sizes(value)),
         getElementTypeOrSelf(value));
  }
}

void Entry::storeState() {
  struct Store {
    Layout from, to;
    Type element;
  };
  std::vector<Store> stores;
  for (auto [name, value] : stored) {
    Layout to = getGlobal(cast<FlatSymbolRefAttr>(name), value.getType());
    Type element = getElementTypeOrSelf(value);
    Layout from = layouts.find(value)->second;
    if (from.root == to.root && from.isDense(shapes.arith) &&
        isConstantIntValue(from.offset, 0))
      continue;
    // A value that lies in state is saved before any state is overwritten.
    if (from.root.getDefiningOp<plan::GlobalOp>()) {
      Layout saved = allocate(from.sizes, element, "");
      copy(func.getLoc(), from, saved, element);
      from = saved;
    }
    stores.push_back({from, to, element});
  }
  for (const Store &store : stores)
    copy(func.getLoc(), store.from, store.to, store.element);
}
