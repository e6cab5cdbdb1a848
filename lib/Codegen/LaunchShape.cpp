//===- LaunchShape.cpp - How a kernel runs on a GPU -----------------------===//
//
// Part of fp8c, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "fp8c/Codegen/LaunchShape.h"

#include "fp8c/Dialect/FP8/FP8.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
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
/// Threads of a block of flat elementwise work, and their vectors.
static constexpr unsigned kFlatThreads = 64, kFlatVectors = 4;
/// Vectors of a thread that fit in its registers.
static constexpr unsigned kMaxVectors = 10;
/// Rows in shared memory at a time, their bytes at most, the elements of a row
/// that is worth it, and of the rows of one task.
static constexpr int64_t kStages = 2, kMaxStaged = 64 << 10, kStagedRow = 2048,
                         kRowsElements = 16384;
/// Elements of a row that is short.
static constexpr int64_t kShortRow = 2048;
/// Elements of a row that has so many threads that few blocks fit, and how many
/// tasks are few then.
static constexpr int64_t kLongRow = 8192, kFewLongTasks = 256;
/// Threads of a multiprocessor for which registers are to suffice where a block
/// does several rows.
static constexpr unsigned kRowsThreads = 640;
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

RowReads RowReads::find(const RowProgram &program) {
  RowReads reads;
  if (program.getTaskDims().empty())
    return reads;
  int64_t vector = program.getVectorDim();
  int64_t row = program.getTaskDims().back().dim;
  llvm::DenseSet<std::pair<Value, AffineMap>> seen;
  for (auto op : program.getBody()->getOps<linalg::GenericOp>())
    for (OpOperand &read : op->getOpOperands()) {
      if (!isa<BlockArgument>(read.get()) ||
          !op.payloadUsesValueFromOperand(&read))
        continue;
      AffineMap map = program.getReadMap(op, read);
      if (!map.isFunctionOfDim(vector) ||
          !seen.insert({read.get(), map}).second)
        continue;
      (map.isFunctionOfDim(row) ? reads.own : reads.shared).push_back(&read);
    }
  return reads;
}

/// Group, width and vectors that cover a row of `size` elements exactly, or no
/// change where there are none. `reads` are those of a row, if it is a task.
static void fitRow(LaunchShape &shape, int64_t size, unsigned widest,
                   const RowReads &reads) {
  // An element in 32 of the row for each thread: fewer threads in long rows,
  // more where rows of two tensors and vectors would fill their registers.
  double share = size < kLongRow ? 32.0 : 56.0;
  if (size < kLongRow && reads.own.size() > 1 && !reads.shared.empty())
    share = 16.0;
  double wanted = std::max(size / share, 4.0);
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
  shape.group = kFlatThreads;
  shape.vectors = kFlatVectors;
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

/// Whether every operand of an elementwise program is read and written at the
/// same index, or is a scalar, and nothing depends on the index itself.
static bool canFlatten(const RowProgram &program) {
  unsigned numDims = program.getDims().size();
  // The indices of an operand are the dims in order, but for dims of extent 1.
  auto isIdentity = [&](const Operand &operand, ArrayRef<int64_t> loops) {
    unsigned next = 0;
    int64_t last = -1;
    for (auto [i, loop] : llvm::enumerate(loops)) {
      if (loop < 0)
        continue;
      if (loop != int64_t(next++))
        return false;
      last = i;
    }
    return next == numDims && operand.unitDim == last;
  };
  if (numDims < 2)
    return false;
  for (Operation &op : *program.getBody()) {
    if (isa<fp8::AmaxOp>(op)) {
      for (auto [i, loop] : llvm::enumerate(program.getLoops(&op)))
        if (loop >= 0 && loop != int64_t(i))
          return false;
      continue;
    }
    auto generic = dyn_cast<linalg::GenericOp>(op);
    if (!generic)
      continue;
    for (Operation &inner : *generic.getBody())
      if (isa<linalg::IndexOp, tensor::ExtractOp>(inner))
        return false;
    for (OpOperand &read : op.getOpOperands()) {
      if (!generic.payloadUsesValueFromOperand(&read) ||
          read.get().getDefiningOp<tensor::EmptyOp>())
        continue;
      AffineMap map = program.getReadMap(generic, read);
      bool hasOneElement =
          llvm::all_of(cast<RankedTensorType>(read.get().getType()).getShape(),
                       [](int64_t extent) { return extent == 1; });
      if (hasOneElement)
        continue;
      SmallVector<int64_t> loops;
      for (AffineExpr expr : map.getResults()) {
        auto dim = dyn_cast<AffineDimExpr>(expr);
        if (!dim && !isa<AffineConstantExpr>(expr))
          return false;
        loops.push_back(dim ? int64_t(dim.getPosition()) : -1);
      }
      auto argument = dyn_cast<BlockArgument>(read.get());
      Operand inside{{}, int64_t(loops.size()) - 1, {}, 0};
      if (!isIdentity(argument ? program.getOperand(argument) : inside, loops))
        return false;
    }
  }
  for (auto [i, operand] : llvm::enumerate(
           program.getOperands().drop_front(program.getNumInputs()))) {
    if (llvm::is_contained(program.getAtomicResults(), i))
      continue;
    ArrayRef<int64_t> loops = program.getResultLoops(i);
    auto copied = dyn_cast<BlockArgument>(program.getResult(i));
    if (!isIdentity(operand, loops) ||
        (copied && !isIdentity(program.getOperand(copied), loops)))
      return false;
  }
  return true;
}

/// Several rows a block, for a block that has one row in registers: where
/// vectors that rows share would be read again for each.
static void fitRows(LaunchShape &shape, const RowProgram &program,
                    const Target &target, const RowReads &reads) {
  if (shape.vectors == 0 || program.getTaskDims().empty() ||
      program.getNumOuter() + 1 != program.getDims().size())
    return;
  int64_t vector = program.getVectorDim();
  int64_t size = program.getDims()[vector].size;
  // A launch on short rows is over before registers count.
  shape.readsAhead = size <= kShortRow;
  if (!target.hasBulkCopies || shape.group <= 32 || size < kStagedRow ||
      reads.shared.size() < 2 || reads.own.empty() ||
      (reads.own.size() > 1 && shape.readsAhead))
    return;
  int64_t bytes = 0;
  for (OpOperand *read : reads.own) {
    const Operand &operand =
        program.getOperand(cast<BlockArgument>(read->get()));
    AffineMap map =
        program.getReadMap(cast<linalg::GenericOp>(read->getOwner()), *read);
    // Whole rows, which lie together.
    if (operand.unitDim < 0 ||
        map.getResult(operand.unitDim) !=
            getAffineDimExpr(vector, map.getContext()) ||
        operand.type.getElementTypeBitWidth() % 8)
      return;
    for (auto [i, result] : llvm::enumerate(map.getResults()))
      if (int64_t(i) != operand.unitDim && result.isFunctionOfDim(vector))
        return;
    int64_t row = size * operand.type.getElementTypeBitWidth() / 8;
    if (row % kVectorBytes || row / size * shape.width < kVectorBytes)
      return;
    bytes += row;
  }
  if (kStages * bytes > kMaxStaged)
    return;
  shape.readsAhead = false;
  shape.stages = kStages;
  shape.sharedBytes = kStages * bytes;
  shape.rows = kRowsElements / size;
  if (size >= kLongRow) {
    // About as many tasks as there is room for.
    shape.rows = 8;
    shape.fewTasks = kFewLongTasks;
  }
  if (reads.own.size() > 1)
    shape.rows = 2;
  shape.sideBySide = reads.own.size() == 1;
  shape.minBlocks = size < kLongRow
                        ? llvm::divideCeil(kRowsThreads, shape.group)
                        : kRowsThreads / shape.group;
}

LaunchShape LaunchShape::choose(const RowProgram &program,
                                const Target &target) {
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
    shape.flat = isElementwise && canFlatten(program);
    while (!shape.flat && !ShapedType::isDynamic(size) && size % shape.width)
      shape.width /= 2;
    RowReads reads = RowReads::find(program);
    if (isElementwise) {
      fitChunk(shape, shape.flat ? ShapedType::kDynamic : size);
    } else {
      shape.group = ShapedType::isDynamic(size)
                        ? 256
                        : std::clamp<int64_t>(size / 256 * 32, 32, 512);
      if (!ShapedType::isDynamic(size))
        fitRow(shape, size, widest, reads);
    }
    shape.groups = shape.group > 32 ? 1 : kBlock / shape.group;
    if (!isElementwise)
      fitRows(shape, program, target, reads);
  }
  // A few atomic operations for each multiprocessor.
  if (!program.getAtomicResults().empty() && isElementwise)
    shape.resident = kResidentThreads / shape.getThreads();
  return shape;
}

Value LaunchShape::buildBlocks(OpBuilder &builder, Location loc,
                               const RowProgram &program,
                               ValueRange extents) const {
  auto constant = [&](int64_t value) {
    return arith::ConstantIndexOp::create(builder, loc, value);
  };
  Value tasks, all = constant(1);
  for (TaskDim task : program.getTaskDims())
    all = arith::MulIOp::create(builder, loc, all, extents[task.dim]);
  if (flat)
    return arith::CeilDivSIOp::create(builder, loc, all,
                                      constant(chunk * groups));
  for (TaskDim task : program.getTaskDims()) {
    Value count = extents[task.dim];
    if (task.chunk != 1) {
      count = arith::CeilDivSIOp::create(builder, loc, count, constant(chunk));
    } else if (rows > 1 && task.dim == program.getTaskDims().back().dim) {
      Value each =
          arith::DivUIOp::create(builder, loc, all, constant(fewTasks));
      each = arith::MinSIOp::create(builder, loc, each, constant(rows));
      each = arith::MaxSIOp::create(builder, loc, each, constant(1));
      count = arith::CeilDivSIOp::create(builder, loc, count, each);
    }
    tasks = tasks ? arith::MulIOp::create(builder, loc, tasks, count) : count;
  }
  if (!tasks)
    return constant(1);
  if (groups == 1)
    return tasks;
  return arith::CeilDivSIOp::create(builder, loc, tasks, constant(groups));
}
