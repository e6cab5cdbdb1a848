//===- ElementTypes.cpp - The numbers of PyTorch's dtypes -----------------===//
//
// Part of fp8c, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "fp8c/Import/ImportContext.h"

using namespace mlir;

Type fp8c::import::getElementType(MLIRContext *context, int64_t dtype,
                                  bool *isUnsigned) {
  if (isUnsigned)
    *isUnsigned = dtype == 1 || dtype == 28 || dtype == 34 || dtype == 35;
  auto integer = [&](unsigned width) -> Type {
    return IntegerType::get(context, width);
  };
  switch (dtype) {
  case 1:
  case 2:
    return integer(8);
  case 3:
  case 28:
    return integer(16);
  case 4:
  case 34:
    return integer(32);
  case 5:
  case 35:
    return integer(64);
  case 6:
    return Float16Type::get(context);
  case 7:
    return Float32Type::get(context);
  case 8:
    return Float64Type::get(context);
  case 12:
    return integer(1);
  case 13:
    return BFloat16Type::get(context);
  case 29:
    return Float8E4M3FNType::get(context);
  case 30:
    return Float8E5M2Type::get(context);
  case 33:
    return Float8E8M0FNUType::get(context);
  default:
    return {};
  }
}
