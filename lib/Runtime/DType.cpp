//===- DType.cpp - Element types of tensors -------------------------------===//
//
// Part of fp8c, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "DType.h"

using namespace fp8c::rt;

namespace {
/// One row a type; the only place that knows its size and names.
struct Row {
  DType dtype;
  int64_t size;
  const char *name;
  const char *safetensors;
  uint8_t dlpackCode;
};
constexpr Row kRows[] = {
    {DType::Bool, 1, "bool", "BOOL", FP8RT_DL_BOOL},
    {DType::U8, 1, "u8", "U8", kDLUInt},
    {DType::I8, 1, "i8", "I8", kDLInt},
    {DType::I16, 2, "i16", "I16", kDLInt},
    {DType::I32, 4, "i32", "I32", kDLInt},
    {DType::I64, 8, "i64", "I64", kDLInt},
    {DType::F16, 2, "f16", "F16", kDLFloat},
    {DType::BF16, 2, "bf16", "BF16", kDLBfloat},
    {DType::F32, 4, "f32", "F32", kDLFloat},
    {DType::F64, 8, "f64", "F64", kDLFloat},
    {DType::E4M3FN, 1, "f8E4M3FN", "F8_E4M3", FP8RT_DL_FLOAT8_E4M3FN},
    {DType::E5M2, 1, "f8E5M2", "F8_E5M2", FP8RT_DL_FLOAT8_E5M2},
    {DType::E8M0FNU, 1, "f8E8M0FNU", "F8_E8M0", FP8RT_DL_FLOAT8_E8M0FNU},
};
const Row &row(DType dtype) { return kRows[static_cast<size_t>(dtype)]; }
} // namespace

int64_t fp8c::rt::elementSize(DType dtype) { return row(dtype).size; }
const char *fp8c::rt::dtypeName(DType dtype) { return row(dtype).name; }
const char *fp8c::rt::safetensorsName(DType dtype) {
  return row(dtype).safetensors;
}

std::optional<DType> fp8c::rt::fromSafetensorsName(std::string_view name) {
  for (const Row &r : kRows)
    if (name == r.safetensors)
      return r.dtype;
  return std::nullopt;
}

std::string fp8c::rt::safetensorsNames() {
  std::string names;
  for (const Row &r : kRows)
    names += (names.empty() ? "" : ", ") + std::string(r.safetensors);
  return names;
}

DLDataType fp8c::rt::toDLPack(DType dtype) {
  return {row(dtype).dlpackCode, static_cast<uint8_t>(row(dtype).size * 8), 1};
}

std::string fp8c::rt::dlpackName(DLDataType type) {
  for (const Row &r : kRows)
    if (sameType(toDLPack(r.dtype), type))
      return r.name;
  return "code " + std::to_string(type.code) + " of " +
         std::to_string(type.bits) + " bits and " + std::to_string(type.lanes) +
         " lanes";
}

bool fp8c::rt::sameType(DLDataType a, DLDataType b) {
  return a.code == b.code && a.bits == b.bits && a.lanes == b.lanes;
}

bool fp8c::rt::sameBits(DType a, DType b) {
  auto isByte = [](DType dtype) {
    return dtype == DType::U8 || dtype == DType::I8;
  };
  return a == b || (isByte(a) && isByte(b));
}

bool fp8c::rt::isFloat(DType dtype) {
  switch (dtype) {
  case DType::F16:
  case DType::BF16:
  case DType::F32:
  case DType::E4M3FN:
  case DType::E5M2:
    return true;
  default:
    return false;
  }
}
