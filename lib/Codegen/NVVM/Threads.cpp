//===- Threads.cpp - One kernel for a GPU: threads together ---------------===//
//
// Part of fp8c, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "GpuKernel.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;
using namespace fp8c;
using namespace fp8c::codegen;

/// Warps whose results each thread adds up by itself.
static constexpr unsigned kFewWarps = 8;

Value GpuKernel::i32(int64_t value) {
  return arith::ConstantOp::create(builder, loc,
                                   builder.getI32IntegerAttr(value));
}

void GpuKernel::emitIf(Value condition, function_ref<void()> body) {
  auto choice = scf::IfOp::create(builder, loc, condition, false);
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPoint(choice.thenYield());
  frames.emplace_back();
  body();
  frames.pop_back();
}

/// All threads of the group.
void GpuKernel::synchronise() {
  if (isShared) {
    meet();
    NVVM::ClusterArriveOp::create(builder, loc, builder.getUnitAttr());
    NVVM::ClusterWaitOp::create(builder, loc, builder.getUnitAttr());
    return;
  }
  if (shape.group > 32) {
    NVVM::Barrier0Op::create(builder, loc);
    return;
  }
  NVVM::SyncWarpOp::create(builder, loc, memberMask());
}

/// The lanes of this thread's group, which is a warp or a part of one.
Value GpuKernel::memberMask() {
  if (shape.group >= 32)
    return i32(-1);
  Value first =
      arith::AndIOp::create(builder, loc, lane, i32(-int64_t(shape.group)));
  return arith::ShLIOp::create(builder, loc,
                               i32((int64_t(1) << shape.group) - 1), first);
}

/// Writes each warp's values to addresses in a place in shared memory, and
/// waits for those of all threads of a group of one block or more, after which
/// a block's place of a row may be given to another.
void GpuKernel::exchange(Stores stores, Value place) {
  if (isShared)
    return exchangeInCluster(stores, place);
  emitIf(isFirstLane(), [&] {
    for (auto [value, address] : stores)
      LLVM::StoreOp::create(builder, loc, value, address);
  });
  NVVM::Barrier0Op::create(builder, loc);
  issueNext();
}

/// Which of two places in shared memory the next exchange uses. They take
/// turns, so that one barrier is enough: who writes to a place has passed the
/// barrier of the other one.
Value GpuKernel::turn() {
  Value place =
      LLVM::LoadOp::create(builder, loc, builder.getI32Type(), parity);
  Value other = arith::XOrIOp::create(builder, loc, place, i32(1));
  LLVM::StoreOp::create(builder, loc, other, parity);
  return place;
}

Value GpuKernel::isFirstLane() {
  return arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::eq, lane,
                               i32(0));
}

Value GpuKernel::toBits(Value value) {
  Type type = value.getType();
  unsigned bits = type.getIntOrFloatBitWidth();
  if (isa<FloatType>(type))
    value = bitcast(builder.getIntegerType(bits), value);
  if (bits < 32)
    value = arith::ExtUIOp::create(builder, loc, builder.getI32Type(), value);
  return value;
}

Value GpuKernel::fromBits(Value bits, Type type) {
  unsigned width = type.getIntOrFloatBitWidth();
  Type integer = builder.getIntegerType(width);
  if (width < bits.getType().getIntOrFloatBitWidth())
    bits = arith::TruncIOp::create(builder, loc, integer, bits);
  return isa<FloatType>(type) ? bitcast(type, bits) : bits;
}

/// The value of the thread `offset` lanes away.
Value GpuKernel::shuffle(Value value, unsigned offset, Value mask) {
  Value bits = toBits(value);
  auto exchange = [&](Value word) -> Value {
    return NVVM::ShflOp::create(builder, loc, word.getType(), mask, word,
                                i32(offset), i32(31), NVVM::ShflKind::bfly,
                                UnitAttr());
  };
  if (bits.getType().isInteger(32))
    return fromBits(exchange(bits), value.getType());
  Type word = builder.getI32Type(), wide = bits.getType();
  Value low = arith::TruncIOp::create(builder, loc, word, bits);
  Value high = arith::ShRUIOp::create(builder, loc, bits, integer(32));
  high = arith::TruncIOp::create(builder, loc, word, high);
  low = arith::ExtUIOp::create(builder, loc, wide, exchange(low));
  high = arith::ExtUIOp::create(builder, loc, wide, exchange(high));
  high = arith::ShLIOp::create(builder, loc, high, integer(32));
  return fromBits(arith::OrIOp::create(builder, loc, low, high),
                  value.getType());
}

/// The same value in all of `threads` neighbouring lanes.
Value GpuKernel::combineWarp(Operation *combiner, Value value, unsigned threads,
                             Value mask) {
  if (isMagnitude(combiner) && threads == 32)
    return fromBits(NVVM::ReduxOp::create(builder, loc, builder.getI32Type(),
                                          toBits(value), NVVM::ReduxKind::UMAX,
                                          mask),
                    value.getType());
  for (unsigned offset = threads / 2; offset > 0; offset /= 2)
    value = combine(combiner, value, shuffle(value, offset, mask));
  return value;
}

void GpuKernel::combineThreads(ArrayRef<Operation *> combiners,
                               MutableArrayRef<Value> scalars) {
  Value mask = memberMask();
  for (auto [combiner, scalar] : llvm::zip(combiners, scalars))
    scalar = combineWarp(combiner, scalar, std::min(shape.group, 32u), mask);
  if (shape.group > 32)
    combineWarps(combiners, scalars);
}

/// Where `index`, an i32, is in one of the places in shared memory, in units of
/// 8 bytes. The places' size is not known yet: they lie in turns.
Value GpuKernel::sharedAddress(Value index, Value place) {
  index = arith::ShLIOp::create(builder, loc, index, i32(1));
  index = arith::AddIOp::create(builder, loc, index, place);
  auto shared = LLVM::LLVMPointerType::get(builder.getContext(), 3);
  Value base = LLVM::AddressOfOp::create(builder, loc, shared, sharedName);
  return LLVM::GEPOp::create(builder, loc, shared, builder.getI64Type(), base,
                             ArrayRef<LLVM::GEPArg>{index});
}

/// Through shared memory.
void GpuKernel::combineWarps(ArrayRef<Operation *> combiners,
                             MutableArrayRef<Value> scalars) {
  unsigned warps = shape.group / 32;
  sharedScalars = std::max<unsigned>(sharedScalars, warps * scalars.size());
  Value place = turn();
  auto address = [&](unsigned scalar, Value warp) {
    return sharedAddress(
        arith::AddIOp::create(builder, loc, warp, i32(scalar * warps)), place);
  };
  Value warp = arith::ShRUIOp::create(builder, loc, thread, i32(5));
  SmallVector<std::pair<Value, Value>> stores;
  for (auto [i, scalar] : llvm::enumerate(scalars))
    stores.push_back({toBits(scalar), address(i, warp)});
  exchange(stores, place);
  for (unsigned i = 0; i < scalars.size(); ++i) {
    Value &scalar = scalars[i];
    Type type = scalar.getType();
    Type stored =
        builder.getIntegerType(std::max(type.getIntOrFloatBitWidth(), 32u));
    auto read = [&](Value from) {
      return fromBits(
          LLVM::LoadOp::create(builder, loc, stored, address(i, from)), type);
    };
    if (warps <= kFewWarps) {
      Value sum = read(i32(0));
      for (unsigned from = 1; from < warps; ++from)
        sum = combine(combiners[i], sum, read(i32(from)));
      scalar = sum;
      continue;
    }
    Value part = combineInLanes(warps, getNeutral(combiners[i]).value, read,
                                [&](Value left, Value right) {
                                  return combine(combiners[i], left, right);
                                });
    scalar = combineWarp(combiners[i], part, 32, i32(-1));
  }
}

/// The values 0 to `count` - 1 in the lanes of a warp, every 32nd combined in
/// one.
Value GpuKernel::combineInLanes(unsigned count, Value neutral, Read read,
                                Combine combine) {
  Value all;
  for (unsigned first = 0; first < count; first += 32) {
    Value from = arith::AddIOp::create(builder, loc, lane, i32(first));
    Value part;
    if (count - first >= 32) {
      part = read(from);
    } else {
      Value isOne = arith::CmpIOp::create(
          builder, loc, arith::CmpIPredicate::ult, from, i32(count));
      from = arith::SelectOp::create(builder, loc, isOne, from, i32(0));
      part = arith::SelectOp::create(builder, loc, isOne, read(from), neutral);
    }
    all = all ? combine(all, part) : part;
  }
  return all;
}

//===----------------------------------------------------------------------===//
// Tensor-wide amax
//===----------------------------------------------------------------------===//

/// One atomic operation a block.
void GpuKernel::atomicMax(ArrayRef<Value> bits) {
  Type word = builder.getI32Type();
  unsigned warps = llvm::divideCeil(shape.getThreads(), 32u);
  auto reduce = [&](Value value) -> Value {
    return NVVM::ReduxOp::create(builder, loc, word, value,
                                 NVVM::ReduxKind::UMAX, i32(-1));
  };
  Value warp = arith::ShRUIOp::create(builder, loc, threadInBlock, i32(5));
  for (auto [result, value] : llvm::zip(program.getAtomicResults(), bits)) {
    Value slot = pointers[program.getNumInputs() + result];
    auto combine = [&](Value largest) {
      emitIf(isFirstLane(), [&] {
        LLVM::AtomicRMWOp::create(builder, loc, LLVM::AtomicBinOp::umax, slot,
                                  largest, LLVM::AtomicOrdering::monotonic);
      });
    };
    Value largest = reduce(value);
    if (warps == 1) {
      combine(largest);
      continue;
    }
    sharedScalars = std::max(sharedScalars, warps);
    Value place = turn();
    emitIf(isFirstLane(), [&] {
      LLVM::StoreOp::create(builder, loc, largest, sharedAddress(warp, place));
    });
    NVVM::Barrier0Op::create(builder, loc);
    Value isFirstWarp = arith::CmpIOp::create(
        builder, loc, arith::CmpIPredicate::eq, warp, i32(0));
    emitIf(isFirstWarp, [&] {
      Value isWarp = arith::CmpIOp::create(
          builder, loc, arith::CmpIPredicate::ult, lane, i32(warps));
      Value from = arith::SelectOp::create(builder, loc, isWarp, lane, i32(0));
      combine(reduce(LLVM::LoadOp::create(builder, loc, word,
                                          sharedAddress(from, place))));
    });
  }
}
