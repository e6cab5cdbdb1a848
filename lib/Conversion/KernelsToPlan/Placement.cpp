//===- Placement.cpp - Where producers write their results ----------------===//
//
// Part of fp8c, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A value is written where it is wanted if that needs no copy later: walking
// the function backwards, each place that wants a value somewhere (an output, a
// part of a concatenation, a state buffer, a dense reshape) asks the value's
// producer, through the views between them. The first to ask gets it.
//
//===----------------------------------------------------------------------===//

#include "Entry.h"

#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringSet.h"

using namespace mlir;
using namespace fp8c;
using namespace fp8c::toplan;

bool Entry::tryPlace(Value value, Layout layout) {
  Operation *op = value.getDefiningOp();
  while (op && isView(op)) {
    std::optional<Layout> source = getSourceLayout(op, layout, shapes);
    if (!source)
      return false;
    layout = std::move(*source);
    value = op->getOperand(0);
    op = value.getDefiningOp();
  }
  if (!op || !isProducer(op) || placements.count(value) ||
      !mayWrite(op, layout.root))
    return false;
  placements[value] = std::move(layout);
  return true;
}

size_t Entry::getLastRead(Value value) {
  size_t last = 0;
  for (OpOperand &use : value.getUses()) {
    Operation *user = use.getOwner();
    size_t position = getPosition(user);
    // Outputs and state are written when all else is done.
    if (isa<fp8::GlobalStoreOp, func::ReturnOp>(user))
      position = positions.size();
    else if (isView(user) || isa<fp8::DequantizeOp>(user))
      position = getLastRead(user->getResult(0));
    last = std::max(last, position);
  }
  return last;
}

Layout Entry::getConcatSlice(tensor::ConcatOp op, unsigned number,
                             const Layout &whole) {
  SizeArith &arith = shapes.arith;
  Sizes offsets(whole.sizes.size()), steps(whole.sizes.size());
  for (size_t i = 0; i < offsets.size(); ++i) {
    offsets[i] = arith.constant(0);
    steps[i] = arith.constant(1);
  }
  int64_t dim = op.getDim();
  for (Value before : op.getInputs().take_front(number))
    offsets[dim] = arith.add(offsets[dim], shapes.sizes(before)[dim]);
  return whole.slice(arith, offsets, shapes.sizes(op.getInputs()[number]),
                     steps, llvm::SmallBitVector(offsets.size()));
}

void Entry::placeConcat(tensor::ConcatOp op) {
  Value result = op.getResult();
  auto it = placements.find(result);
  if (it == placements.end())
    it = placements.try_emplace(result, allocate(result)).first;
  Layout whole = it->second;
  for (OpOperand &operand : op->getOpOperands())
    if (tryPlace(operand.get(),
                 getConcatSlice(op, operand.getOperandNumber(), whole)))
      inPlace.insert(&operand);
}

/// A flattened transpose is a view if the producer writes it in the order that
/// the reshape needs.
void Entry::placeFlatten(tensor::CollapseShapeOp op) {
  bool transposed = false;
  Operation *source = op.getSrc().getDefiningOp();
  for (; source && isView(source);
       source = source->getOperand(0).getDefiningOp())
    transposed |= isa<linalg::TransposeOp>(source);
  if (!transposed || !source || !isProducer(source) ||
      isa<tensor::ConcatOp, tensor::InsertSliceOp>(source))
    return;
  Layout dense =
      Layout::dense(shapes.arith, Value(), shapes.sizes(op.getResult()));
  // Kernels store rows: the last dim has to stay the last.
  Layout sourceLayout = dense;
  Value value = op.getResult();
  while (isView(value.getDefiningOp())) {
    std::optional<Layout> next =
        getSourceLayout(value.getDefiningOp(), sourceLayout, shapes);
    if (!next)
      return;
    sourceLayout = std::move(*next);
    value = value.getDefiningOp()->getOperand(0);
  }
  if (placements.count(value) || sourceLayout.sizes.empty() ||
      (isa<fp8::KernelOp>(source) &&
       !isConstantIntValue(sourceLayout.strides.back(), 1)))
    return;
  sourceLayout.root = allocate(op.getResult()).root;
  placements[value] = std::move(sourceLayout);
}

/// True if a reader has the heads of attention after its tokens.
static bool isReadByTokens(fp8::AttentionOp op) {
  return llvm::any_of(op->getUsers(), [](Operation *user) {
    auto transpose = dyn_cast<linalg::TransposeOp>(user);
    return transpose &&
           transpose.getPermutation() == ArrayRef<int64_t>{0, 2, 1, 3};
  });
}

/// What reads the heads of a token together finds them one after the other.
void Entry::placeAttention(fp8::AttentionOp op) {
  Value result = op.getResult();
  if (placements.count(result) || !isReadByTokens(op))
    return;
  Sizes sizes = shapes.sizes(result);
  std::swap(sizes[1], sizes[2]);
  // The value itself is a view, which has its node's name.
  Layout tokens = allocate(sizes, getElementTypeOrSelf(result), "");
  placements[result] = tokens.transpose({0, 2, 1, 3});
}

bool Entry::mayWrite(Operation *producer, Value root) {
  auto global = root.getDefiningOp<plan::GlobalOp>();
  if (!global)
    return true;
  // What a concatenation holds is written by earlier producers.
  if (isa<tensor::ConcatOp>(producer))
    return false;
  size_t last = 0;
  for (auto load : func.getOps<fp8::GlobalLoadOp>())
    if (load.getGlobalAttr() == global.getGlobalAttr())
      last = std::max(last, getLastRead(load.getResult()));
  // An insert reads what it overwrites.
  return getPosition(producer) > last ||
         (isa<tensor::InsertSliceOp>(producer) &&
          getPosition(producer) == last);
}

void Entry::placeStore(fp8::GlobalStoreOp op) {
  Layout global = getGlobal(op.getGlobalAttr(), op.getValue().getType());
  // Loads after a store give what was stored, so what was loaded before
  // is all that can be read from the buffer.
  for (auto load : func.getOps<fp8::GlobalLoadOp>())
    if (load.getGlobalAttr() == op.getGlobalAttr() && op->isBeforeInBlock(load))
      return;
  tryPlace(op.getValue(), global);
}

/// The slice is copied into its place; what it is inserted into is written
/// there to begin with.
void Entry::placeInsert(tensor::InsertSliceOp op) {
  Value result = op.getResult();
  auto it = placements.find(result);
  if (it == placements.end())
    it = placements.try_emplace(result, allocate(result)).first;
  Layout layout = it->second;
  if (op.getDest().hasOneUse())
    tryPlace(op.getDest(), layout);
}

/// Slots of tensor-wide amax are one buffer, which one command clears.
void Entry::placeAmaxSlots() {
  SmallVector<Value> slots;
  for (auto kernel : func.getOps<fp8::KernelOp>())
    for (auto [result, value] :
         llvm::zip(kernel.getResults(),
                   kernel.getBody().front().getTerminator()->getOperands())) {
      auto amax = value.getDefiningOp<fp8::AmaxOp>();
      if (amax && amax.getScaling().isTensor() && !placements.count(result))
        slots.push_back(result);
    }
  if (slots.empty())
    return;
  SizeArith &arith = shapes.arith;
  Layout all =
      allocate({arith.constant(slots.size())}, builder.getF32Type(), "");
  auto fill = plan::FillOp::create(builder, func.getLoc(), all.root, 0);
  fill->setDiscardableAttr(fp8::kNodeAttr, builder.getStringAttr("amax"));
  for (auto [i, slot] : llvm::enumerate(slots)) {
    Layout layout = Layout::dense(arith, all.root, shapes.sizes(slot));
    layout.offset = arith.constant(i);
    placements[slot] = std::move(layout);
    cleared.insert(slot);
  }
}

bool Entry::wantsPadding(fp8::ScaledMatmulOp op) {
  // Products of fewer weights run in kernels that take any rows.
  constexpr int64_t kLeastElements = 1 << 16;
  auto lhs = cast<RankedTensorType>(op.getLhs().getType());
  auto rhs = cast<RankedTensorType>(op.getRhs().getType());
  return !target.isCPU() && lhs.getRank() == 2 && !lhs.isDynamicDim(1) &&
         lhs.getDimSize(1) % target.libraryAlignment != 0 &&
         (!rhs.hasStaticShape() || rhs.getNumElements() >= kLeastElements);
}

void Entry::placePadded(fp8::ScaledMatmulOp op) {
  if (!wantsPadding(op))
    return;
  SizeArith &arith = shapes.arith;
  Type element = getElementTypeOrSelf(op.getLhs());
  Sizes sizes = shapes.sizes(op.getLhs());
  Padded rows;
  rows.value = op.getLhs();
  while (Operation *made = rows.value.getDefiningOp()) {
    if (!isView(made))
      break;
    rows.value = made->getOperand(0);
  }
  rows.size = cast<RankedTensorType>(op.getLhs().getType()).getDimSize(1);
  const int64_t wide = llvm::alignTo(rows.size, target.libraryAlignment);
  rows.zeros = wide - rows.size;
  Layout layout = allocate({sizes[0], arith.constant(wide)}, element, "");
  layout.sizes[1] = sizes[1];
  rows.ends = layout;
  rows.ends.sizes[1] = arith.constant(rows.zeros);
  rows.ends.offset = arith.constant(rows.size);
  Value root = layout.root;
  if (tryPlace(op.getLhs(), std::move(layout))) {
    padded[root] = rows;
    return;
  }
  rootSizes.erase(root);
  root.getDefiningOp()->erase();
}

void Entry::place() {
  Operation *terminator = func.front().getTerminator();
  size_t next = 0;
  for (Value value : terminator->getOperands())
    if (isa<RankedTensorType>(value.getType())) {
      Value output = outputs[next++];
      tryPlace(value, Layout::dense(shapes.arith, output, shapes.sizes(value)));
    }
  // The last store of a global is the one that counts.
  llvm::StringSet<> seen;
  for (Operation &op : llvm::reverse(func.front())) {
    shapes.arith.setLoc(op.getLoc());
    if (auto store = dyn_cast<fp8::GlobalStoreOp>(op)) {
      if (seen.insert(store.getGlobal()).second)
        placeStore(store);
    } else if (auto concat = dyn_cast<tensor::ConcatOp>(op)) {
      placeConcat(concat);
    } else if (auto insert = dyn_cast<tensor::InsertSliceOp>(op)) {
      placeInsert(insert);
    } else if (auto collapse = dyn_cast<tensor::CollapseShapeOp>(op)) {
      placeFlatten(collapse);
    } else if (auto product = dyn_cast<fp8::ScaledMatmulOp>(op)) {
      placePadded(product);
    } else if (auto attention = dyn_cast<fp8::AttentionOp>(op)) {
      placeAttention(attention);
    }
  }
  placeAmaxSlots();
}
