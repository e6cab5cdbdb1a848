//===- Common.cpp - What the families of operators share ------------------===//
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

//===----------------------------------------------------------------------===//
// Type promotion
//===----------------------------------------------------------------------===//

Operand fp8c::import::getOperand(ImportContext &c, StringRef name) {
  Operand operand;
  if (c.isNumber(name))
    operand.number = c.number(name);
  else
    operand.tensor = c.tensor(name);
  return operand;
}

/// The promoted type of two element types; null is no type.
static Type promoteTypes(Type a, Type b) {
  if (!a || !b || a == b)
    return a ? a : b;
  bool aFloat = isa<FloatType>(a), bFloat = isa<FloatType>(b);
  if (aFloat != bFloat)
    return aFloat ? a : b;
  unsigned aWidth = a.getIntOrFloatBitWidth();
  unsigned bWidth = b.getIntOrFloatBitWidth();
  if (aFloat && aWidth == bWidth) // bf16 with f16
    return Float32Type::get(a.getContext());
  return aWidth > bWidth ? a : b;
}

/// PyTorch's combine_categories: a float of the higher priority wins, an
/// integer wins unless the lower one is a float.
static Type combine(Type higher, Type lower) {
  if (!higher || !lower)
    return higher ? higher : lower;
  if (isa<FloatType>(higher))
    return higher;
  if (higher.isInteger(1) || isa<FloatType>(lower))
    return promoteTypes(higher, lower);
  return higher;
}

Type fp8c::import::promote(ImportContext &c, ArrayRef<Operand> operands) {
  Type dims, zero, wrapped;
  Builder &builder = c.graph.getBuilder();
  for (const Operand &operand : operands) {
    if (!operand.tensor) {
      Type type = operand.number.isFloat ? Type(builder.getF32Type())
                                         : Type(builder.getI64Type());
      wrapped = promoteTypes(wrapped, type);
      continue;
    }
    Type &slot = rankOf(operand.tensor) ? dims : zero;
    slot = promoteTypes(slot, elementOf(operand.tensor));
  }
  return combine(dims, combine(zero, wrapped));
}

//===----------------------------------------------------------------------===//
// Elementwise
//===----------------------------------------------------------------------===//

/// A Python number as an element: rounded to f32 first, but for f64, as PyTorch
/// does.
static APFloat roundNumber(const Number &number, FloatType type) {
  APFloat value(number.asDouble());
  bool lossy;
  if (type.getWidth() < 64)
    value.convert(APFloat::IEEEsingle(), APFloat::rmNearestTiesToEven, &lossy);
  value.convert(type.getFloatSemantics(), APFloat::rmNearestTiesToEven, &lossy);
  return value;
}

Value fp8c::import::readNumber(ImportContext &c, Scalars &s,
                               const Number &number, Type via, Type type) {
  if (number.size && isa<Value>(number.size))
    return s.convert(s.convert(cast<Value>(number.size), via), type);
  if (auto floating = dyn_cast<FloatType>(via)) {
    // Two roundings of a constant are done here, so that bodies hold one.
    APFloat value = roundNumber(number, floating);
    bool lossy;
    value.convert(APFloat::IEEEdouble(), APFloat::rmNearestTiesToEven, &lossy);
    return s.number(type, value.convertToDouble());
  }
  if (number.isFloat)
    return s.number(type, number.floating);
  return s.integer(type, number.integer);
}

Value fp8c::import::elementwise(
    ImportContext &c, ArrayRef<Operand> operands, Type common, Type result,
    llvm::function_ref<Value(Scalars &, ValueRange)> body,
    ArrayRef<Reading> readings) {
  SmallVector<Value> inputs;
  for (const Operand &operand : operands)
    if (operand.tensor)
      inputs.push_back(operand.tensor);
  Type compute = getComputeType(common);
  return c.graph.elementwise(
      inputs, result, [&](Scalars &s, ValueRange arguments) {
        SmallVector<Value> values;
        auto argument = arguments.begin();
        for (auto [index, operand] : llvm::enumerate(operands)) {
          bool exact =
              index < readings.size() && readings[index] == Reading::Exact;
          if (!operand.tensor) {
            values.push_back(readNumber(c, s, operand.number,
                                        exact ? compute : common, compute));
            continue;
          }
          Value value = *argument++;
          if (!exact || rankOf(operand.tensor) != 0)
            value = s.convert(value, common);
          values.push_back(s.convert(value, compute));
        }
        return s.convert(body(s, values), result);
      });
}

Results
fp8c::import::binary(ImportContext &c, Operand a, Operand b,
                     llvm::function_ref<Value(Scalars &, Value, Value)> body,
                     Reading right) {
  if (failed(refuseF8(c, {a.tensor, b.tensor})))
    return failure();
  Type type = c.outputType();
  return one(elementwise(c, {a, b}, type, type,
                         [&](Scalars &s, ValueRange values) {
                           return body(s, values[0], values[1]);
                         },
                         {Reading::Rounded, right}));
}

LogicalResult fp8c::import::refuseF8(ImportContext &c,
                                     ArrayRef<Value> tensors) {
  for (Value tensor : tensors)
    if (tensor && isa<FloatType>(elementOf(tensor)) &&
        elementOf(tensor).getIntOrFloatBitWidth() == 8)
      return c.error() << "arithmetic on " << elementOf(tensor)
                       << " values is not defined: cast them to f32, bf16 or "
                          "f16 first";
  return success();
}

//===----------------------------------------------------------------------===//
// Dims and results
//===----------------------------------------------------------------------===//

FailureOr<int64_t> fp8c::import::getDim(ImportContext &c, StringRef name,
                                        int64_t rank) {
  int64_t dim = c.integer(name), limit = std::max<int64_t>(rank, 1);
  if (dim < -limit || dim >= limit)
    return c.error() << "'" << name << "' must be in [" << -limit << ", "
                     << limit - 1 << "], got " << dim;
  return GraphBuilder::wrapDim(dim, rank);
}

SmallVector<int64_t> fp8c::import::allDims(Value tensor) {
  return llvm::to_vector(llvm::seq<int64_t>(0, rankOf(tensor)));
}

FailureOr<SmallVector<int64_t>>
fp8c::import::getDims(ImportContext &c, StringRef name, int64_t rank) {
  SmallVector<int64_t> dims;
  if (c.has(name))
    dims = c.integers(name);
  if (dims.empty())
    return llvm::to_vector(llvm::seq<int64_t>(0, rank));
  int64_t limit = std::max<int64_t>(rank, 1);
  for (int64_t &dim : dims) {
    if (dim < -limit || dim >= limit)
      return c.error() << "'" << name << "' must be in [" << -limit << ", "
                       << limit - 1 << "], got " << dim;
    dim = GraphBuilder::wrapDim(dim, rank);
  }
  if (rank == 0)
    dims.clear();
  llvm::sort(dims);
  dims.erase(llvm::unique(dims), dims.end());
  return dims;
}

Value fp8c::import::asOutput(ImportContext &c, Value tensor, unsigned index) {
  return c.graph.convert(tensor, c.outputType(index));
}

TypedAttr fp8c::import::getNumberAttr(Type type, const Number &number) {
  Builder builder(type.getContext());
  if (auto floating = dyn_cast<FloatType>(type)) {
    return builder.getFloatAttr(floating, roundNumber(number, floating));
  }
  int64_t integer = number.isFloat ? truncate(number.floating) : number.integer;
  if (type.isInteger(1))
    return builder.getBoolAttr(number.isFloat ? number.floating != 0
                                              : integer != 0);
  return builder.getIntegerAttr(type, APInt(type.getIntOrFloatBitWidth(),
                                            integer, /*isSigned=*/true,
                                            /*implicitTrunc=*/true));
}

void fp8c::import::addElementwise(OpTable &table, StringRef base,
                                  StringRef overload, StringRef schema,
                                  Converter convert) {
  table.add("elementwise", ("aten." + base + "." + overload).str(), schema,
            convert);
  table.add("elementwise", ("aten." + base + "_." + overload).str(), schema,
            convert, OpKind::InPlace);
}
