//===- RecomputeValues.cpp - Values that are cheaper computed again -------===//
//
// Part of fp8c, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A cast whose scale needs the amax of the whole tensor is in a later kernel
// than what makes the tensor. Between the two lies the tensor, written and read
// once. Where the later kernel can compute it from as much memory as that, or
// less, it does. Bit-exact: the same ops run twice, and their sums are added in
// the same order.
//
//===----------------------------------------------------------------------===//

#include "fp8c/Codegen/LaunchShape.h"
#include "fp8c/Codegen/RowProgram.h"
#include "fp8c/Dialect/FP8/FP8.h"
#include "fp8c/Target/Target.h"
#include "fp8c/Transforms/Passes.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/Remarks.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "llvm/ADT/SetVector.h"

namespace fp8c {
#define GEN_PASS_DEF_RECOMPUTEVALUESPASS
#include "fp8c/Transforms/Passes.h.inc"
} // namespace fp8c

using namespace mlir;
using namespace fp8c;
using codegen::DimSet;
using codegen::LaunchShape;
using codegen::RowProgram;

namespace {

/// A result of a kernel that only other kernels read, and how those would
/// compute it again.
class Candidate {
public:
  Candidate(OpResult result, const Target &target, int64_t &nextId)
      : result(result), maker(cast<fp8::KernelOp>(result.getOwner())),
        target(target), nextId(nextId) {}

  /// Whether there is something to decide: its maker runs anyway and its
  /// readers take it element by element.
  bool analyze();
  /// Bytes of memory for an element of it: with it in memory, and without.
  int64_t getStoredBytes() const { return elementBytes * (1 + readers.size()); }
  int64_t getAgainBytes() const { return againBytes; }
  fp8::KernelOp getMaker() const { return maker; }
  /// The node whose value it is.
  StringRef getNode() const;
  /// Has it computed again, which gives a new maker; the reason why not
  /// otherwise.
  std::string apply();

private:
  /// Finds `ops` and `leaves`.
  bool collect();
  bool countBytes();
  /// `reader` with the value computed in it, beside it.
  fp8::KernelOp makeReader(fp8::KernelOp reader);
  /// `maker` without the result, beside it.
  fp8::KernelOp makeMaker();
  /// The value outside that a leaf is.
  Value getOuter(Value leaf);
  Value getMade() {
    return maker.getBody().front().getTerminator()->getOperand(
        result.getResultNumber());
  }

  OpResult result;
  fp8::KernelOp maker;
  const Target &target;
  int64_t &nextId;
  llvm::SmallSetVector<Operation *, 2> readers;
  /// What is computed again, and what that is computed from: arguments of the
  /// maker's body, and values that it writes anyway.
  llvm::SetVector<Operation *> ops;
  llvm::SetVector<Value> leaves;
  int64_t elementBytes = 0, againBytes = 0;
};

struct RecomputeValuesPass
    : public fp8c::impl::RecomputeValuesPassBase<RecomputeValuesPass> {
  using RecomputeValuesPassBase::RecomputeValuesPassBase;

  void runOnOperation() override;

private:
  /// Decides about the results of a kernel; gives what has become of it.
  fp8::KernelOp recompute(fp8::KernelOp kernel, const Target &target);

  int64_t nextId = 0;
};

} // namespace

static bool isReduction(Operation *op) {
  auto generic = dyn_cast<linalg::GenericOp>(op);
  return generic && generic.getNumReductionLoops() > 0;
}

static int64_t getElementBytes(Value tensor) {
  return llvm::divideCeil(
      getElementTypeOrSelf(tensor.getType()).getIntOrFloatBitWidth(), 8);
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

StringRef Candidate::getNode() const {
  auto nodes = maker->getAttrOfType<ArrayAttr>(fp8::kNodesAttr);
  return nodes ? cast<StringAttr>(nodes[result.getResultNumber()]).getValue()
               : StringRef();
}

Value Candidate::getOuter(Value leaf) {
  if (auto argument = dyn_cast<BlockArgument>(leaf))
    return maker.getCaptures()[argument.getArgNumber()];
  auto yields = maker.getBody().front().getTerminator()->getOperands();
  for (auto [value, outer] : llvm::zip(yields, maker.getResults()))
    if (value == leaf && outer != result)
      return outer;
  return {};
}

bool Candidate::collect() {
  SmallVector<Value> stack = {getMade()};
  DenseSet<Value> seen;
  while (!stack.empty()) {
    Value value = stack.pop_back_val();
    if (!seen.insert(value).second)
      continue;
    Value outer = value == getMade() ? Value() : getOuter(value);
    if (outer && (isa<BlockArgument>(value) || !outer.use_empty())) {
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

bool Candidate::countBytes() {
  std::string why;
  FailureOr<RowProgram> program =
      RowProgram::analyze(maker.getBody().front(), {}, why);
  if (failed(program))
    return false;
  // A row that is not kept in registers is read more than once.
  if (llvm::any_of(ops, isReduction) &&
      LaunchShape::choose(*program, target).vectors == 0)
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

bool Candidate::analyze() {
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

fp8::KernelOp Candidate::makeReader(fp8::KernelOp reader) {
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

fp8::KernelOp Candidate::makeMaker() {
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

std::string Candidate::apply() {
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
  // The first value that is computed again names the kernels of all.
  if (llvm::any_of(ops, isReduction)) {
    Attribute id = maker->getAttr(fp8::kSameSumsAttr);
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

fp8::KernelOp RecomputeValuesPass::recompute(fp8::KernelOp kernel,
                                             const Target &target) {
  func::FuncOp func = getOperation();
  auto options = [&](StringRef name) {
    return remark::RemarkOpts::name(name)
        .category("fp8-recompute-values")
        .function(func.getName());
  };
  for (unsigned i = 0; i < kernel->getNumResults();) {
    Candidate candidate(kernel->getResult(i), target, nextId);
    if (!candidate.analyze()) {
      ++i;
      continue;
    }
    const Location loc = kernel.getLoc();
    const std::string node = candidate.getNode().str();
    const int64_t stored = candidate.getStoredBytes();
    const int64_t again = candidate.getAgainBytes();
    auto facts = [&](remark::detail::InFlightRemark &&remark)
        -> remark::detail::InFlightRemark {
      remark << remark::metric("Node", node)
             << remark::metric("StoredBytes", stored)
             << remark::metric("AgainBytes", again);
      return std::move(remark);
    };
    std::string why = again < stored ? candidate.apply() : "no bytes are saved";
    if (why.empty()) {
      kernel = candidate.getMaker();
      facts(remark::passed(loc, options("computed-again")))
          << remark::add("what another kernel needs is computed again there")
          << remark::reason("that reads {0} bytes an element, to write the "
                            "value and to read it takes {1}",
                            again, stored);
      continue;
    }
    ++i;
    facts(remark::missed(loc, options("stored")))
        << remark::add("what another kernel needs is written and read")
        << remark::reason("to compute it again reads {0} bytes an element, to "
                          "write the value and to read it takes {1}: {2}",
                          again, stored, why);
  }
  return kernel;
}

void RecomputeValuesPass::runOnOperation() {
  const Target *known = findTarget(target);
  if (!known) {
    getOperation().emitError() << "'" << target << "' is not a target";
    return signalPassFailure();
  }
  if (!known->recomputes)
    return;
  for (Block &block : getOperation().getBody())
    for (Operation *op = &block.front(); op; op = op->getNextNode())
      if (auto kernel = dyn_cast<fp8::KernelOp>(op))
        op = recompute(kernel, *known);
}
