//===- Safetensors.h - Reading and writing safetensors ----------*- C++ -*-===//
//
// Part of fp8c, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef FP8C_LIB_RUNTIME_SAFETENSORS_H
#define FP8C_LIB_RUNTIME_SAFETENSORS_H

#include "DType.h"
#include "Error.h"

#include <string>
#include <unordered_map>
#include <vector>

namespace fp8c::rt {

/// A tensor in a safetensors file, in place.
struct StoredTensor {
  DType dtype;
  std::vector<int64_t> dims;
  Bytes data;
};

/// What becomes of tensors of types unknown here.
enum class UnknownTypes { Refuse, LeaveOut };

/// Reads the header of a safetensors file that is in memory; the tensors' data
/// is checked to lie side by side and to be all of `file`. `what` names the
/// file in messages.
std::unordered_map<std::string, StoredTensor>
readSafetensors(Bytes file, const std::string &what,
                UnknownTypes unknown = UnknownTypes::Refuse);

/// All bytes of a file, or of stdin for "-". What is neither a regular file nor
/// a pipe may have no end, and is refused.
std::vector<char> readWholeFile(const std::string &path);

/// A tensor to write.
struct TensorToStore {
  std::string name;
  DType dtype;
  std::vector<int64_t> dims;
  const void *data;
};

/// Writes a file, whole or not at all (written beside and renamed).
void writeSafetensors(const std::string &path,
                      const std::vector<TensorToStore> &tensors);

/// The number of bytes of a dense tensor, or -1 when that overflows or a dim is
/// negative.
int64_t byteSize(DType dtype, const int64_t *dims, size_t rank);

} // namespace fp8c::rt

#endif // FP8C_LIB_RUNTIME_SAFETENSORS_H
