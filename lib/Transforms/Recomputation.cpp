//===- Recomputation.cpp - A value that kernels compute again -------------===//
//
// Part of fp8c, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Recomputation.h"

#include "fp8c/Codegen/LaunchShape.h"
#include "fp8c/Codegen/RowProgram.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

using namespace mlir;
using namespace fp8c;
using codegen::DimSet;
using codegen::LaunchShape;
using codegen::RowProgram;

static bool isReduction(Operation *op) {
  auto generic = dyn_cast<linalg::GenericOp>(op);
  return generic && generic.getNumReductionLoops() > 0;
}

static int64_t getElementBytes(Value tensor) {
  return llvm::divideCeil(
      getElementTypeOrSelf(tensor.getType()).getIntOrFloatBitWidth(), 8);
}

/// Whether threads have a row in registers, but for an end of less than one
/// vector each.
static bool keepsRows(const RowProgram &program, const Target &target) {
  LaunchShape shape = LaunchShape::choose(program, target);
  if (shape.vectors == 0)
    return false;
  int64_t left =
      program.getDims()[program.getVectorDim()].size - shape.getCovered();
  return left < int64_t(shape.group) * shape.width;
}

/// True for a state, or a part of it, that the call stores again: to read it
/// later than its store would take a copy.
static bool isOverwritten(Value value) {
  while (Operation *op = value.getDefiningOp()) {
    if (auto load = dyn_cast<fp8::GlobalLoadOp>(op))
      return llvm::any_of(
          load->getParentOfType<func::FuncOp>().getOps<fp8::GlobalStoreOp>(),
          [&](fp8::GlobalStoreOp store) {
            return store.getGlobalAttr() == load.getGlobalAttr();
          });
    if (!isa<linalg::TransposeOp, tensor::CollapseShapeOp,
             tensor::ExpandShapeOp, tensor::ExtractSliceOp>(op))
      break;
    value = op->getOperand(0);
  }
  return false;
}

/// Calls `action` with each value from outside that `op` or its body reads.
static void forEachOperand(Operation *op,
                           llvm::function_ref<void(Value)> action) {
  op->walk([&](Operation *inner) {
    for (Value operand : inner->getOperands())
      if (!op->isAncestor(operand.getParentBlock()->getParentOp()))
        action(operand);
  });
}

StringRef Recomputation::getNode() const {
  auto nodes = maker->getAttrOfType<ArrayAttr>(fp8::kNodesAttr);
  return nodes ? cast<StringAttr>(nodes[result.getResultNumber()]).getValue()
               : StringRef();
}

Value Recomputation::getOuter(Value leaf) {
  if (auto argument = dyn_cast<BlockArgument>(leaf))
    return maker.getCaptures()[argument.getArgNumber()];
  auto yields = maker.getBody().front().getTerminator()->getOperands();
  for (auto [value, outer] : llvm::zip(yields, maker.getResults()))
    if (value == leaf && outer != result)
      return outer;
  return {};
}

bool Recomputation::collect() {
  SmallVector<Value> stack = {getMade()};
  DenseSet<Value> seen;
  while (!stack.empty()) {
    Value value = stack.pop_back_val();
    if (!seen.insert(value).second)
      continue;
    Value outer = value == getMade() ? Value() : getOuter(value);
    if (outer && (isa<BlockArgument>(value) || !outer.use_empty())) {
      if (isOverwritten(outer))
        return false;
      leaves.insert(value);
      continue;
    }
    Operation *op = value.getDefiningOp();
    if (!op || isa<fp8::AmaxOp>(op))
      return false;
    ops.insert(op);
    forEachOperand(op, [&](Value operand) { stack.push_back(operand); });
  }
  return true;
}

bool Recomputation::countBytes() {
  std::string why;
  FailureOr<RowProgram> program =
      RowProgram::analyze(maker.getBody().front(), {}, why);
  if (failed(program))
    return false;
  // A row that is not kept in registers is read more than once.
  if (llvm::any_of(ops, isReduction) && !keepsRows(*program, target))
    return false;
  auto yields = maker.getBody().front().getTerminator()->getOperands();
  DimSet all = 0;
  for (int64_t dim : program->getResultLoops(result.getResultNumber()))
    if (dim >= 0)
      all |= DimSet(1) << dim;
  elementBytes = getElementBytes(result);
  for (Value leaf : leaves) {
    if (!isa<RankedTensorType>(leaf.getType()))
      continue;
    DimSet dims = 0;
    if (isa<BlockArgument>(leaf)) {
      for (OpOperand &use : leaf.getUses()) {
        auto generic = dyn_cast<linalg::GenericOp>(use.getOwner());
        if (!generic || !ops.contains(use.getOwner()))
          // Elements at computed places could be any.
          dims |= ops.contains(use.getOwner()->getParentOp()) ? all : 0;
        else
          for (auto [i, expr] :
               llvm::enumerate(program->getReadMap(generic, use).getResults()))
            for (unsigned dim = 0; dim < program->getDims().size(); ++dim)
              dims |= DimSet(expr.isFunctionOfDim(dim)) << dim;
      }
    } else {
      auto number = llvm::find(yields, leaf) - yields.begin();
      for (int64_t dim : program->getResultLoops(number))
        if (dim >= 0)
          dims |= DimSet(1) << dim;
    }
    if (dims & ~all)
      return false;
    // Tensors of fewer dims are small beside it.
    if (dims != all)
      continue;
    for (Operation *reader : readers)
      if (!llvm::is_contained(reader->getOperands(), getOuter(leaf)))
        againBytes += getElementBytes(leaf);
  }
  return true;
}

bool Recomputation::analyze() {
  if (result.use_empty() ||
      llvm::all_of(maker.getResults(), [&](OpResult other) {
        return other == result || other.use_empty();
      }))
    return false;
  for (OpOperand &use : result.getUses()) {
    auto reader = dyn_cast<fp8::KernelOp>(use.getOwner());
    if (!reader)
      return false;
    readers.insert(reader);
    Value argument = reader.getBody().getArgument(use.getOperandNumber());
    for (OpOperand &read : argument.getUses()) {
      auto generic = dyn_cast<linalg::GenericOp>(read.getOwner());
      if (!generic || !generic.getMatchingIndexingMap(&read).isIdentity())
        return false;
    }
  }
  return collect() && countBytes();
}

fp8::KernelOp Recomputation::makeReader(fp8::KernelOp reader) {
  OpBuilder builder(reader);
  // What the value comes from stands in its place; tensors before indices.
  llvm::SetVector<Value> captures;
  auto addLeaves = [&](bool indices) {
    for (BlockArgument argument : maker.getBody().getArguments())
      if (leaves.contains(argument) &&
          isa<IndexType>(argument.getType()) == indices)
        captures.insert(getOuter(argument));
    for (Value leaf : leaves)
      if (!indices && !isa<BlockArgument>(leaf))
        captures.insert(getOuter(leaf));
  };
  for (bool indices : {false, true}) {
    for (Value capture : reader.getCaptures())
      if (capture == result)
        addLeaves(/*indices=*/false);
      else if (isa<IndexType>(capture.getType()) == indices)
        captures.insert(capture);
    if (indices)
      addLeaves(/*indices=*/true);
  }
  auto made =
      fp8::KernelOp::create(builder, reader.getLoc(), reader.getResultTypes(),
                            captures.getArrayRef());
  made->setDiscardableAttrs(reader->getDiscardableAttrDictionary());
  Block &body = made.getBody().emplaceBlock();
  DenseMap<Value, Value> arguments;
  for (Value capture : captures)
    arguments[capture] = body.addArgument(capture.getType(), capture.getLoc());
  builder.setInsertionPointToStart(&body);
  IRMapping mapping;
  for (Value leaf : leaves)
    mapping.map(leaf, arguments[getOuter(leaf)]);
  for (Operation &op : maker.getBody().front())
    if (ops.contains(&op))
      builder.clone(op, mapping);
  Value again = mapping.lookup(getMade());
  for (auto [capture, argument] :
       llvm::zip(reader.getCaptures(), reader.getBody().getArguments()))
    mapping.map(argument, capture == result ? again : arguments[capture]);
  for (Operation &op : reader.getBody().front())
    builder.clone(op, mapping);
  return made;
}

fp8::KernelOp Recomputation::makeMaker() {
  OpBuilder builder(maker);
  SmallVector<Type> types;
  SmallVector<Attribute> names;
  SmallVector<Value> kept;
  auto nodes = maker->getAttrOfType<ArrayAttr>(fp8::kNodesAttr);
  Operation *yield = maker.getBody().front().getTerminator();
  for (OpResult other : maker.getResults()) {
    if (other == result)
      continue;
    types.push_back(other.getType());
    kept.push_back(yield->getOperand(other.getResultNumber()));
    if (nodes)
      names.push_back(nodes[other.getResultNumber()]);
  }
  auto made = fp8::KernelOp::create(builder, maker.getLoc(), types,
                                    maker.getCaptures());
  made->setDiscardableAttrs(maker->getDiscardableAttrDictionary());
  if (nodes)
    made->setAttr(fp8::kNodesAttr, builder.getArrayAttr(names));
  IRMapping mapping;
  maker.getBody().cloneInto(&made.getBody(), mapping);
  Operation *last = made.getBody().front().getTerminator();
  for (Value &value : kept)
    value = mapping.lookup(value);
  last->setOperands(kept);
  for (Operation &op :
       llvm::make_early_inc_range(llvm::reverse(made.getBody().front())))
    if (isOpTriviallyDead(&op))
      op.erase();
  for (unsigned i = made->getNumOperands(); i-- > 0;)
    if (made.getBody().getArgument(i).use_empty()) {
      made.getBody().eraseArgument(i);
      made->eraseOperand(i);
    }
  return made;
}

std::string Recomputation::apply() {
  // Kernels that compute sums of several makers again join all of these.
  const bool hasSums = llvm::any_of(ops, isReduction);
  Attribute id = maker->getAttr(fp8::kSameSumsAttr);
  for (Operation *reader : readers) {
    Attribute theirs = reader->getAttr(fp8::kSameSumsAttr);
    if (!hasSums || !theirs)
      continue;
    if (id && id != theirs)
      return "a kernel that reads it has the threads of other sums";
    id = theirs;
  }
  SmallVector<fp8::KernelOp> made;
  for (Operation *reader : readers)
    made.push_back(makeReader(cast<fp8::KernelOp>(reader)));
  std::string why;
  for (fp8::KernelOp reader : made)
    if (why.empty())
      (void)RowProgram::analyze(reader.getBody().front(), {}, why);
  if (!why.empty()) {
    for (fp8::KernelOp reader : made)
      reader.erase();
    return why;
  }
  fp8::KernelOp rest = makeMaker();
  // The first sums that are computed again name the kernels of all.
  if (hasSums) {
    if (!id)
      id = Builder(maker.getContext()).getI64IntegerAttr(nextId++);
    rest->setAttr(fp8::kSameSumsAttr, id);
    for (fp8::KernelOp reader : made)
      reader->setAttr(fp8::kSameSumsAttr, id);
  }
  for (auto [reader, again] : llvm::zip(readers, made)) {
    reader->replaceAllUsesWith(again.getResults());
    reader->erase();
  }
  unsigned next = 0;
  for (OpResult other : maker.getResults())
    if (other != result)
      other.replaceAllUsesWith(rest.getResult(next++));
  maker.erase();
  maker = rest;
  return "";
}
