//===- Logic.cpp - Comparisons, logic and selection --------------------===//
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

/// Compares in the promoted type; the result is a bool.
template <Compare predicate> static Results compareOp(ImportContext &c) {
  Operand a = getOperand(c, "self"), b = getOperand(c, "other");
  if (failed(refuseF8(c, {a.tensor, b.tensor})))
    return failure();
  return one(elementwise(c, {a, b}, promote(c, {a, b}), c.outputType(),
                         [](Scalars &s, ValueRange v) {
                           return s.compare(predicate, v[0], v[1]);
                         }));
}

/// A bitwise operator on integers or bools of the promoted type.
template <typename OpTy> static Results bitwise(ImportContext &c) {
  Operand a = getOperand(c, "self"), b = getOperand(c, "other");
  Type type = c.outputType();
  if (isa<FloatType>(type))
    return c.error() << "expected integers or bools, got " << type;
  return one(
      elementwise(c, {a, b}, type, type, [](Scalars &s, ValueRange v) -> Value {
        return OpTy::create(s.getBuilder(), s.getLoc(), v[0], v[1]);
      }));
}

/// A logical operator: operands are read as bools.
template <typename OpTy> static Results logical(ImportContext &c) {
  Operand a = getOperand(c, "self"), b = getOperand(c, "other");
  if (failed(refuseF8(c, {a.tensor, b.tensor})))
    return failure();
  Type i1 = c.graph.getBuilder().getI1Type();
  return one(elementwise(
      c, {a, b}, i1, c.outputType(), [](Scalars &s, ValueRange v) -> Value {
        return OpTy::create(s.getBuilder(), s.getLoc(), v[0], v[1]);
      }));
}

/// Selects without touching the value: f8 moves as bytes.
static Value selectOf(ImportContext &c, Value condition, Operand a, Operand b,
                      Type type) {
  SmallVector<Value> inputs{condition};
  for (const Operand &operand : {a, b})
    if (operand.tensor)
      inputs.push_back(operand.tensor);
  return c.graph.elementwise(inputs, type, [&](Scalars &s, ValueRange values) {
    Value isTrue = s.convert(values[0], s.getBuilder().getI1Type());
    unsigned index = 1;
    auto read = [&](const Operand &operand) {
      if (!operand.tensor)
        return readNumber(c, s, operand.number, type, type);
      return s.convert(values[index++], type);
    };
    Value first = read(a), second = read(b);
    return s.select(isTrue, first, second);
  });
}

static Results where(ImportContext &c) {
  return one(selectOf(c, c.tensor("condition"), getOperand(c, "self"),
                      getOperand(c, "other"), c.outputType()));
}

/// `value` where the mask is true; written over self, so of its type.
static Results maskedFill(ImportContext &c) {
  Operand self = getOperand(c, "self");
  return one(selectOf(c, c.tensor("mask"), getOperand(c, "value"), self,
                      elementOf(self.tensor)));
}

void fp8c::import::addLogicOps(OpTable &table) {
  auto both = [&](StringRef base, Converter convert, bool inPlace) {
    auto name = [&](StringRef infix, StringRef overload) {
      return ("aten." + base + infix + "." + overload).str();
    };
    StringRef tensor = "Tensor self, Tensor other";
    StringRef scalar = "Tensor self, Scalar other";
    table.add("logic", name("", "Tensor"), tensor, convert);
    table.add("logic", name("", "Scalar"), scalar, convert);
    if (!inPlace)
      return;
    table.add("logic", name("_", "Tensor"), tensor, convert, OpKind::InPlace);
    table.add("logic", name("_", "Scalar"), scalar, convert, OpKind::InPlace);
  };
  both("eq", compareOp<Compare::EQ>, true);
  both("ne", compareOp<Compare::NE>, true);
  both("lt", compareOp<Compare::LT>, true);
  both("le", compareOp<Compare::LE>, true);
  both("gt", compareOp<Compare::GT>, true);
  both("ge", compareOp<Compare::GE>, true);
  both("bitwise_and", bitwise<arith::AndIOp>, true);
  both("bitwise_or", bitwise<arith::OrIOp>, true);
  both("bitwise_xor", bitwise<arith::XOrIOp>, true);
  both("__and__", bitwise<arith::AndIOp>, false);
  both("__or__", bitwise<arith::OrIOp>, false);
  both("__xor__", bitwise<arith::XOrIOp>, false);
  StringRef tensor = "Tensor self, Tensor other";
  table.add("logic", "aten.logical_and.default", tensor,
            logical<arith::AndIOp>);
  table.add("logic", "aten.logical_or.default", tensor, logical<arith::OrIOp>);
  table.add("logic", "aten.logical_xor.default", tensor,
            logical<arith::XOrIOp>);
  table.add("logic", "aten.where.self",
            "Tensor condition, Tensor self, Tensor other", where);
  table.add("logic", "aten.where.ScalarSelf",
            "Tensor condition, Scalar self, Tensor other", where);
  table.add("logic", "aten.where.ScalarOther",
            "Tensor condition, Tensor self, Scalar other", where);
  table.add("logic", "aten.where.Scalar",
            "Tensor condition, Scalar self, Scalar other", where);
  for (StringRef overload : {"Scalar", "Tensor"}) {
    std::string schema =
        ("Tensor self, Tensor mask, " + overload + " value").str();
    table.add("logic", ("aten.masked_fill." + overload).str(), schema,
              maskedFill);
    table.add("logic", ("aten.masked_fill_." + overload).str(), schema,
              maskedFill, OpKind::InPlace);
  }
}
