//===- Report.h - What fp8-run prints ---------------------------*- C++ -*-===//
//
// Part of fp8c, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef FP8C_TOOLS_FP8_RUN_REPORT_H
#define FP8C_TOOLS_FP8_RUN_REPORT_H

#include "Options.h"
#include "Session.h"
#include "fp8c/Compare/Lockstep.h"

namespace fp8c::run {

/// The signature: inputs, outputs, states, symbols.
void printSignature(const Session &session);

/// A row a tensor of `expected`: how far `got` is from it. False if one is
/// farther than `maxDistance`, missing, or expected to be all zero.
bool printDistances(const TensorMap &got, const TensorMap &expected,
                    double maxDistance, bool quiet);

/// A row a compared result, what has no counterpart, and the counts. False if
/// a row missed its bar or nothing was compared.
bool printLockstep(const compare::Lockstep &lockstep, const Options &options);

/// Keeps the last value of everything that a call writes.
class Recorder : public rt::Observer {
public:
  void afterStep(const rt::ObservedStep &step, double seconds) override;
  /// By trace keys (Lockstep.h).
  TensorMap values;
};

} // namespace fp8c::run

#endif // FP8C_TOOLS_FP8_RUN_REPORT_H
