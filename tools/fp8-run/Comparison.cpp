//===- Comparison.cpp - Runs in lock-step with a reference ----------------===//
//
// Part of fp8c, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Comparison.h"

#include "Arguments.h"
#include "Report.h"

#include "fp8c/Compare/Lockstep.h"

#include <algorithm>
#include <set>

using namespace fp8c;
using namespace fp8c::run;

Reference run::readReference(const Session &session, const Options &options) {
  // What the graph has of other types no command computes.
  Reference reference{
      readTensors(options.expectTrace, rt::UnknownTypes::LeaveOut), {}};
  for (const Slot &slot : session.states) {
    std::string node = "b_" + slot.name;
    std::replace(node.begin(), node.end(), '.', '_');
    auto found = reference.trace.find(node);
    if (found != reference.trace.end())
      reference.buffers[slot.name] = found->second;
  }
  return reference;
}

Reference run::recordReference(Session &session,
                               std::vector<HostTensor> &arguments,
                               const TensorMap &initial,
                               const Options &options) {
  Results results;
  session.setState(initial);
  for (int64_t i = 0; i + 1 < options.calls; ++i)
    session.call(arguments, results);
  Reference reference{{}, session.getState()};
  Recorder recorder;
  session.setObserver(&recorder);
  session.call(arguments, results);
  session.setObserver(nullptr);
  reference.trace = std::move(recorder.values);
  return reference;
}

bool run::runLockstep(Session &session, std::vector<HostTensor> &arguments,
                      const TensorMap &initial, const Reference &reference,
                      const Options &options) {
  std::map<std::string, compare::TensorView, std::less<>> views;
  for (const auto &[name, tensor] : reference.trace)
    views.emplace(name, tensor.view());
  Results results;
  session.setState(initial);
  for (int64_t i = 0; i + 1 < options.calls; ++i)
    session.call(arguments, results);
  // The last call begins with the reference's buffers too.
  TensorMap state = session.getState();
  std::set<std::string, std::less<>> guessed;
  for (auto &[name, tensor] : state) {
    auto found = reference.buffers.find(name);
    if (found != reference.buffers.end() && found->second.dims == tensor.dims &&
        found->second.dtype == tensor.dtype)
      tensor = found->second;
    else if (options.calls > 1)
      guessed.insert(name);
  }
  session.setState(state);
  compare::Lockstep lockstep(
      [&](std::string_view node) {
        auto found = views.find(node);
        return found == views.end() ? nullptr : &found->second;
      },
      std::move(guessed));
  session.setObserver(&lockstep);
  session.call(arguments, results);
  session.setObserver(nullptr);
  bool passed = printLockstep(lockstep, options);
  if (!options.expectState.empty())
    passed &= printDistances(
        session.getState(), readTensors(options.expectState), 0, options.quiet);
  return passed;
}
