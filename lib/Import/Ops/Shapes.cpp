//===- Shapes.cpp - Arithmetic on sizes --------------------------------===//
//
// Part of fp8c, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Common.h"

using namespace mlir;
using namespace fp8c;
using namespace fp8c::import;

static Results symSize(ImportContext &c) {
  Value self = c.tensor("self");
  FailureOr<int64_t> dim = getDim(c, "dim", rankOf(self));
  if (failed(dim))
    return failure();
  if (rankOf(self) == 0)
    return c.error() << "expected a tensor with a dim";
  return one(c.graph.size(self, *dim));
}

static Results symNumel(ImportContext &c) {
  return one(c.graph.arith.product(c.graph.sizes(c.tensor("self"))));
}

/// A scalar parameter that must be an integer or a size.
static FailureOr<OpFoldResult> getSize(ImportContext &c, StringRef name) {
  Number number = c.number(name);
  if (number.isFloat)
    return c.error() << "expected sizes, got " << number.floating;
  return number.size ? number.size : c.graph.arith.constant(number.integer);
}

using Method = OpFoldResult (SizeArith::*)(OpFoldResult, OpFoldResult);

/// `a op b` on sizes.
template <Method method> static Results sizeOp(ImportContext &c) {
  FailureOr<OpFoldResult> a = getSize(c, "a"), b = getSize(c, "b");
  if (failed(a) || failed(b))
    return failure();
  return one((c.graph.arith.*method)(*a, *b));
}

static Results negate(ImportContext &c) {
  FailureOr<OpFoldResult> a = getSize(c, "a");
  if (failed(a))
    return failure();
  return one(c.graph.arith.sub(c.graph.arith.constant(0), *a));
}

/// A comparison of sizes: an i1, a constant where the answer is known.
template <arith::CmpIPredicate predicate>
static Results compareSizes(ImportContext &c) {
  FailureOr<OpFoldResult> a = getSize(c, "a"), b = getSize(c, "b");
  if (failed(a) || failed(b))
    return failure();
  GraphBuilder &g = c.graph;
  return SmallVector<Result>{arith::CmpIOp::create(g.getBuilder(), g.getLoc(),
                                                   predicate, g.arith.value(*a),
                                                   g.arith.value(*b))
                                 .getResult()};
}

/// A condition of the export: a check of the call.
static Results assertScalar(ImportContext &c) {
  Number condition = c.number("self");
  StringRef message = c.string("assert_msg");
  GraphBuilder &g = c.graph;
  if (Value value = dyn_cast_if_present<Value>(condition.size)) {
    if (value.getType().isIndex())
      value = arith::CmpIOp::create(g.getBuilder(), g.getLoc(),
                                    arith::CmpIPredicate::ne, value,
                                    g.arith.value(g.arith.constant(0)));
    if (value.getType().isInteger(1))
      fp8::CheckOp::create(g.getBuilder(), g.getLoc(), value, message);
  } else if (condition.asDouble() == 0) {
    return c.error() << "the model asserts what is never true: " << message;
  }
  return SmallVector<Result>();
}

void fp8c::import::addShapeOps(OpTable &table) {
  auto add = [&](StringRef name, StringRef schema, Converter convert) {
    table.add("sizes", name, schema, convert);
  };
  add("aten.sym_size.int", "Tensor self, int dim", symSize);
  add("aten.sym_numel.default", "Tensor self", symNumel);
  StringRef two = "Scalar a, Scalar b";
  add("_operator.add", two, sizeOp<&SizeArith::add>);
  add("_operator.sub", two, sizeOp<&SizeArith::sub>);
  add("_operator.mul", two, sizeOp<&SizeArith::mul>);
  add("_operator.floordiv", two, sizeOp<&SizeArith::floorDiv>);
  add("_operator.mod", two, sizeOp<&SizeArith::mod>);
  add("torch.sym_max", two, sizeOp<&SizeArith::max>);
  add("torch.sym_min", two, sizeOp<&SizeArith::min>);
  add("_operator.neg", "Scalar a", negate);
  add("_operator.eq", two, compareSizes<arith::CmpIPredicate::eq>);
  add("_operator.ne", two, compareSizes<arith::CmpIPredicate::ne>);
  add("_operator.lt", two, compareSizes<arith::CmpIPredicate::slt>);
  add("_operator.le", two, compareSizes<arith::CmpIPredicate::sle>);
  add("_operator.gt", two, compareSizes<arith::CmpIPredicate::sgt>);
  add("_operator.ge", two, compareSizes<arith::CmpIPredicate::sge>);
  add("aten._assert_scalar.default", "Scalar self, str assert_msg",
      assertScalar);
}
