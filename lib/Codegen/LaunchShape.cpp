//===- LaunchShape.cpp - How a kernel runs on a GPU -----------------------===//
//
// Part of fp8c, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "fp8c/Codegen/LaunchShape.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "llvm/Support/MathExtras.h"

#include <cmath>

using namespace mlir;
using namespace fp8c;
using namespace fp8c::codegen;

/// The bytes of one memory access of a thread.
static constexpr unsigned kVectorBytes = 16;
/// Threads of a block of several groups, and of one whose work has no size of
/// its own.
static constexpr unsigned kBlock = 128;
/// Vectors of a thread that fit in its registers.
static constexpr unsigned kMaxVectors = 10;
/// Threads of a multiprocessor.
static constexpr unsigned kResidentThreads = 2048;

/// The elements of a vector: as many of the widest operand that lies along the
/// vector dim as one access has.
static unsigned getWidth(const RowProgram &program) {
  int64_t vector = program.getVectorDim();
  unsigned widest = 2;
  auto add = [&](const Operand &operand) {
    unsigned bits = operand.type.getElementTypeBitWidth();
    widest = std::max<unsigned>(widest, llvm::divideCeil(bits, 8));
  };
  for (auto op : program.getBody()->getOps<linalg::GenericOp>())
    for (OpOperand &read : op->getOpOperands()) {
      auto argument = dyn_cast<BlockArgument>(read.get());
      if (!argument || !op.payloadUsesValueFromOperand(&read))
        continue;
      const Operand &operand = program.getOperand(argument);
      if (operand.unitDim < 0)
        continue;
      AffineExpr along =
          op.getMatchingIndexingMap(&read).getResult(operand.unitDim);
      for (auto [i, loop] : llvm::enumerate(program.getLoops(op)))
        if (loop == vector && along.isFunctionOfDim(i))
          add(operand);
    }
  unsigned numInputs = program.getNumInputs();
  for (auto [i, operand] :
       llvm::enumerate(program.getOperands().drop_front(numInputs))) {
    bool isAtomic = llvm::is_contained(program.getAtomicResults(), i);
    if (!isAtomic && operand.unitDim >= 0 &&
        program.getResultLoops(i)[operand.unitDim] == vector)
      add(operand);
  }
  return std::max(kVectorBytes / widest, 2u);
}

/// Whether `threads` can be a group.
static bool isGroup(int64_t threads) {
  return threads > 0 && threads <= 512 &&
         (threads < 32 ? llvm::isPowerOf2_64(threads) : threads % 32 == 0);
}

/// Group, width and vectors that cover a row of `size` elements exactly, or no
/// change where there are none.
static void fitRow(LaunchShape &shape, int64_t size, unsigned widest) {
  // An element in 32 of the row for each thread, fewer in long rows.
  double wanted = size < 8192 ? size / 32.0 : size / 56.0;
  wanted = std::max(wanted, 4.0);
  double best = 1e9;
  for (unsigned width = widest; width >= 2; width /= 2) {
    for (unsigned vectors = 1; vectors <= kMaxVectors; ++vectors) {
      int64_t elements = int64_t(width) * vectors;
      if (size % elements || !isGroup(size / elements))
        continue;
      double cost = std::abs(std::log2(size / elements / wanted)) +
                    std::log2(double(widest) / width) / 2;
      if (cost >= best)
        continue;
      best = cost;
      shape.group = size / elements;
      shape.width = width;
      shape.vectors = vectors;
    }
  }
}

/// Group, vectors and chunk for elementwise work on `size` elements (or
/// ShapedType::kDynamic) in vectors of `shape.width`.
static void fitChunk(LaunchShape &shape, int64_t size) {
  shape.group = kBlock;
  shape.vectors = 2;
  if (!ShapedType::isDynamic(size)) {
    int64_t vectors = llvm::divideCeil(size, shape.width);
    double best = 1e9;
    for (unsigned group : {1, 2, 4, 8, 16, 32, 64, 96, 128, 160, 192, 256})
      for (unsigned each = 1; each <= 4; ++each) {
        int64_t covered = llvm::alignTo(vectors, int64_t(group) * each);
        double cost = 4.0 * (covered - vectors) / covered +
                      std::abs(std::log2(group * each / 256.0)) / 4 +
                      std::abs(std::log2(each / 2.0)) / 8;
        if (cost >= best)
          continue;
        best = cost;
        shape.group = group;
        shape.vectors = each;
      }
  }
  shape.chunk = int64_t(shape.group) * shape.vectors * shape.width;
}

LaunchShape LaunchShape::choose(const RowProgram &program) {
  LaunchShape shape;
  int64_t vector = program.getVectorDim();
  if (vector < 0)
    return shape;
  int64_t size = program.getDims()[vector].size;
  bool isOuter = vector < program.getNumOuter();
  bool isElementwise = program.getNumOuter() == program.getDims().size();
  bool shares =
      llvm::all_of(program.getReductions(), [&](const Reduction &reduction) {
        return !(reduction.reduced >> vector & 1) || reduction.associative;
      });
  if (!shares) {
    // In order: each thread does tasks of its own.
    shape.groups = kBlock;
    return shape;
  }
  if (isOuter && !isElementwise) {
    // Each thread has elements of its own, and loops over the other dims.
    shape.group = 32;
    shape.chunk = 32;
    shape.groups = kBlock / 32;
  } else {
    unsigned widest = getWidth(program);
    shape.width = widest;
    while (!ShapedType::isDynamic(size) && size % shape.width)
      shape.width /= 2;
    if (isElementwise) {
      fitChunk(shape, size);
    } else {
      shape.group = ShapedType::isDynamic(size)
                        ? 256
                        : std::clamp<int64_t>(size / 256 * 32, 32, 512);
      if (!ShapedType::isDynamic(size))
        fitRow(shape, size, widest);
    }
    shape.groups = shape.group > 32 ? 1 : kBlock / shape.group;
  }
  // A few atomic operations for each multiprocessor.
  if (!program.getAtomicResults().empty())
    shape.resident = kResidentThreads / shape.getThreads();
  return shape;
}

Value LaunchShape::buildBlocks(OpBuilder &builder, Location loc,
                               const RowProgram &program,
                               ValueRange extents) const {
  auto constant = [&](int64_t value) {
    return arith::ConstantIndexOp::create(builder, loc, value);
  };
  Value tasks;
  for (TaskDim task : program.getTaskDims()) {
    Value count = extents[task.dim];
    if (task.chunk != 1)
      count = arith::CeilDivSIOp::create(builder, loc, count, constant(chunk));
    tasks = tasks ? arith::MulIOp::create(builder, loc, tasks, count) : count;
  }
  if (!tasks)
    return constant(1);
  if (groups == 1)
    return tasks;
  return arith::CeilDivSIOp::create(builder, loc, tasks, constant(groups));
}
