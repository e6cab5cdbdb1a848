//===- Quotients.cpp - One kernel for a GPU: casts of quotients -----------===//
//
// Part of fp8c, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "GpuKernel.h"

#include "../FunctionEmitter.h"
#include "Matching.h"

#include "mlir/Dialect/SCF/IR/SCF.h"
#include "llvm/Support/FormatVariadic.h"

using namespace mlir;
using namespace fp8c;
using namespace fp8c::codegen;

/// The largest number of f8E4M3FN.
static constexpr float kLargestE4M3 = 448.0f;

/// `value` without clamps to +-largest or beyond: a saturating cast gives the
/// same for every value, NaN and Inf included.
Value GpuKernel::stripClamp(Value value, float largest) {
  for (;;) {
    auto isUpper = [&](Value v) { return getNumber(v).value_or(0) >= largest; };
    auto isLower = [&](Value v) {
      return getNumber(v).value_or(0) <= -largest;
    };
    Value inner = match<arith::MinimumFOp>(value, isUpper).second;
    if (!inner)
      inner = match<arith::MaximumFOp>(value, isLower).second;
    if (!inner)
      return value;
    value = inner;
  }
}

/// A function of its own, which is rarely called: the codes of `lanes` bf16
/// values, given as pairs, over an f32.
LLVM::LLVMFuncOp
GpuKernel::getDivision(unsigned lanes,
                       llvm::function_ref<Value(Value)> convert) {
  Operation *kernel = entry->getParentOp();
  std::string name = llvm::formatv("{0}_divide{1}", sharedName, lanes);
  auto module = kernel->getParentOfType<ModuleOp>();
  if (auto known = module.lookupSymbol<LLVM::LLVMFuncOp>(name))
    return known;
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPoint(kernel);
  Type pairs = wordsOf(16 * lanes), codes = wordsOf(8 * lanes);
  auto function = LLVM::LLVMFuncOp::create(
      builder, loc, name,
      LLVM::LLVMFunctionType::get(codes, {pairs, builder.getF32Type()}),
      LLVM::Linkage::Internal);
  function.setNoInline(true);
  builder.setInsertionPointToStart(function.addEntryBlock(builder));
  auto narrow = VectorType::get(lanes, builder.getI16Type());
  Value x =
      toF32(bitcast(narrow, function.getArgument(0)), builder.getBF16Type());
  Value s = vector::BroadcastOp::create(builder, loc, x.getType(),
                                        function.getArgument(1));
  Value quotient = arith::DivFOp::create(builder, loc, x, s);
  LLVM::ReturnOp::create(builder, loc, bitcast(codes, convert(quotient)));
  return function;
}

/// 1/s as two numbers, the second of which is not negative: x*high + x*low then
/// has the byte of x/s for every bf16 x (checked exhaustively) while s is in
/// 2^-120 .. 2^100.
GpuKernel::Division GpuKernel::divideBy(Value divisor) {
  FunctionEmitter emit(builder, loc, divisor.getType());
  Value reciprocal = emitReciprocal(divisor);
  Value bits = arith::SubIOp::create(
      builder, loc, bitcast(builder.getI32Type(), reciprocal), i32(2));
  Division division;
  division.high = bitcast(builder.getF32Type(), bits);
  division.low =
      emit.mul(emit.fma(emit.neg(divisor), division.high, emit.constant(1.0)),
               reciprocal);
  division.isUsual = emit.both(
      emit.compare(arith::CmpFPredicate::OGE, divisor, emit.constant(0x1p-120)),
      emit.compare(arith::CmpFPredicate::OLE, divisor, emit.constant(0x1p100)));
  return division;
}

/// The scalar by which the actions' casts to f8E4M3FN divide, or null.
Value GpuKernel::findDivisor(ArrayRef<Action> actions) {
  for (const Action &action : actions) {
    if (action.kind != Action::Kind::Store)
      continue;
    Value result = program.getResult(action.index);
    auto op = result.getDefiningOp<linalg::GenericOp>();
    if (!op)
      continue;
    for (auto cast : op.getBody()->getOps<fp8::CastOp>()) {
      auto quotient = stripClamp(cast.getInput(), kLargestE4M3)
                          .getDefiningOp<arith::DivFOp>();
      if (!quotient || !isa<Float8E4M3FNType>(cast.getType()) ||
          cast.getOverflow() != fp8::Overflow::Saturate)
        continue;
      auto argument = dyn_cast<BlockArgument>(quotient.getRhs());
      if (!argument || !argument.getType().isF32() ||
          argument.getOwner() != op.getBody())
        continue;
      OpOperand *read = op.getMatchingOpOperand(argument);
      AffineMap map = program.getReadMap(op, *read);
      if (map.isFunctionOfDim(program.getVectorDim()) ||
          program.getDomain(read->get()) >> program.getVectorDim() & 1)
        continue;
      Lanes divisor = readOperand(op, *read);
      if (divisor.kind == Lanes::Uniform)
        return divisor.value;
    }
  }
  return {};
}

/// The cast to f8E4M3FN of x / s, where x is bf16 and s the same in all lanes.
/// Null for any other value, and for scalars of kernels that move vectors where
/// they can. Other scalars are divided in place where s is not usual.
Value GpuKernel::emitQuotient(Value value, function_ref<Value(Value)> cast) {
  auto quotient = value.getDefiningOp<arith::DivFOp>();
  auto lanes = dyn_cast<VectorType>(value.getType());
  if (!quotient || (!lanes && shape.width > 1 && !shape.byElements))
    return {};
  Value x = quotient.getLhs(), s = getScalar(quotient.getRhs());
  if (!s || !widened.count(x))
    return {};
  Type codes = withElement(value.getType(), builder.getI8Type());
  auto divideExactly = [&]() -> Value {
    // No calls beside a product.
    if (!lanes || givenOperand)
      return cast(arith::DivFOp::create(builder, loc, x, spread({s})));
    LLVM::LLVMFuncOp function = getDivision(lanes.getNumElements(), cast);
    Value pairs = bitcast(function.getArgumentTypes()[0], widened.lookup(x));
    auto call =
        LLVM::CallOp::create(builder, loc, function, ValueRange{pairs, s});
    return bitcast(codes, call.getResult());
  };
  // Nothing in common with the other pieces, for which it would be computed
  // before they have read their elements.
  if (isRare)
    return divideExactly();
  auto known = divisions.find(s);
  Division division = known != divisions.end() ? known->second : divideBy(s);
  auto divide = [&] {
    Value part = arith::MulFOp::create(builder, loc, x, spread({division.low}));
    return cast(
        math::FmaOp::create(builder, loc, x, spread({division.high}), part));
  };
  if (division.isChosen)
    return division.isExact ? divideExactly() : divide();
  auto choice = scf::IfOp::create(builder, loc, codes, division.isUsual, true);
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToStart(choice.thenBlock());
  scf::YieldOp::create(builder, loc, divide());
  builder.setInsertionPointToStart(choice.elseBlock());
  scf::YieldOp::create(builder, loc, divideExactly());
  return choice.getResult(0);
}
