//===- Benchmark.h - Times of calls and of their steps ----------*- C++ -*-===//
//
// Part of fp8c, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef FP8C_TOOLS_FP8_RUN_BENCHMARK_H
#define FP8C_TOOLS_FP8_RUN_BENCHMARK_H

#include "Session.h"

namespace fp8c::run {

/// Calls for a second and prints a call's time from its start to its end, and
/// on a device of its own also the device's time (calls one behind the other,
/// over several sets of inputs and outputs, in one graph unless --graph=off)
/// and the host's.
void benchmarkSession(Session &session, std::vector<HostTensor> &arguments,
                      Results &results, double loadSeconds,
                      const Options &options);

/// Prints a row a step: time, bytes, share of what the device reaches at best.
void profileSession(Session &session, std::vector<HostTensor> &arguments,
                    Results &results);

} // namespace fp8c::run

#endif // FP8C_TOOLS_FP8_RUN_BENCHMARK_H
