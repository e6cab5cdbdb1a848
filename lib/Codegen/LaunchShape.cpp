//===- LaunchShape.cpp - How a kernel runs on a GPU -----------------------===//
//
// Part of fp8c, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "fp8c/Codegen/LaunchShape.h"

#include "LaunchChoices.h"
#include "RowReads.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "llvm/Support/MathExtras.h"

#include <cmath>

using namespace mlir;
using namespace fp8c;
using namespace fp8c::codegen;

/// Threads of a block of several groups, and of one whose work has no size of
/// its own.
static constexpr unsigned kBlock = 128;
/// Threads of a block of flat elementwise work, and their vectors.
static constexpr unsigned kFlatThreads = 128, kFlatVectors = 4;
/// Tensors whose rows are about as short are shared out finer (measured at
/// 4096 x 1152).
static constexpr int64_t kShortRow = 1536;
/// Up to how many vectors there are a thread has fewer, so that such work is
/// shared out finer.
static constexpr std::pair<unsigned, int64_t> kFewVectors[] = {{2, 1 << 20},
                                                               {1, 1024 * 132}};
/// Elements of a row that several blocks share, and the launches that have
/// their clusters' numbers in 31 bits.
static constexpr int64_t kLongRow = 32768, kMostClusters = INT32_MAX / 8;
/// Threads of a multiprocessor that share such rows.
static constexpr unsigned kSharingThreads = 512;
/// Blocks that share rows of which there are few.
static constexpr unsigned kFewCluster = 4;
/// Vectors of a thread that fit in its registers.
static constexpr unsigned kMaxVectors = 10;
/// Rows in shared memory at a time, and their bytes at most.
static constexpr int64_t kStages = 2, kMaxStaged = 64 << 10;
/// Bytes of shared memory that a block's reductions and barriers take at most.
static constexpr int64_t kSharedScalars = 2048;
/// Multiprocessors of the GPU that choices were measured on.
static constexpr int64_t kMultiprocessors = 132;
/// The compute capability of programmatic dependent launch.
static constexpr unsigned kDependentLaunch = 90;
/// Threads of a multiprocessor.
static constexpr unsigned kResidentThreads = 2048;

/// Whether `threads` can be a group.
static bool isGroup(int64_t threads) {
  return threads > 0 && threads <= 512 &&
         (threads < 32 ? llvm::isPowerOf2_64(threads) : threads % 32 == 0);
}

/// Group, width and vectors that cover a row of `size` elements exactly, or no
/// change where there are none.
static void fitRow(LaunchShape &shape, int64_t size, unsigned widest,
                   const RowDefaults &defaults, const Choices &choices) {
  double wanted = std::max(size / defaults.perThread, 4.0);
  double best = 1e9;
  for (unsigned width = widest; width >= 2; width /= 2) {
    for (unsigned vectors = 1; vectors <= kMaxVectors; ++vectors) {
      int64_t elements = int64_t(width) * vectors;
      if (size % elements || !isGroup(size / elements) ||
          !choices.allows("threads", size / elements) ||
          !choices.allows("width", width))
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
  // No numbers that cover it: what is left is at most one vector a thread.
  if (shape.vectors == 0) {
    int64_t count = size / shape.width;
    while (shape.group <= 256 && count / shape.group > kMaxVectors)
      shape.group *= 2;
    shape.vectors = std::min<int64_t>(count / shape.group, kMaxVectors);
  }
}

/// The blocks that share a row: always where one block's registers do not hold
/// it well, and in launches of few rows, which leave most of the GPU idle.
static void fitCluster(LaunchShape &shape, int64_t size, unsigned widest,
                       const Target &target, const RowDefaults &defaults,
                       const Choices &choices) {
  // Two tensors' rows without vectors: one block is as fast a little longer.
  bool isPair = defaults.pairs && !defaults.modulates;
  bool isLong = size >= (isPair ? 2 * kLongRow : kLongRow);
  unsigned cluster = defaults.few > 0 ? kFewCluster : 1;
  if (isLong)
    cluster = size < 2 * kLongRow ? 2 : size < 4 * kLongRow ? 4 : 8;
  choices.apply("cluster", cluster);
  int64_t tasks = defaults.few;
  if (size >= kLongRow)
    tasks = isLong ? kMostClusters : kMultiprocessors / cluster;
  choices.apply("few", tasks);
  if (cluster > target.clusterBlocks || cluster == 1 || tasks == 0 ||
      choices.get("sums").value_or(0) || size % cluster)
    return;
  LaunchShape part;
  part.width = shape.width;
  part.group = shape.group;
  if (isLong) {
    fitRow(part, size / cluster, widest, defaults, choices);
    if (part.getCovered() != size / cluster)
      return;
    shape.group = part.group;
    shape.width = part.width;
    // One block alone loops over memory.
    shape.vectors = 0;
    shape.minBlocks = std::max(kSharingThreads / shape.group, 1u);
    choices.apply("blocks", shape.minBlocks);
  } else {
    if (shape.getCovered() != size || shape.vectors % cluster)
      return;
    part.vectors = shape.vectors / cluster;
  }
  if (part.group <= 32)
    return;
  shape.cluster = cluster;
  shape.clusterVectors = part.vectors;
  shape.clusterTasks = tasks;
}

/// Group, vectors and chunk for elementwise work on `size` elements (or
/// ShapedType::kDynamic) in vectors of `shape.width`.
static void fitChunk(LaunchShape &shape, int64_t size, const Choices &choices) {
  shape.group = kFlatThreads;
  shape.vectors = kFlatVectors;
  if (shape.flat) {
    if (size >= kShortRow / 2 && size <= kShortRow)
      shape.vectors = kFlatVectors / 2;
  } else if (!ShapedType::isDynamic(size)) {
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
  choices.apply("threads", shape.group);
  choices.apply("vectors", shape.vectors);
  shape.chunk = int64_t(shape.group) * shape.vectors * shape.width;
  for (auto [vectors, most] : kFewVectors)
    if (shape.flat && vectors < shape.vectors)
      shape.fewer.push_back({vectors, most * shape.width});
}

/// Several rows a block, for a block that has one row in registers: where
/// vectors that rows share would be read again for each.
static void fitRows(LaunchShape &shape, const RowProgram &program,
                    const Target &target, const RowReads &reads,
                    const RowDefaults &defaults, const Choices &choices) {
  if (shape.vectors == 0 || program.getTaskDims().empty() ||
      program.getNumOuter() + 1 != program.getDims().size())
    return;
  int64_t size = program.getDims()[program.getVectorDim()].size;
  int64_t bytes = target.hasBulkCopies ? reads.getBulkBytes(program) : 0;
  unsigned stages =
      defaults.rows > 1 && kStages * bytes <= kMaxStaged ? kStages : 0;
  choices.apply("stages", stages);
  if (bytes == 0 || shape.group <= 32 || shape.getCovered() != size ||
      stages * bytes + kSharedScalars > target.sharedMemory)
    stages = 0;
  // A warp's rows come ahead through registers.
  bool isWarp = shape.group == 32 && shape.getCovered() == size;
  shape.rows = stages > 0 ? std::max(defaults.rows, 2u)
               : isWarp   ? defaults.rows
                          : 1;
  choices.apply("rows", shape.rows);
  shape.stages = shape.rows > 1 ? stages : 0;
  shape.sharedBytes = shape.stages * bytes;
  shape.readsAhead = defaults.readsAhead;
  if (shape.rows > 1)
    shape.sideBySide = reads.own.size() == 1;
  if (shape.rows > 1 || defaults.rows == 1)
    shape.minBlocks = defaults.resident / shape.getThreads();
  choices.apply("ahead", shape.readsAhead);
  choices.apply("beside", shape.sideBySide);
  choices.apply("blocks", shape.minBlocks);
  shape.wave = kMultiprocessors * std::max(shape.minBlocks, 1u) * shape.groups;
  choices.apply("wave", shape.wave);
}

bool codegen::writesZeros(const RowProgram &program, unsigned result) {
  const int64_t vector = program.getVectorDim();
  ArrayRef<int64_t> loops = program.getResultLoops(result);
  // A single row may be done as any elements that lie densely.
  auto isRows = [&](int64_t loop) {
    return loop >= 0 && loop != vector && program.getDims()[loop].size != 1;
  };
  return vector >= 0 && !loops.empty() && loops.back() == vector &&
         program.getNumOuter() + 1 >= program.getDims().size() &&
         (vector >= program.getNumOuter() ||
          program.getNumOuter() == program.getDims().size()) &&
         llvm::any_of(loops, isRows);
}

LaunchShape LaunchShape::choose(const RowProgram &program,
                                const Target &target) {
  LaunchShape shape;
  Choices choices(program);
  shape.dependent = target.computeCapability >= kDependentLaunch;
  choices.apply("dependent", shape.dependent);
  choices.apply("backwards", shape.backwards);
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
    unsigned widest = getVectorWidth(program);
    // Those of the first kernel with the same sums, whatever else is read.
    shape.sameSums = choices.get("sums").value_or(0);
    if (shape.sameSums)
      choices.apply("width", widest);
    shape.width = widest;
    shape.flat = isElementwise && canFlatten(program);
    while (!shape.flat && !ShapedType::isDynamic(size) && size % shape.width)
      shape.width /= 2;
    // Odd rows: pairs, for the arithmetic.
    if (shape.width == 1 && !isElementwise && size >= 64) {
      shape.width = 2;
      shape.byElements = true;
    }
    RowReads reads = RowReads::find(program);
    const RowDefaults &defaults = getRowDefaults(program, reads);
    if (isElementwise) {
      fitChunk(shape, size, choices);
    } else {
      shape.group = ShapedType::isDynamic(size)
                        ? 256
                        : std::clamp<int64_t>(size / 256 * 32, 32, 512);
      if (!ShapedType::isDynamic(size))
        fitRow(shape, size, widest, defaults, choices);
      if (!ShapedType::isDynamic(size) && !shape.byElements)
        fitCluster(shape, size, widest, target, defaults, choices);
    }
    shape.groups = shape.group > 32 ? 1 : kBlock / shape.group;
    if (!isElementwise)
      fitRows(shape, program, target, reads, defaults, choices);
  }
  // A few atomic operations for each multiprocessor.
  if (!program.getAtomicResults().empty() && isElementwise)
    shape.resident = kResidentThreads / shape.getThreads();
  return shape;
}

Value LaunchShape::buildParts(OpBuilder &builder, Location loc,
                              const RowProgram &program,
                              ValueRange extents) const {
  auto constant = [&](int64_t value) {
    return arith::ConstantIndexOp::create(builder, loc, value);
  };
  Value one = constant(1), others = one;
  for (TaskDim task : program.getTaskDims().drop_back())
    others = arith::MulIOp::create(builder, loc, others, extents[task.dim]);
  Value size = extents[program.getTaskDims().back().dim];
  Value all = arith::MulIOp::create(builder, loc, others, size);
  Value waves =
      arith::CeilDivSIOp::create(builder, loc, all, constant(wave * rows));
  Value parts = arith::MulIOp::create(builder, loc, waves, constant(wave));
  others = arith::MaxSIOp::create(builder, loc, others, one);
  parts = arith::DivUIOp::create(builder, loc, parts, others);
  parts = arith::MinSIOp::create(builder, loc, parts, size);
  return arith::MaxSIOp::create(builder, loc, parts, one);
}

Value LaunchShape::buildBlocks(OpBuilder &builder, Location loc,
                               const RowProgram &program, ValueRange extents,
                               Value parts) const {
  auto constant = [&](int64_t value) {
    return arith::ConstantIndexOp::create(builder, loc, value);
  };
  Value tasks = constant(1);
  if (flat) {
    for (TaskDim task : program.getTaskDims())
      tasks = arith::MulIOp::create(builder, loc, tasks, extents[task.dim]);
    auto countBlocks = [&](int64_t each) -> Value {
      return arith::CeilDivSIOp::create(builder, loc, tasks,
                                        constant(each * groups));
    };
    Value blocks = countBlocks(chunk);
    for (auto [count, most] : fewer) {
      int64_t each = int64_t(group) * count * width;
      Value few = arith::MinSIOp::create(builder, loc, countBlocks(each),
                                         constant(most / (each * groups)));
      blocks = arith::MaxSIOp::create(builder, loc, blocks, few);
    }
    return blocks;
  }
  for (TaskDim task : program.getTaskDims()) {
    Value count = extents[task.dim];
    if (task.chunk != 1)
      count = arith::CeilDivSIOp::create(builder, loc, count, constant(chunk));
    else if (rows > 1 && task.dim == program.getTaskDims().back().dim)
      count = parts;
    tasks = arith::MulIOp::create(builder, loc, tasks, count);
  }
  if (groups == 1)
    return tasks;
  return arith::CeilDivSIOp::create(builder, loc, tasks, constant(groups));
}
