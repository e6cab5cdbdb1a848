//===- Lockstep.h - Command by command against a trace ----------*- C++ -*-===//
//
// Part of fp8c, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A plan runs with PyTorch's values: before a command, each value that it reads
// and that the trace has is replaced by the trace's; after it, what it wrote is
// compared and replaced. So every command is judged by itself, with the bars of
// docs/numerics.md section 5.
//
//===----------------------------------------------------------------------===//

#ifndef FP8C_COMPARE_LOCKSTEP_H
#define FP8C_COMPARE_LOCKSTEP_H

#include "fp8c/Compare/Tensor.h"
#include "fp8c/Runtime/Observer.h"

#include <functional>
#include <set>
#include <string>

namespace fp8c::compare {

/// What a command is held to.
enum class Bar {
  /// Every byte.
  Exact,
  /// Kernels with sums or approximated functions.
  Kernel,
  Product,
  Attention
};

/// One compared result of one command.
struct LockstepRow {
  uint32_t step;
  /// The graph node whose value was compared.
  std::string node;
  /// The kernel's name, "matmul", "attention", "copy" or "fill".
  std::string command;
  std::string path;
  std::string location;
  Bar bar;
  DType dtype;
  std::vector<int64_t> dims;
  /// Share of elements with equal bytes.
  double equal = 1;
  /// The largest difference in units in the last place; -1 where a number met
  /// a NaN or the type has no order.
  int64_t worst = 0;
  /// Relative Frobenius distance to the trace; for attention the error against
  /// f64 as a multiple of PyTorch's.
  double relative = 0;
  bool passed = true;
  /// Why it did not pass.
  std::string reason;
};

/// A result that was not compared.
struct Unmatched {
  uint32_t step;
  std::string command;
  /// What the command stands for.
  std::string name;
  /// Why: no node, not in the trace, another type or number of elements, or of
  /// a state that earlier calls left with other values.
  std::string reason;
};

/// What a trace has a value of a step under: its node, or where it stands for
/// none what the step that writes it stands for, and which of its nameless
/// values it is; plans for different targets share that. Empty where it is
/// nothing.
std::string getTraceKey(const rt::ObservedStep &step,
                        const rt::ObservedValue &value);

/// Set it on a context for one call, then read the rows.
class Lockstep : public rt::Observer {
public:
  /// Gives the traced value of a node, or null. Of NODE.exact it is the value
  /// that NODE has when sums and functions are exact, where that is another.
  using Trace = std::function<const TensorView *(std::string_view node)>;

  /// `guessed` are the states that begin with what earlier calls here left in
  /// them, since the reference does not tell. Attention promises no bits, so
  /// where there is some a result of such a state is compared only if it is
  /// right anyway.
  explicit Lockstep(Trace trace,
                    std::set<std::string, std::less<>> guessed = {})
      : trace(std::move(trace)), guessed(std::move(guessed)) {}

  void beforeStep(const rt::ObservedStep &step) override;
  void afterStep(const rt::ObservedStep &step, double seconds) override;

  const std::vector<LockstepRow> &getRows() const { return rows; }
  const std::vector<Unmatched> &getUnmatched() const { return unmatched; }
  /// The nodes that were compared or injected.
  const std::set<std::string> &getUsedNodes() const { return used; }

private:
  /// The traced value of the node that `value` is, if it fits; else null and
  /// why.
  const TensorView *match(const rt::ObservedStep &step,
                          const rt::ObservedValue &value, std::string &why);
  LockstepRow compareResult(const rt::ObservedStep &step,
                            const rt::ObservedValue &value,
                            const TensorView &expected);

  /// Whether the step reads a state that may have drifted from the reference's.
  bool readsDrifted(const rt::ObservedStep &step) const;

  Trace trace;
  std::set<std::string, std::less<>> guessed;
  std::vector<LockstepRow> rows;
  std::vector<Unmatched> unmatched;
  std::set<std::string> used;
};

} // namespace fp8c::compare

#endif // FP8C_COMPARE_LOCKSTEP_H
