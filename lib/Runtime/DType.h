//===- DType.h - Element types of tensors -----------------------*- C++ -*-===//
//
// Part of fp8c, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef FP8C_LIB_RUNTIME_DTYPE_H
#define FP8C_LIB_RUNTIME_DTYPE_H

#include "fp8c/Package/plan_generated.h"
#include "fp8c/Runtime/fp8rt.h"

#include <optional>
#include <string>
#include <string_view>

namespace fp8c::rt {

namespace wire = plan::wire;
using DType = wire::DType;

/// Bytes of an element.
int64_t elementSize(DType dtype);
/// "bf16", "f8E4M3FN", as messages write it.
const char *dtypeName(DType dtype);
/// The name in a safetensors header, "BF16", "F8_E4M3".
const char *safetensorsName(DType dtype);
/// The type with that name in a safetensors header.
std::optional<DType> fromSafetensorsName(std::string_view name);
/// All of these names, for messages.
std::string safetensorsNames();
/// The type as DLPack has it.
DLDataType toDLPack(DType dtype);
/// The name of DLPack's type, "code 7 of 12 bits" for what has none here.
std::string dlpackName(DLDataType type);
/// True when both are the same type.
bool sameType(DLDataType a, DLDataType b);
/// True where elements of both types are the same bits: equal types, and bytes
/// of either sign.
bool sameBits(DType a, DType b);
/// True for what a product or attention may read.
bool isFloat(DType dtype);

} // namespace fp8c::rt

#endif // FP8C_LIB_RUNTIME_DTYPE_H
