//===- Moments.cpp - One kernel for a GPU: mean and variance --------------===//
//
// Part of fp8c, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A sum over a row, and then the sum of squares about the mean that follows
// from it, in one exchange between the threads: each takes the squares about
// the mean of its own elements, and what two threads (or warps) have is merged
// as Chan, Golub and LeVeque do, which is as stable as two passes.
//
//===----------------------------------------------------------------------===//

#include "GpuKernel.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace fp8c;
using namespace fp8c::codegen;

/// Warps whose results each thread adds up by itself.
static constexpr unsigned kFewWarps = 8;

/// The operand that a reduction's body adds to its f32 accumulator, or null. A
/// reduction that starts from anything but 0 adds nothing.
static Value getAddend(linalg::GenericOp op) {
  if (op.getNumResults() != 1)
    return {};
  auto fill = op.getDpsInits()[0].getDefiningOp<linalg::FillOp>();
  if (!fill || !matchPattern(fill.value(), m_PosZeroFloat()))
    return {};
  auto sum = op.getBody()
                 ->getTerminator()
                 ->getOperand(0)
                 .getDefiningOp<arith::AddFOp>();
  if (!sum || !sum.getType().isF32())
    return {};
  Value accumulator = op.getRegionOutputArgs()[0];
  if (sum.getLhs() == accumulator)
    return sum.getRhs();
  return sum.getRhs() == accumulator ? sum.getLhs() : Value();
}

/// The operand of the op whose element a value of its body is, perhaps widened.
static OpOperand *getRead(linalg::GenericOp op, Value value) {
  if (auto wide = value.getDefiningOp<arith::ExtFOp>())
    value = wide.getIn();
  auto argument = dyn_cast<BlockArgument>(value);
  return argument && argument.getOwner() == op.getBody()
             ? op.getMatchingOpOperand(argument)
             : nullptr;
}

/// The value that an op without reductions yields alone, or null.
static Value getYielded(linalg::GenericOp op) {
  if (!op || op.getNumResults() != 1 || op.getNumReductionLoops() != 0)
    return {};
  return op.getBody()->getTerminator()->getOperand(0);
}

/// True if `mean` is `sum` over `size`.
static bool isMean(Value mean, Value sum, int64_t size) {
  auto op = mean.getDefiningOp<linalg::GenericOp>();
  Value yielded = getYielded(op);
  Operation *last = yielded ? yielded.getDefiningOp() : nullptr;
  if (!isa_and_nonnull<arith::DivFOp, arith::MulFOp>(last))
    return false;
  OpOperand *read = getRead(op, last->getOperand(0));
  FloatAttr number;
  if (!read || read->get() != sum || !last->getOperand(0).getType().isF32() ||
      !matchPattern(last->getOperand(1), m_Constant(&number)))
    return false;
  float value = static_cast<float>(number.getValueAsDouble());
  return value == (isa<arith::DivFOp>(last) ? float(size) : 1.0f / float(size));
}

/// True if reduction `squares` sums the squares of the distances of what
/// reduction `sum` adds up from its mean, over rows of `size` elements. The
/// distance is taken in its body, or an op of its own.
static bool areMoments(const RowProgram &program, linalg::GenericOp sum,
                       linalg::GenericOp squares, int64_t size) {
  Value added = getAddend(sum), square = getAddend(squares);
  OpOperand *read = added ? getRead(sum, added) : nullptr;
  auto product =
      square ? square.getDefiningOp<arith::MulFOp>() : arith::MulFOp();
  if (!read || !product || product.getLhs() != product.getRhs())
    return false;
  linalg::GenericOp op = squares;
  Value factor = product.getLhs();
  if (OpOperand *apart = getRead(squares, factor);
      apart && factor.getType().isF32() && isa<BlockArgument>(factor)) {
    op = apart->get().getDefiningOp<linalg::GenericOp>();
    factor = getYielded(op);
  }
  auto distance = factor ? factor.getDefiningOp<arith::SubFOp>() : nullptr;
  if (!distance)
    return false;
  OpOperand *again = getRead(op, distance.getLhs());
  OpOperand *mean = getRead(op, distance.getRhs());
  return again && mean && again->get() == read->get() &&
         program.getReadMap(sum, *read) == program.getReadMap(op, *again) &&
         distance.getRhs().getType().isF32() &&
         isMean(mean->get(), sum.getResult(0), size);
}

size_t GpuKernel::emitFused(ArrayRef<Action> actions, DimSet bound) {
  using Kind = Action::Kind;
  static constexpr Kind kKinds[] = {Kind::Begin, Kind::Loop, Kind::End,
                                    Kind::Begin, Kind::Loop, Kind::End};
  if (mainWidth == 1 || shape.vectors == 0 || shape.group < 32 ||
      actions.size() < std::size(kKinds))
    return 0;
  for (auto [action, kind] : llvm::zip(actions, kKinds))
    if (action.kind != kind)
      return 0;
  unsigned first = actions[0].index, second = actions[3].index;
  // What is kept for later loops comes before.
  auto isOver = [&](const Action &loop, unsigned reduction) {
    ArrayRef<Action> body = loop.body;
    return int64_t(loop.index) == program.getVectorDim() && !body.empty() &&
           body.back().kind == Kind::Accumulate &&
           body.back().index == reduction &&
           llvm::all_of(body.drop_back(), [](const Action &action) {
             return action.kind == Kind::Save;
           });
  };
  int64_t size = program.getDims()[program.getVectorDim()].size;
  linalg::GenericOp sum = program.getReductions()[first].op;
  linalg::GenericOp squares = program.getReductions()[second].op;
  if (!isOver(actions[1], first) || !isOver(actions[4], second) ||
      pieces[program.getVectorDim()].first || shape.getCovered() != size ||
      !areMoments(program, sum, squares, size))
    return 0;

  auto own = [&](unsigned index, linalg::GenericOp op) {
    Value yielded = op.getBody()->getTerminator()->getOperand(0);
    return combineOwn(yielded.getDefiningOp(), accumulators[index][0],
                      builder.getF32Type());
  };
  begin(first);
  emitLoop(actions[1], bound);
  Value total = own(first, sum);
  // A thread's own elements for the whole row.
  frames.emplace_back();
  Value scaled = arith::MulFOp::create(builder, loc, total,
                                       splat(total, float(shape.group)));
  setMemo(key(sum.getResult(0)), {scaled, Lanes::Uniform});
  begin(second);
  {
    llvm::SaveAndRestore restore(inMoments, true);
    emitLoop({Kind::Loop, actions[4].index, {actions[4].body.back()}}, bound);
  }
  Value rest = own(second, squares);
  frames.pop_back();
  combineMoments(total, rest, size / shape.group);
  setMemo(key(sum.getResult(0)), {total, Lanes::Uniform});
  setMemo(key(squares.getResult(0)), {rest, Lanes::Uniform});
  return std::size(kKinds);
}

/// `sum` and `squares` about the mean of a thread's `count` elements as those
/// of all threads.
void GpuKernel::combineMoments(Value &sum, Value &squares, int64_t count) {
  auto add = [&](Value left, Value right) -> Value {
    return arith::AddFOp::create(builder, loc, left, right);
  };
  auto scale = [&](Value value, double by) -> Value {
    return arith::MulFOp::create(builder, loc, value, splat(value, by));
  };
  auto fma = [&](Value a, Value b, Value c) -> Value {
    return math::FmaOp::create(builder, loc, a, b, c);
  };
  auto mergeLanes = [&](unsigned threads, double each) {
    Value mask = i32(-1);
    for (unsigned offset = 1; offset < threads; offset *= 2) {
      Value otherSum = shuffle(sum, offset, mask);
      Value otherSquares = shuffle(squares, offset, mask);
      Value distance = arith::SubFOp::create(builder, loc, sum, otherSum);
      sum = add(sum, otherSum);
      squares = fma(scale(distance, 1.0 / (2.0 * each * offset)), distance,
                    add(squares, otherSquares));
    }
  };
  mergeLanes(32, double(count));
  unsigned warps = shape.group / 32;
  if (warps == 1)
    return;

  sharedScalars = std::max(sharedScalars, warps);
  auto pair = VectorType::get(2, builder.getF32Type());
  Value place = turn();
  Value warp = arith::ShRUIOp::create(builder, loc, thread, i32(5));
  Value own = vector::FromElementsOp::create(builder, loc, pair,
                                             ValueRange{sum, squares});
  exchange({{own, sharedAddress(warp, place)}}, place);
  auto read = [&](Value from) {
    Value both =
        LLVM::LoadOp::create(builder, loc, pair, sharedAddress(from, place));
    return std::make_pair(extractLane(both, 0), extractLane(both, 1));
  };
  double perWarp = 32.0 * count;
  if (warps <= kFewWarps) {
    SmallVector<Value> sums;
    for (unsigned i = 0; i < warps; ++i) {
      auto [warpSum, warpSquares] = read(i32(i));
      sums.push_back(warpSum);
      sum = i == 0 ? warpSum : add(sum, warpSum);
      squares = i == 0 ? warpSquares : add(squares, warpSquares);
    }
    Value mean = scale(sum, 1.0 / warps), spread;
    for (Value warpSum : sums) {
      Value distance = arith::SubFOp::create(builder, loc, warpSum, mean);
      spread =
          spread
              ? fma(distance, distance, spread)
              : Value(arith::MulFOp::create(builder, loc, distance, distance));
    }
    squares = fma(spread, splat(spread, 1.0 / perWarp), squares);
    return;
  }
  // A lane a warp, or several; lanes beyond them have nothing.
  auto sumLanes = [&](Read value) {
    Value all = combineInLanes(warps, splat(sum, 0.0), value, add);
    for (unsigned offset = 16; offset > 0; offset /= 2)
      all = add(all, shuffle(all, offset, i32(-1)));
    return all;
  };
  sum = sumLanes([&](Value from) { return read(from).first; });
  Value mean = scale(sum, 1.0 / warps);
  squares = sumLanes([&](Value from) {
    auto [warpSum, warpSquares] = read(from);
    Value distance = arith::SubFOp::create(builder, loc, warpSum, mean);
    return fma(scale(distance, 1.0 / perWarp), distance, warpSquares);
  });
}
