//===- JoinScalarKernels.cpp - One element, where it is read --------------===//
//
// Part of fp8c, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A kernel that computes one element, as a scale is from an amax, takes a
// launch that everything waits for. The kernel that reads the element first
// computes it too, in each thread, and writes it once for all other readers.
// Bit-exact: the same ops run on the same element.
//
//===----------------------------------------------------------------------===//

#include "fp8c/Codegen/RowProgram.h"
#include "fp8c/Dialect/FP8/FP8.h"
#include "fp8c/Target/Target.h"
#include "fp8c/Transforms/Passes.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/Remarks.h"
#include "llvm/ADT/SetVector.h"

namespace fp8c {
#define GEN_PASS_DEF_JOINSCALARKERNELSPASS
#include "fp8c/Transforms/Passes.h.inc"
} // namespace fp8c

using namespace mlir;
using namespace fp8c;

namespace {
struct JoinScalarKernelsPass
    : public fp8c::impl::JoinScalarKernelsPassBase<JoinScalarKernelsPass> {
  using JoinScalarKernelsPassBase::JoinScalarKernelsPassBase;

  void runOnOperation() override;

private:
  void join(fp8::KernelOp scalar);
};
} // namespace

static bool hasOneElement(Type type) {
  auto tensor = dyn_cast<RankedTensorType>(type);
  return tensor && llvm::all_of(tensor.getShape(),
                                [](int64_t extent) { return extent == 1; });
}

/// True for a kernel without loops.
static bool isScalar(fp8::KernelOp kernel) {
  return llvm::all_of(kernel->getOperandTypes(), hasOneElement) &&
         llvm::all_of(kernel->getResultTypes(), hasOneElement) &&
         llvm::none_of(kernel.getBody().front(), [](Operation &op) {
           auto generic = dyn_cast<linalg::GenericOp>(op);
           return isa<fp8::AmaxOp>(op) ||
                  (generic &&
                   llvm::any_of(generic.getStaticLoopRanges(),
                                [](int64_t extent) { return extent != 1; }));
         });
}

static bool isReshape(Operation *op) {
  return isa<tensor::CollapseShapeOp, tensor::ExpandShapeOp>(op);
}

/// Finds what reads a scalar kernel's results before `reader`: false unless
/// that is reshapes alone, which may stand behind it.
static bool findEarlier(Operation *made, fp8::KernelOp reader,
                        llvm::SetVector<Operation *> &earlier) {
  return llvm::all_of(made->getUsers(), [&](Operation *user) {
    if (user == reader || reader->isBeforeInBlock(user))
      return true;
    earlier.insert(user);
    return isReshape(user) && findEarlier(user, reader, earlier);
  });
}

/// The results of `scalar` that others than `reader` read.
static SmallVector<OpResult> getKept(fp8::KernelOp scalar,
                                     fp8::KernelOp reader) {
  SmallVector<OpResult> kept;
  for (OpResult result : scalar->getResults())
    if (llvm::any_of(result.getUsers(),
                     [&](Operation *user) { return user != reader; }))
      kept.push_back(result);
  return kept;
}

/// Beside `reader`, the kernel of both: the reader's results, then `kept`.
static fp8::KernelOp makeJoined(fp8::KernelOp scalar, fp8::KernelOp reader,
                                ArrayRef<OpResult> kept) {
  OpBuilder builder(reader);
  SmallVector<Type> types(reader->getResultTypes());
  for (OpResult result : kept)
    types.push_back(result.getType());
  // Tensors before indices.
  llvm::SetVector<Value> captures;
  for (bool indices : {false, true})
    for (fp8::KernelOp kernel : {reader, scalar})
      for (Value capture : kernel.getCaptures())
        if (isa<IndexType>(capture.getType()) == indices &&
            capture.getDefiningOp() != scalar)
          captures.insert(capture);
  auto made = fp8::KernelOp::create(
      builder,
      FusedLoc::get(reader.getContext(), {scalar.getLoc(), reader.getLoc()}),
      types, captures.getArrayRef());
  made->setDiscardableAttrs(reader->getDiscardableAttrDictionary());

  SmallVector<Attribute> names;
  auto addNames = [&](fp8::KernelOp kernel, ValueRange results) {
    auto nodes = kernel->getAttrOfType<ArrayAttr>(fp8::kNodesAttr);
    for (Value result : results)
      names.push_back(nodes ? nodes[cast<OpResult>(result).getResultNumber()]
                            : builder.getStringAttr(""));
  };
  addNames(reader, reader->getResults());
  addNames(scalar, SmallVector<Value>(kept));
  if (reader->hasAttr(fp8::kNodesAttr) || scalar->hasAttr(fp8::kNodesAttr))
    made->setAttr(fp8::kNodesAttr, builder.getArrayAttr(names));

  Block &body = made.getBody().emplaceBlock();
  builder.setInsertionPointToStart(&body);
  DenseMap<Value, Value> inside;
  for (Value capture : captures)
    inside[capture] = body.addArgument(capture.getType(), capture.getLoc());
  auto cloneBody = [&](fp8::KernelOp kernel) {
    IRMapping mapping;
    for (auto [capture, argument] :
         llvm::zip(kernel.getCaptures(), kernel.getBody().getArguments()))
      mapping.map(argument, inside.lookup(capture));
    Block &from = kernel.getBody().front();
    for (Operation &op : from.without_terminator())
      builder.clone(op, mapping);
    return llvm::map_to_vector(
        from.getTerminator()->getOperands(),
        [&](Value value) { return mapping.lookup(value); });
  };
  for (auto [result, value] :
       llvm::zip(scalar->getResults(), cloneBody(scalar)))
    inside[result] = value;
  SmallVector<Value> yielded(cloneBody(reader));
  for (Value result : kept)
    yielded.push_back(inside.lookup(result));
  fp8::YieldOp::create(builder, made.getLoc(), yielded);
  return made;
}

void JoinScalarKernelsPass::join(fp8::KernelOp scalar) {
  fp8::KernelOp reader;
  for (Operation *user : scalar->getUsers())
    if (auto kernel = dyn_cast<fp8::KernelOp>(user))
      if (!reader || kernel->isBeforeInBlock(reader))
        reader = kernel;
  if (!reader)
    return;
  const Location loc = scalar.getLoc();
  auto nodes = scalar->getAttrOfType<ArrayAttr>(fp8::kNodesAttr);
  const std::string node =
      nodes ? cast<StringAttr>(nodes[0]).getValue().str() : "";
  auto options = [&](StringRef name) {
    return remark::RemarkOpts::name(name)
        .category("fp8-join-scalar-kernels")
        .function(getOperation().getName());
  };
  auto stays = [&](StringRef why) {
    remark::missed(loc, options("own-kernel"))
        << remark::add("one element has a kernel of its own")
        << remark::reason("{0}", why) << remark::metric("Node", node);
  };
  llvm::SetVector<Operation *> earlier;
  if (!findEarlier(scalar, reader, earlier))
    return stays("what reads it first is no kernel");
  SmallVector<OpResult> kept = getKept(scalar, reader);
  fp8::KernelOp made = makeJoined(scalar, reader, kept);
  std::string why;
  if (failed(codegen::RowProgram::analyze(made.getBody().front(), {}, why))) {
    made->erase();
    return stays(why);
  }
  remark::passed(loc, options("joined"))
      << remark::add("one element is computed in the kernel that reads it "
                     "first")
      << remark::reason("each of its threads does that in less time than a "
                        "launch takes")
      << remark::metric("Node", node);
  const unsigned numResults = reader->getNumResults();
  reader->replaceAllUsesWith(made->getResults().take_front(numResults));
  reader->erase();
  for (auto [i, result] : llvm::enumerate(kept))
    result.replaceAllUsesWith(made->getResult(numResults + i));
  scalar->erase();
  Operation *last = made;
  for (Operation *op : earlier) {
    op->moveAfter(last);
    last = op;
  }
}

void JoinScalarKernelsPass::runOnOperation() {
  const Target *known = findTarget(target);
  if (!known) {
    getOperation().emitError() << "'" << target << "' is not a target";
    return signalPassFailure();
  }
  if (!known->recomputes)
    return;
  for (Block &block : getOperation().getBody())
    // Backwards: what a kernel joins is behind it.
    for (Operation &op : llvm::make_early_inc_range(llvm::reverse(block)))
      if (auto kernel = dyn_cast<fp8::KernelOp>(op); kernel && isScalar(kernel))
        join(kernel);
}
