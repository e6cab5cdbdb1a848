//===- FP8Ops.cpp - Operations of the fp8 dialect -------------------------===//
//
// Part of fp8c, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Shapes.h"

#include "mlir/IR/Builders.h"
#include "mlir/IR/OpImplementation.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace fp8c;
using namespace fp8c::fp8;

#define GET_OP_CLASSES
#include "fp8c/Dialect/FP8/FP8Ops.cpp.inc"

bool fp8c::fp8::isF8Type(Type type) {
  return isa<Float8E4M3FNType, Float8E5M2Type>(type);
}

F8Format fp8c::fp8::getF8Format(Type type) {
  if (isa<Float8E8M0FNUType>(type))
    return F8Format::E8M0FNU;
  return isa<Float8E5M2Type>(type) ? F8Format::E5M2 : F8Format::E4M3FN;
}

std::string fp8c::fp8::printShape(ArrayRef<int64_t> shape) {
  if (shape.empty())
    return "()";
  std::string text;
  llvm::raw_string_ostream stream(text);
  llvm::interleave(
      shape, stream,
      [&](int64_t size) {
        if (ShapedType::isDynamic(size))
          stream << '?';
        else
          stream << size;
      },
      "x");
  return text;
}

SmallVector<int64_t> fp8c::fp8::getScaleShape(ArrayRef<int64_t> data,
                                              ScalingAttr scaling) {
  SmallVector<int64_t> shape;
  for (auto [size, block] : llvm::zip(data, scaling.getBlock())) {
    if (ShapedType::isDynamic(block))
      shape.push_back(1);
    else if (ShapedType::isDynamic(size))
      shape.push_back(size);
    else
      shape.push_back(llvm::divideCeil(size, block));
  }
  return shape;
}

bool fp8c::fp8::isScaleShape(ArrayRef<int64_t> scale, ArrayRef<int64_t> data,
                             ScalingAttr scaling) {
  if (!mayBeEqual(scale, getScaleShape(data, scaling)))
    return false;
  // One scale for a whole dim is known to be one.
  return llvm::all_of(llvm::zip(scale, scaling.getBlock()), [](auto pair) {
    auto [size, block] = pair;
    return !ShapedType::isDynamic(block) || size == 1;
  });
}
