//===- HostTensor.h - Tensors that files and calls share --------*- C++ -*-===//
//
// Part of fp8c, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef FP8C_TOOLS_FP8_RUN_HOSTTENSOR_H
#define FP8C_TOOLS_FP8_RUN_HOSTTENSOR_H

#include "Runtime/DType.h"
#include "Runtime/Error.h"
#include "Runtime/Safetensors.h"
#include "fp8c/Compare/Tensor.h"

#include <map>
#include <string>
#include <vector>

namespace fp8c::run {

using compare::DType;

/// A dense tensor with memory of its own.
struct HostTensor {
  DType dtype = DType::F32;
  std::vector<int64_t> dims;
  std::vector<char> data;

  /// Of zeros.
  static HostTensor make(DType dtype, std::vector<int64_t> dims);
  compare::TensorView view() const;
  /// As the C interface takes it; refers to this tensor.
  DLTensor toDLPack();
};

using TensorMap = std::map<std::string, HostTensor>;

/// What is wrong with the command line or a file; told to the user.
template <typename... Parts> [[noreturn]] void fail(const Parts &...parts) {
  rt::fail(FP8RT_INVALID_ARGUMENT, parts...);
}

/// All tensors of a safetensors file.
TensorMap readTensors(const std::string &path,
                      rt::UnknownTypes unknown = rt::UnknownTypes::Refuse);
/// Writes a safetensors file, whole or not at all.
void writeTensors(const std::string &path, const TensorMap &tensors);
/// The array of a .npy file, as a tensor of type `dtype`: the file's element
/// type must be that, or raw bits of its width (u1, u2, V1, V2) for types that
/// numpy lacks. `what` names the input in messages.
HostTensor readNpy(const std::string &path, DType dtype,
                   const std::string &what);
/// The type that DLPack's stands for.
DType fromDLPack(DLDataType type);

} // namespace fp8c::run

#endif // FP8C_TOOLS_FP8_RUN_HOSTTENSOR_H
