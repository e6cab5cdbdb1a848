//===- Tensor.cpp - Tensors as commands see them --------------------------===//
//
// Part of fp8c, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Tensor.h"

#include "Safetensors.h"

using namespace fp8c::rt;

/// What the widest loads of generated kernels need.
static constexpr uintptr_t kGpuAlignment = 16;

std::string fp8c::rt::dimsText(const std::vector<int64_t> &dims) {
  std::string text = "(";
  for (size_t i = 0; i < dims.size(); ++i)
    text += (i ? ", " : "") + std::to_string(dims[i]);
  return text + ")";
}

void fp8c::rt::checkLayout(const DLTensor &tensor, DType dtype, size_t rank,
                           const char *role, const char *name, bool checkData,
                           DLDevice device) {
  auto check = [&](bool condition, const auto &...parts) {
    if (!condition)
      fail(FP8RT_MISMATCH, role, " \"", name, "\"", parts...);
  };
  // Plans know bytes without a sign.
  DLDataType type = tensor.dtype;
  if (type.code == kDLUInt && dtype == DType::I8)
    type.code = kDLInt;
  if (!sameType(type, toDLPack(dtype)))
    check(false, ": got dtype ", dlpackName(tensor.dtype), ", expected ",
          dtypeName(dtype));
  check(tensor.ndim >= 0 && size_t(tensor.ndim) == rank, ": got rank ",
        tensor.ndim, ", expected ", rank);
  auto isOn = [&](DLDevice wanted) {
    return tensor.device.device_type == wanted.device_type &&
           tensor.device.device_id == wanted.device_id;
  };
  // All of the host's memory is one device.
  if (device.device_type == kDLCPU)
    check(tensor.device.device_type == kDLCPU, ": got device type ",
          int(tensor.device.device_type), ", expected ", int(kDLCPU),
          " (the CPU)");
  else
    check(isOn(device), ": got device type ", int(tensor.device.device_type),
          " number ", tensor.device.device_id, ", expected ",
          int(device.device_type), " number ", device.device_id,
          " (the context's GPU)");
  check(rank == 0 || tensor.shape, ": its shape is null");
  for (size_t i = 0; i < rank; ++i)
    check(tensor.shape[i] >= 0, ": dim ", i, ": got ", tensor.shape[i],
          ", expected a size");
  int64_t bytes = byteSize(dtype, tensor.shape, rank);
  check(bytes >= 0, ": its size overflows");
  if (tensor.strides && bytes != 0) {
    int64_t dense = 1;
    for (size_t i = rank; i-- > 0; dense *= tensor.shape[i])
      check(tensor.shape[i] == 1 || tensor.strides[i] == dense, ": dim ", i,
            ": got stride ", tensor.strides[i], ", expected ", dense,
            " (dense and row-major)");
  }
  if (!checkData || bytes == 0)
    return;
  check(tensor.data, ": its data is null");
  uintptr_t address = reinterpret_cast<uintptr_t>(tensorData(tensor));
  check(address % elementSize(dtype) == 0,
        ": its data is not aligned to its elements");
  check(device.device_type == kDLCPU || address % kGpuAlignment == 0,
        ": its data is not aligned to ", kGpuAlignment, " bytes");
}

void fp8c::rt::checkTensor(const DLTensor &tensor, DType dtype,
                           const std::vector<int64_t> &dims, const char *role,
                           const char *name) {
  checkLayout(tensor, dtype, dims.size(), role, name, true,
              DLDevice{kDLCPU, 0});
  for (size_t i = 0; i < dims.size(); ++i)
    if (tensor.shape[i] != dims[i])
      fail(FP8RT_MISMATCH, role, " \"", name, "\": dim ", i, ": got ",
           tensor.shape[i], ", expected ", dims[i]);
}
