//===- Reductions.cpp - One kernel as a function: reductions --------------===//
//
// Part of fp8c, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "KernelBuilder.h"

#include "fp8c/Dialect/FP8/FP8.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;
using namespace fp8c;
using namespace fp8c::codegen;

/// The element type of a tensor.
static Type getElement(Value tensor) {
  return cast<RankedTensorType>(tensor.getType()).getElementType();
}

bool codegen::isMagnitude(Operation *combiner) {
  if (!isa_and_nonnull<arith::MaximumFOp>(combiner) ||
      !combiner->getResult(0).getType().isF32())
    return false;
  return llvm::any_of(combiner->getOperands(), [](Value operand) {
    return operand.getDefiningOp<math::AbsFOp>();
  });
}

/// The operand whose largest magnitude a reduction is, if that is of a narrow
/// type, or null.
static OpOperand *getMagnitudes(linalg::GenericOp op) {
  Operation *combiner =
      op.getBody()->getTerminator()->getOperand(0).getDefiningOp();
  if (op.getNumResults() != 1 || !isMagnitude(combiner))
    return nullptr;
  for (Value value : combiner->getOperands())
    if (auto abs = value.getDefiningOp<math::AbsFOp>())
      if (auto wide = abs.getOperand().getDefiningOp<arith::ExtFOp>())
        if (auto argument = dyn_cast<BlockArgument>(wide.getIn()))
          return op.getMatchingOpOperand(argument);
  return nullptr;
}

void KernelBuilder::begin(unsigned index) {
  const Reduction &reduction = program.getReductions()[index];
  linalg::GenericOp op = reduction.op;
  SmallVector<Accumulator> &list = accumulators[index];
  list.clear();
  int64_t dim = program.getVectorDim();
  // Lanes are combined at the end, or each is a row of its own.
  bool isShared = dim >= 0 && (mainWidth > 1 || hasThreads) &&
                  (reduction.reduced >> dim & 1);
  for (auto [i, init] : llvm::enumerate(op.getDpsInits())) {
    Accumulator &accumulator = list.emplace_back();
    Type element = lower(getElement(init));
    Lanes start = evaluate(init);
    if (isShared) {
      Operation *combiner =
          op.getBody()->getTerminator()->getOperand(i).getDefiningOp();
      Lanes neutral = getNeutral(combiner);
      llvm::SaveAndRestore restore(width, mainWidth);
      OpOperand *narrow = getMagnitudes(op);
      if (width > 1 && narrow && comparesNarrow(getElement(narrow->get()))) {
        accumulator.narrow = lower(getElement(narrow->get()));
        accumulator.width = mainWidth;
        Type lanes = vectorOf(accumulator.narrow);
        accumulator.vector = makeSlot(lanes);
        storeMemory(
            accumulator.vector, accumulator.narrow,
            constantOf(lanes, builder.getIntegerAttr(accumulator.narrow, 0)));
      } else if (width > 1) {
        accumulator.width = mainWidth;
        accumulator.vector = makeSlot(vectorOf(element));
        storeMemory(accumulator.vector, element, spread(neutral));
      }
      // Of several threads each begins with nothing.
      if (hasThreads) {
        accumulator.start = start.value;
        start = neutral;
      }
    }
    if (isShared || width == 1) {
      accumulator.scalar = makeSlot(element);
      storeMemory(accumulator.scalar, element, start.value);
    } else {
      accumulator.width = width;
      accumulator.vector = makeSlot(vectorOf(element));
      storeMemory(accumulator.vector, element, spread(start));
    }
  }
}

void KernelBuilder::accumulate(unsigned index) {
  linalg::GenericOp op = program.getReductions()[index].op;
  SmallVector<Accumulator> &list = accumulators[index];
  if (Type narrow = list[0].narrow; narrow && width > 1) {
    Value values = spread(readOperand(op, *getMagnitudes(op)));
    Value lanes = loadMemory(list[0].vector, narrow, width);
    storeMemory(list[0].vector, narrow, combineMagnitudes(lanes, values));
    return;
  }
  SmallVector<Lanes> before;
  for (auto [accumulator, init] : llvm::zip(list, op.getDpsInits())) {
    Value slot = width == 1 ? accumulator.scalar : accumulator.vector;
    before.push_back({loadMemory(slot, lower(getElement(init)), width),
                      width == 1 ? Lanes::Uniform : Lanes::Varying});
  }
  SmallVector<Lanes> after = evaluateRegion(op, before);
  for (auto [accumulator, init, value] :
       llvm::zip(list, op.getDpsInits(), after)) {
    Value slot = width == 1 ? accumulator.scalar : accumulator.vector;
    storeMemory(slot, lower(getElement(init)), spread(value));
  }
}

/// All lanes of `vector` by `combiner`: halves onto each other.
Value KernelBuilder::combineLanes(Operation *combiner, Value vector) {
  llvm::SaveAndRestore restore(width, width);
  auto combine = [&](Value left, Value right, unsigned lanes) {
    width = lanes;
    Lanes::Kind kind = lanes == 1 ? Lanes::Uniform : Lanes::Varying;
    Value first = combiner->getOperand(0);
    return evaluateOp(combiner, {},
                      [&](Value operand) {
                        return Lanes{operand == first ? left : right, kind};
                      })
        .value;
  };
  unsigned lanes = cast<VectorType>(vector.getType()).getNumElements();
  for (lanes /= 2; lanes > 1; lanes /= 2) {
    SmallVector<int64_t> low, high;
    for (unsigned i = 0; i < lanes; ++i) {
      low.push_back(i);
      high.push_back(i + lanes);
    }
    Value left = vector::ShuffleOp::create(builder, loc, vector, vector, low);
    Value right = vector::ShuffleOp::create(builder, loc, vector, vector, high);
    vector = combine(left, right, lanes);
  }
  return combine(vector::ExtractOp::create(builder, loc, vector, 0),
                 vector::ExtractOp::create(builder, loc, vector, 1), 1);
}

/// What one thread has come to: its lanes, and what it did one at a time.
Value KernelBuilder::combineOwn(Operation *combiner,
                                const Accumulator &accumulator, Type element) {
  Value scalar = loadMemory(accumulator.scalar, element, 1);
  if (!accumulator.vector)
    return scalar;
  Type stored = accumulator.narrow ? accumulator.narrow : element;
  Value lanes = loadMemory(accumulator.vector, stored, accumulator.width);
  lanes = accumulator.narrow ? largestMagnitude(lanes)
                             : combineLanes(combiner, lanes);
  return combine(combiner, scalar, lanes);
}

/// A value that changes none by `combiner`. Nothing is less than a magnitude of
/// 0, and -0 is what a sum begins with at no cost.
Lanes KernelBuilder::getNeutral(Operation *combiner) {
  if (isa<arith::AddFOp>(combiner))
    return constant(
        builder.getFloatAttr(combiner->getResult(0).getType(), -0.0));
  if (isMagnitude(combiner))
    return constant(builder.getF32FloatAttr(0.0f));
  return constant(*arith::getNeutralElement(combiner));
}

void KernelBuilder::end(ArrayRef<unsigned> reductions) {
  struct Ended {
    Value tensor;
    Operation *combiner;
    Accumulator *accumulator;
  };
  SmallVector<Ended> ended;
  for (unsigned index : reductions) {
    linalg::GenericOp op = program.getReductions()[index].op;
    for (auto [i, accumulator] : llvm::enumerate(accumulators[index])) {
      Value yielded = op.getBody()->getTerminator()->getOperand(i);
      ended.push_back(
          {op->getResult(i), yielded.getDefiningOp(), &accumulator});
    }
  }
  // What the lanes, and then the threads, have come to.
  SmallVector<Value> shared;
  SmallVector<Operation *> combiners;
  for (auto [tensor, combiner, accumulator] : ended) {
    Type element = lower(getElement(tensor));
    if (!accumulator->scalar) {
      setMemo(key(tensor),
              {loadMemory(accumulator->vector, element, accumulator->width),
               Lanes::Varying});
      continue;
    }
    Value scalar = combineOwn(combiner, *accumulator, element);
    if (accumulator->start) {
      shared.push_back(scalar);
      combiners.push_back(combiner);
    } else {
      setMemo(key(tensor), {scalar, Lanes::Uniform});
    }
  }
  if (shared.empty())
    return;
  combineThreads(combiners, shared);
  ArrayRef<Value> next(shared);
  for (auto [tensor, combiner, accumulator] : ended) {
    if (!accumulator->start)
      continue;
    setMemo(key(tensor), {combine(combiner, accumulator->start, next.front()),
                          Lanes::Uniform});
    next = next.drop_front();
  }
}

/// Two scalars by the operation of a reduction.
Value KernelBuilder::combine(Operation *combiner, Value left, Value right) {
  llvm::SaveAndRestore restore(width, 1u);
  Value first = combiner->getOperand(0);
  return evaluateOp(combiner, {},
                    [&](Value operand) {
                      return Lanes{operand == first ? left : right,
                                   Lanes::Uniform};
                    })
      .value;
}

//===----------------------------------------------------------------------===//
// Tensor-wide amax
//===----------------------------------------------------------------------===//

void KernelBuilder::atomicAmax(unsigned result) {
  auto amax = program.getResult(result).getDefiningOp<fp8::AmaxOp>();
  Lanes input;
  if (auto argument = dyn_cast<BlockArgument>(amax.getInput())) {
    SmallVector<Lanes> at;
    for (int64_t dim : program.getLoops(amax))
      at.push_back(indexOf(dim));
    input = load(program.getOperandIndex(argument), at);
  } else {
    input = evaluate(amax.getInput());
  }
  Accumulator &atomic = atomics[result];
  if (atomic.narrow && width > 1) {
    Value lanes = loadMemory(atomic.vector, atomic.narrow, width);
    storeMemory(atomic.vector, atomic.narrow,
                combineMagnitudes(lanes, spread(input)));
    return;
  }
  Value value = toF32(spread(input), getElement(amax.getInput()));
  Type i32 = builder.getI32Type();
  Type type = width == 1 ? i32 : vectorOf(i32);
  Value bits = arith::BitcastOp::create(builder, loc, type, value);
  bits = arith::AndIOp::create(
      builder, loc, bits,
      constantOf(type, builder.getI32IntegerAttr(0x7fffffff)));
  Value slot = width > 1 ? atomic.vector : atomic.scalar;
  Value before = loadMemory(slot, i32, width);
  storeMemory(slot, i32, arith::MaxUIOp::create(builder, loc, before, bits));
}

/// Combines what this call has seen into the slots.
void KernelBuilder::flushAtomics() {
  Type i32 = builder.getI32Type();
  SmallVector<Value> seen;
  for (unsigned result : program.getAtomicResults()) {
    Accumulator &atomic = atomics[result];
    Value value = loadMemory(atomic.scalar, i32, 1);
    if (atomic.narrow) {
      Value lanes = loadMemory(atomic.vector, atomic.narrow, atomic.width);
      lanes =
          arith::BitcastOp::create(builder, loc, i32, largestMagnitude(lanes));
      value = arith::MaxUIOp::create(builder, loc, value, lanes);
    } else if (atomic.vector) {
      Value lanes = loadMemory(atomic.vector, i32, atomic.width);
      lanes = vector::ReductionOp::create(builder, loc,
                                          vector::CombiningKind::MAXUI, lanes);
      value = arith::MaxUIOp::create(builder, loc, value, lanes);
    }
    seen.push_back(value);
  }
  if (!seen.empty())
    atomicMax(seen);
}

void KernelBuilder::atomicMax(ArrayRef<Value> bits) {
  for (auto [result, value] : llvm::zip(program.getAtomicResults(), bits))
    LLVM::AtomicRMWOp::create(builder, loc, LLVM::AtomicBinOp::umax,
                              pointers[program.getNumInputs() + result], value,
                              LLVM::AtomicOrdering::monotonic);
}
