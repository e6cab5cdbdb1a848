//===- SmallValues.cpp - One kernel for a GPU: what no amax needs ---------===//
//
// Part of fp8c, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The amax of GELU takes longer to compute than to read. Its values are no
// larger than its elements: a vector whose elements are no larger than the
// largest value that the warp has seen is not computed. The bits of the amax
// are those of all values.
//
//===----------------------------------------------------------------------===//

#include "GpuKernel.h"

#include "../Magnitudes.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"

using namespace mlir;
using namespace fp8c;
using namespace fp8c::codegen;

/// Largest values so far, as f32 bits; each block begins with what the blocks
/// before it have found.
void GpuKernel::initFloors() {
  // All threads of a warp come to the end of each task together.
  if (!shape.flat || shape.groups > 1 || shape.group % 32 != 0)
    return;
  for (unsigned result : program.getAtomicResults()) {
    auto amax = program.getResult(result).getDefiningOp<fp8::AmaxOp>();
    OpOperand *read = findLargerRead(program, amax.getInput());
    if (!read || !atomics[result].narrow)
      continue;
    Type word = builder.getI32Type();
    Value floor = makeSlot(word);
    Value slot = pointers[program.getNumInputs() + result];
    Value largest = LLVM::LoadOp::create(builder, loc, word, slot,
                                         /*alignment=*/4, /*isVolatile=*/true);
    LLVM::StoreOp::create(builder, loc, limitFloor(largest), floor);
    floors[result] = {read, floor};
  }
}

Value GpuKernel::limitFloor(Value bits) {
  return arith::MinUIOp::create(
      builder, loc, bits,
      i32(llvm::bit_cast<uint32_t>(static_cast<float>(kLargestElement))));
}

void GpuKernel::atomicAmax(unsigned result) {
  auto found = floors.find(result);
  if (found == floors.end() || !isFlat || !isUnrolled || width == 1)
    return KernelBuilder::atomicAmax(result);
  auto [read, floor] = found->second;
  Value x =
      spread(readOperand(cast<linalg::GenericOp>(read->getOwner()), *read));
  auto type = cast<VectorType>(x.getType());
  Value magnitudes = math::AbsFOp::create(
      builder, loc, bitcast(type.clone(builder.getBF16Type()), x));
  Value largest = bitcast(builder.getI32Type(),
                          largestMagnitude(bitcast(type, magnitudes)));
  Value before =
      LLVM::LoadOp::create(builder, loc, builder.getI32Type(), floor);
  // NaN is on top.
  emitIf(arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::ugt, largest,
                               before),
         [&] { KernelBuilder::atomicAmax(result); });
}

/// At the end of a task: what the warp has found in it.
void GpuKernel::raiseFloors() {
  Type word = builder.getI32Type();
  for (auto &[result, entry] : floors) {
    Accumulator &atomic = atomics[result];
    Value lanes = loadMemory(atomic.vector, atomic.narrow, atomic.width);
    Value largest = bitcast(word, largestMagnitude(lanes));
    largest = NVVM::ReduxOp::create(builder, loc, word, largest,
                                    NVVM::ReduxKind::UMAX, i32(-1));
    Value before = LLVM::LoadOp::create(builder, loc, word, entry.second);
    largest = arith::MaxUIOp::create(builder, loc, before, largest);
    LLVM::StoreOp::create(builder, loc, limitFloor(largest), entry.second);
  }
}
