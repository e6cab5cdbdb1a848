//===- Comparison.h - Runs in lock-step with a reference --------*- C++ -*-===//
//
// Part of fp8c, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef FP8C_TOOLS_FP8_RUN_COMPARISON_H
#define FP8C_TOOLS_FP8_RUN_COMPARISON_H

#include "HostTensor.h"
#include "Options.h"
#include "Session.h"

#include <vector>

namespace fp8c::run {

/// What lock-step compares with.
struct Reference {
  /// Values of the last call by trace keys (Lockstep.h).
  TensorMap trace;
  /// What the state held before it, as far as it is known.
  TensorMap buffers;
};

/// PyTorch's: its trace has buffers under the names of the graph's
/// placeholders.
Reference readReference(const Session &session, const Options &options);

/// What another device computes; `initial` is the state that calls begin with.
Reference recordReference(Session &session, std::vector<HostTensor> &arguments,
                          const TensorMap &initial, const Options &options);

/// Runs the calls again, the last one in lock-step with the reference, and
/// prints it; false if a result missed its bar.
bool runLockstep(Session &session, std::vector<HostTensor> &arguments,
                 const TensorMap &initial, const Reference &reference,
                 const Options &options);

} // namespace fp8c::run

#endif // FP8C_TOOLS_FP8_RUN_COMPARISON_H
