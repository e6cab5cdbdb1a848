//===- Report.cpp - What fp8-run prints -----------------------------------===//
//
// Part of fp8c, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Report.h"

#include "fp8c/Compare/Distance.h"
#include "fp8c/Compare/HostStep.h"

#include <cinttypes>
#include <cmath>
#include <cstdio>

using namespace fp8c;
using namespace fp8c::run;

//===----------------------------------------------------------------------===//
// Signature
//===----------------------------------------------------------------------===//

static void printSlots(const char *title, const std::vector<Slot> &slots) {
  for (const Slot &slot : slots) {
    std::string dims;
    for (const std::string &text : slot.dimTexts)
      dims += (dims.empty() ? "" : ", ") + text;
    const char *type = slot.kind == FP8RT_TENSOR    ? rt::dtypeName(slot.dtype)
                       : slot.kind == FP8RT_INTEGER ? "integer"
                                                    : "none";
    std::printf("%-7s %-32s %-10s [%s]\n", title, slot.name.c_str(), type,
                dims.c_str());
  }
}

void run::printSignature(const Session &session) {
  printSlots("input", session.inputs);
  printSlots("output", session.outputs);
  printSlots("state", session.states);
  for (const Symbol &symbol : session.symbols)
    std::printf("%-7s %-32s %s\n", "symbol", symbol.name.c_str(),
                symbol.describeRange().c_str());
}

//===----------------------------------------------------------------------===//
// Distances
//===----------------------------------------------------------------------===//

bool run::printDistances(const TensorMap &got, const TensorMap &expected,
                         double maxDistance, bool quiet) {
  bool passed = !expected.empty();
  if (!quiet)
    std::printf("%-32s %-16s %10s %10s %11s %8s %9s  %s\n", "tensor", "shape",
                "relative", "largest", "cosine", "equal", "NaN", "");
  for (const auto &[name, want] : expected) {
    auto found = got.find(name);
    const std::string shape = compare::formatDims(want.dims);
    if (found == got.end() || found->second.dims != want.dims) {
      passed = false;
      const std::string verdict =
          found == got.end() ? "nothing of that name was computed"
                             : "got " + compare::formatDims(found->second.dims);
      std::printf("%-32s %-16s %10s %10s %11s %8s %9s  MISS: %s\n",
                  name.c_str(), shape.c_str(), "-", "-", "-", "-", "-",
                  verdict.c_str());
      continue;
    }
    std::string verdict = "ok";
    const compare::Distance d =
        compare::measure(found->second.view(), want.view());
    if (d.expectedAllZero)
      verdict = "MISS: all expected values are 0, which proves nothing";
    else if (!(d.relative <= maxDistance))
      verdict = "MISS: farther than " + std::to_string(maxDistance);
    const bool ok = verdict == "ok";
    passed &= ok;
    if (quiet && ok)
      continue;
    std::printf("%-32s %-16s %10.3e %10.3e %11.8f %7.2f%% %4" PRId64
                "/%-4" PRId64 "  %s\n",
                name.c_str(), shape.c_str(), d.relative, d.largest, d.cosine,
                100 * d.equal, d.gotNaN, d.expectedNaN, verdict.c_str());
  }
  if (expected.empty())
    std::printf("nothing is expected: the file has no tensors\n");
  return passed;
}

//===----------------------------------------------------------------------===//
// Lock-step
//===----------------------------------------------------------------------===//

static const char *getBarName(compare::Bar bar) {
  switch (bar) {
  case compare::Bar::Exact:
    return "exact";
  case compare::Bar::Kernel:
    return "rounded";
  case compare::Bar::Product:
    return "product";
  case compare::Bar::Attention:
    return "attention";
  }
  return "";
}

bool run::printLockstep(const compare::Lockstep &lockstep,
                        const Options &options) {
  const auto &rows = lockstep.getRows();
  if (!options.quiet)
    std::printf("%5s %-20s %-32s %-8s %-14s %-9s %9s %6s %10s  %s\n", "step",
                "command", "node", "type", "shape", "bar", "equal", "ulp",
                "distance", "");
  size_t missed = 0;
  for (const compare::LockstepRow &row : rows) {
    missed += !row.passed;
    if (options.quiet && row.passed)
      continue;
    std::printf("%5u %-20s %-32s %-8s %-14s %-9s %8.3f%% %6" PRId64
                " %10.3e  %s%s\n",
                row.step, row.command.c_str(), row.node.c_str(),
                rt::dtypeName(row.dtype), compare::formatDims(row.dims).c_str(),
                getBarName(row.bar), 100 * row.equal, row.worst, row.relative,
                row.passed ? "ok" : "MISS: ", row.reason.c_str());
    if (!row.passed)
      std::printf("      in %s at %s\n", row.path.c_str(),
                  row.location.c_str());
  }
  if (!options.quiet)
    for (const compare::Unmatched &row : lockstep.getUnmatched())
      std::printf("%5u %-20s no counterpart: %s%s%s%s\n", row.step,
                  row.command.c_str(), row.reason.c_str(),
                  row.name.empty() ? "" : " (", row.name.c_str(),
                  row.name.empty() ? "" : ")");
  std::printf("lock-step: %zu results compared, %zu missed their bar, %zu "
              "without a counterpart\n",
              rows.size(), missed, lockstep.getUnmatched().size());
  return missed == 0 && !rows.empty();
}

void Recorder::afterStep(const rt::ObservedStep &step, double) {
  const compare::HostStep host(step);
  for (const rt::ObservedValue &value : host.get().writes) {
    const std::string key = compare::getTraceKey(host.get(), value);
    if (key.empty())
      continue;
    HostTensor &tensor = values[key];
    tensor = HostTensor::make(value.dtype, value.dims);
    const compare::TensorView to = tensor.view();
    compare::copyElements(compare::view(value), to, tensor.data.data());
  }
}
