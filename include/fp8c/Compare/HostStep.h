//===- HostStep.h - A step's values in the host's memory --------*- C++ -*-===//
//
// Part of fp8c, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef FP8C_COMPARE_HOSTSTEP_H
#define FP8C_COMPARE_HOSTSTEP_H

#include "fp8c/Compare/Tensor.h"
#include "fp8c/Runtime/Observer.h"

namespace fp8c::compare {

/// A value as a tensor where it is.
TensorView view(const rt::ObservedValue &value);

/// A step as the host can read it: of a device with its own memory, its values
/// are copies.
class HostStep {
public:
  explicit HostStep(const rt::ObservedStep &step);
  const rt::ObservedStep &get() const { return copy; }

private:
  rt::ObservedStep copy;
  std::vector<std::vector<char>> memory;
};

/// Writes the elements of `source` over those of a value of the running step,
/// wherever it is.
void storeElements(const rt::ObservedStep &step, const rt::ObservedValue &value,
                   const TensorView &source);

} // namespace fp8c::compare

#endif // FP8C_COMPARE_HOSTSTEP_H
