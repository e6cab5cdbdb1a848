//===- Constants.cpp - Tensors of numbers ------------------------------===//
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

/// A tensor of the archive's type and sizes, all of one number.
static Results filled(ImportContext &c, ArrayRef<OpFoldResult> sizes,
                      const Number &number) {
  Type type = c.outputType();
  if (number.size && isa<Value>(number.size)) {
    Value size = cast<Value>(number.size);
    return one(c.graph.generate(sizes, type, [&](Scalars &s, ValueRange) {
      return s.convert(size, type);
    }));
  }
  return one(c.graph.full(sizes, getNumberAttr(type, number)));
}

static Number integerNumber(int64_t value) {
  Number number;
  number.integer = value;
  return number;
}

/// `size` gives the shape and the operator the number.
template <int64_t value> static Results sized(ImportContext &c) {
  return filled(c, c.sizes("size"), integerNumber(value));
}

/// `self` gives the shape and the operator the number.
template <int64_t value> static Results likeSelf(ImportContext &c) {
  return filled(c, c.graph.sizes(c.tensor("self")), integerNumber(value));
}

static Results full(ImportContext &c) {
  return filled(c, c.sizes("size"), c.number("fill_value"));
}

static Results fullLike(ImportContext &c) {
  return filled(c, c.graph.sizes(c.tensor("self")), c.number("fill_value"));
}

static Results scalarTensor(ImportContext &c) {
  return filled(c, {}, c.number("s"));
}

/// Fills `self` with a number or a 0-d tensor.
static Results fill(ImportContext &c) {
  Value self = c.tensor("self");
  Operand value = getOperand(c, "value");
  if (!value.tensor)
    return filled(c, c.graph.sizes(self), value.number);
  return one(c.graph.expand(c.graph.convert(value.tensor, elementOf(self)),
                            c.graph.sizes(self)));
}

static Results zero(ImportContext &c) {
  return filled(c, c.graph.sizes(c.tensor("self")), integerNumber(0));
}

/// start + i * step. Sizes of the call may be in all three.
static Results arange(ImportContext &c) {
  Type type = c.outputType();
  const OpEntry &entry = c.getEntry();
  auto has = [&](StringRef name) {
    return llvm::any_of(entry.parameters,
                        [&](const Parameter &p) { return p.name == name; });
  };
  Number start = has("start") ? c.number("start") : integerNumber(0);
  Number step = has("step") ? c.number("step") : integerNumber(1);
  if (step.asDouble() == 0)
    return c.error() << "'step' must not be 0";
  Sizes sizes = c.outputSizes();
  if (sizes.size() != 1)
    return c.error() << "expected a vector, got " << sizes.size() << " dims";
  // Computed in i64 or in f64 and rounded once, as PyTorch does.
  bool isFloat = start.isFloat || step.isFloat || isa<FloatType>(type);
  Builder &builder = c.graph.getBuilder();
  Type compute = isFloat ? Type(builder.getF64Type()) : builder.getI64Type();
  if (isFloat && !start.isFloat && !step.isFloat)
    compute = builder.getI64Type();
  return one(c.graph.generate(sizes, type, [&](Scalars &s, ValueRange indices) {
    Value index = s.convert(indices[0], compute);
    Value offset = index;
    if (step.isFloat || step.integer != 1 || step.size)
      offset = s.mul(index, readNumber(c, s, step, compute, compute));
    bool isZero = !start.isFloat && !start.size && start.integer == 0;
    Value value =
        isZero ? offset
               : s.add(readNumber(c, s, start, compute, compute), offset);
    return s.convert(value, type);
  }));
}

/// The identity matrix.
static Results eye(ImportContext &c) {
  Type type = c.outputType();
  Sizes sizes = c.outputSizes();
  if (sizes.size() != 2)
    return c.error() << "expected a matrix, got " << sizes.size() << " dims";
  return one(c.graph.generate(sizes, type, [&](Scalars &s, ValueRange indices) {
    return s.convert(s.compare(Compare::EQ, indices[0], indices[1]), type);
  }));
}

void fp8c::import::addConstantOps(OpTable &table) {
  auto add = [&](StringRef name, StringRef schema, Converter convert) {
    table.add("constants", ("aten." + name).str(), schema, convert);
  };
  std::string options = ", *, ScalarType? dtype=None, Layout? layout=None, "
                        "Device? device=None, bool? pin_memory=None";
  std::string format = options + ", MemoryFormat? memory_format=None";
  add("zeros.default", "SymInt[] size" + options, sized<0>);
  add("ones.default", "SymInt[] size" + options, sized<1>);
  // Memory that is not initialised: zero is as good as any value.
  add("empty.memory_format", "SymInt[] size" + format, sized<0>);
  add("full.default", "SymInt[] size, Scalar fill_value" + options, full);
  add("zeros_like.default", "Tensor self" + format, likeSelf<0>);
  add("ones_like.default", "Tensor self" + format, likeSelf<1>);
  add("empty_like.default", "Tensor self" + format, likeSelf<0>);
  add("full_like.default", "Tensor self, Scalar fill_value" + format, fullLike);
  add("new_zeros.default", "Tensor self, SymInt[] size" + options, sized<0>);
  add("new_ones.default", "Tensor self, SymInt[] size" + options, sized<1>);
  add("new_empty.default", "Tensor self, SymInt[] size" + options, sized<0>);
  add("new_full.default",
      "Tensor self, SymInt[] size, Scalar fill_value" + options, full);
  add("scalar_tensor.default", "Scalar s" + options, scalarTensor);
  add("arange.default", "Scalar end" + options, arange);
  add("arange.start", "Scalar start, Scalar end" + options, arange);
  add("arange.start_step", "Scalar start, Scalar end, Scalar step=1" + options,
      arange);
  add("eye.default", "SymInt n" + options, eye);
  add("eye.m", "SymInt n, SymInt m" + options, eye);
  for (StringRef overload : {"Scalar", "Tensor"}) {
    std::string schema = ("Tensor self, " + overload + " value").str();
    add(("fill." + overload).str(), schema, fill);
    table.add("constants", ("aten.fill_." + overload).str(), schema, fill,
              OpKind::InPlace);
  }
  table.add("constants", "aten.zero_.default", "Tensor self", zero,
            OpKind::InPlace);
}
