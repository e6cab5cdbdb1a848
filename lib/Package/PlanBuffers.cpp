//===- PlanBuffers.cpp - Buffers and views of a plan ----------------------===//
//
// Part of fp8c, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "PlanBuilder.h"

#include "fp8c/Dialect/FP8/FP8.h"

#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace fp8c;
using namespace fp8c::plan;
using namespace fp8c::package;
using flatbuffers::Offset;

FailureOr<wire::DType> package::getDType(Operation *op, Type type) {
  auto dtype =
      llvm::TypeSwitch<Type, std::optional<wire::DType>>(type)
          .Case<Float16Type>([](auto) { return wire::DType::F16; })
          .Case<BFloat16Type>([](auto) { return wire::DType::BF16; })
          .Case<Float32Type>([](auto) { return wire::DType::F32; })
          .Case<Float64Type>([](auto) { return wire::DType::F64; })
          .Case<Float8E4M3FNType>([](auto) { return wire::DType::E4M3FN; })
          .Case<Float8E5M2Type>([](auto) { return wire::DType::E5M2; })
          .Case<Float8E8M0FNUType>([](auto) { return wire::DType::E8M0FNU; })
          .Case<IntegerType>(
              [&](IntegerType integer) -> std::optional<wire::DType> {
                switch (integer.getWidth()) {
                case 1:
                  return wire::DType::Bool;
                case 8:
                  return integer.isUnsigned() || op->hasAttr(fp8::kUnsignedAttr)
                             ? wire::DType::U8
                             : wire::DType::I8;
                case 16:
                  return wire::DType::I16;
                case 32:
                  return wire::DType::I32;
                case 64:
                  return wire::DType::I64;
                default:
                  return std::nullopt;
                }
              })
          .Default([](Type) { return std::nullopt; });
  if (!dtype)
    return LogicalResult(op->emitError()
                         << "a plan has no elements of type " << type);
  return *dtype;
}

FailureOr<std::vector<uint32_t>> PlanBuilder::sizesOf(ValueRange values) {
  std::vector<uint32_t> entries;
  for (Value value : values) {
    auto entry = sizes.get(value);
    if (failed(entry))
      return failure();
    entries.push_back(*entry);
  }
  return entries;
}

std::vector<uint32_t> PlanBuilder::denseStrides(ArrayRef<uint32_t> dims) {
  std::vector<uint32_t> strides(dims.size());
  uint32_t stride = sizes.constant(1);
  for (size_t i = dims.size(); i-- > 0;) {
    strides[i] = stride;
    stride = sizes.mul(dims[i], stride);
  }
  return strides;
}

LogicalResult PlanBuilder::writeBuffer(Operation *op) {
  PendingValue made;
  Value result = op->getResult(0);
  auto type = cast<MemRefType>(result.getType());
  Operation *typed = op;
  if (auto global = dyn_cast<GlobalOp>(op))
    typed = SymbolTable::lookupNearestSymbolFrom(op, global.getGlobalAttr());
  auto dtype = getDType(typed ? typed : op, type.getElementType());
  auto dynamic = sizesOf(isa<GlobalOp>(op) ? ValueRange() : op->getOperands());
  if (failed(dtype) || failed(dynamic))
    return failure();
  made.dtype = *dtype;
  auto next = dynamic->begin();
  for (int64_t size : type.getShape())
    made.dims.push_back(ShapedType::isDynamic(size) ? *next++
                                                    : sizes.constant(size));
  made.strides = denseStrides(made.dims);
  made.offset = sizes.constant(0);
  if (auto node = op->getAttrOfType<StringAttr>("node"))
    made.node = node.str();

  uint32_t id = values.size();
  auto name = op->getAttrOfType<StringAttr>("name");
  if (isa<InputOp>(op)) {
    made.kind = wire::ValueKind::Input;
    made.index = inputs.size();
    inputs.push_back(wire::CreateInputDirect(builder, name.str().c_str(), id));
  } else if (isa<OutputOp>(op)) {
    made.kind = wire::ValueKind::Output;
    made.index = outputs.size();
    outputs.push_back(wire::CreateOutputDirect(builder, name.str().c_str(),
                                               wire::OutputKind::Tensor, id));
  } else if (auto global = dyn_cast<GlobalOp>(op)) {
    StringRef symbol = global.getGlobal();
    if (auto state = stateIds.find(symbol); state != stateIds.end()) {
      made.kind = wire::ValueKind::State;
      made.index = state->second;
    } else if (auto weight = weightIds.find(symbol);
               weight != weightIds.end()) {
      made.kind = wire::ValueKind::Weight;
      made.index = weight->second;
    } else {
      return op->emitError()
             << "refers to @" << symbol << ", which is no fp8.global";
    }
  } else {
    made.kind = wire::ValueKind::Arena;
  }
  valueIds[result] = id;
  values.push_back(std::move(made));
  return success();
}

LogicalResult PlanBuilder::writeView(ViewOp view) {
  PendingValue made;
  made.kind = wire::ValueKind::View;
  auto dtype = getDType(view, view.getType().getElementType());
  auto dims = sizesOf(view.getSizes());
  auto strides = sizesOf(view.getStrides());
  auto offset = sizes.get(view.getOffset());
  if (failed(dtype) || failed(dims) || failed(strides) || failed(offset))
    return failure();
  made.dtype = *dtype;
  made.dims = *dims;
  made.strides = *strides;
  made.offset = *offset;
  made.base = valueOf(view.getSource());
  made.node = view.getNode().value_or("").str();
  valueIds[view.getResult()] = values.size();
  values.push_back(std::move(made));
  return success();
}
