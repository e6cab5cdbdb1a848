//===- Program.h - A loaded plan with its weights ---------------*- C++ -*-===//
//
// Part of fp8c, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef FP8C_LIB_RUNTIME_PROGRAM_H
#define FP8C_LIB_RUNTIME_PROGRAM_H

#include "Package.h"

#include <atomic>
#include <map>
#include <memory>
#include <mutex>
#include <vector>

namespace fp8c::rt {

class Device;
class LoadedProgram;

/// "No value" in the plan's optional fields.
inline constexpr uint32_t kNone = 0xFFFFFFFF;

/// Checks everything about a plan that does not depend on sizes: after it every
/// index is in range, expressions and views are acyclic, commands have operands
/// of the kinds and types they need, nothing writes to an input or a weight,
/// and no arena value is used outside its lifetime. Throws an Error.
const wire::Plan *verifyPlan(Bytes bytes);

/// The value whose memory a value lies in: itself or its view's root.
uint32_t rootOf(const wire::Plan &plan, uint32_t value);

/// Calls `visit(value, isWrite)` for every value that a step touches, those of
/// its command and of its lists of reads and writes.
template <typename Fn> void forEachOperand(const wire::Step &step, Fn visit) {
  for (uint32_t value : *step.reads())
    visit(value, false);
  for (uint32_t value : *step.writes())
    visit(value, true);
  auto optional = [&](uint32_t value, bool isWrite) {
    if (value != kNone)
      visit(value, isWrite);
  };
  switch (step.command_type()) {
  case wire::Command::Launch:
    for (uint32_t value : *step.command_as_Launch()->operands())
      visit(value, false);
    break;
  case wire::Command::Matmul: {
    const wire::Matmul &m = *step.command_as_Matmul();
    visit(m.a(), false);
    visit(m.b(), false);
    visit(m.d(), true);
    for (uint32_t value : {m.bias(), m.a_scale(), m.b_scale(), m.result_scale(),
                           m.b_decode(), m.a_padded()})
      optional(value, false);
    optional(m.amax(), true);
    break;
  }
  case wire::Command::Attention: {
    const wire::Attention &a = *step.command_as_Attention();
    visit(a.query(), false);
    visit(a.key(), false);
    visit(a.value(), false);
    optional(a.mask(), false);
    visit(a.out(), true);
    break;
  }
  case wire::Command::Copy:
    visit(step.command_as_Copy()->src(), false);
    visit(step.command_as_Copy()->dst(), true);
    break;
  case wire::Command::Fill:
    visit(step.command_as_Fill()->dst(), true);
    break;
  case wire::Command::NONE:
    break;
  }
}

/// An input, output, state or weight as the signature shows it.
struct SignatureItem {
  std::string name;
  fp8rt_kind_t kind;
  DType dtype;
  /// -1 where an extent depends on symbols.
  std::vector<int64_t> dims;
  std::vector<std::string> texts;
  /// The same for C.
  std::vector<const char *> textPointers;
};

/// An entry point with its signature.
struct EntryPoint {
  std::string name;
  const wire::EntryPoint *wire;
  std::vector<SignatureItem> inputs;
  std::vector<SignatureItem> outputs;
};

/// A package that was loaded: immutable but for weights that are bound before
/// the first context.
class Program : public std::enable_shared_from_this<Program> {
public:
  /// `plan` is one of the package's.
  Program(std::shared_ptr<const Package> package, const Package::Plan &plan);
  ~Program();

  const wire::Plan &plan() const { return *wirePlan; }
  /// The entry point of that name; null means "forward".
  const EntryPoint &entry(const char *name) const;
  /// The weight's memory; null while it is not bound.
  const void *weightData(size_t weight) const { return weightPointers[weight]; }
  /// Uses the caller's memory for a weight; false if there is none of the name.
  bool bindWeight(const char *name, const DLTensor &tensor);
  /// From now on weights stay as they are.
  void freeze() { frozen = true; }
  const Package &package() const { return *source; }
  /// What the plan was made for.
  std::string target() const { return plan().target()->str(); }
  /// The program in a device's memory; contexts of a device share it.
  std::shared_ptr<LoadedProgram> loadOn(Device &device);
  /// The plan as text (PlanText.h), made when it is first asked for.
  const std::string &text();

  std::vector<EntryPoint> entries;
  std::vector<SignatureItem> states;
  std::vector<SignatureItem> weights;

private:
  void readWeights();
  SignatureItem describe(const char *name, uint32_t value) const;

  std::shared_ptr<const Package> source;
  const wire::Plan *wirePlan;
  std::vector<const void *> weightPointers;
  /// Copies of weights whose data is not aligned to their elements.
  std::vector<std::unique_ptr<std::max_align_t[]>> copies;
  std::mutex mutex;
  std::string planAsText;
  /// By the device's name.
  std::map<std::string, std::weak_ptr<LoadedProgram>> loaded;
  std::atomic<bool> frozen{false};
};

/// The plans of a package: programs of one signature, for different targets.
class Programs {
public:
  explicit Programs(std::unique_ptr<Package> package);

  /// The one whose signature and states stand for all.
  const std::shared_ptr<Program> &first() const { return programs.front(); }
  /// The one that runs best on a device. Throws if none does.
  const std::shared_ptr<Program> &forDevice(const Device &device) const;
  /// The one for a target. Throws if there is none.
  const std::shared_ptr<Program> &forTarget(const char *target) const;
  /// "cpu, sm_90a".
  const std::string &targets() const { return targetText; }
  void bindWeight(const char *name, const DLTensor &tensor);
  void freeze();
  /// Whether a state of that program fits.
  bool owns(const Program &program) const {
    return &program == programs.front().get();
  }

private:
  std::vector<std::shared_ptr<Program>> programs;
  std::string targetText;
};

} // namespace fp8c::rt

#endif // FP8C_LIB_RUNTIME_PROGRAM_H
