//===- Sizes.h - Symbols and size expressions of a call ---------*- C++ -*-===//
//
// Part of fp8c, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef FP8C_LIB_RUNTIME_SIZES_H
#define FP8C_LIB_RUNTIME_SIZES_H

#include "Program.h"

#include <vector>

namespace fp8c::rt {

/// The values of all expressions of a plan for one set of symbols.
class Sizes {
public:
  explicit Sizes(const Program &program);

  /// Sets a symbol; `origin` is the dim that gave it, for messages. evaluate()
  /// must follow.
  void setSymbol(uint32_t symbol, int64_t value, std::string origin = "");
  bool isSymbolKnown(uint32_t symbol) const { return symbolKnown[symbol]; }
  int64_t symbol(uint32_t symbol) const { return symbolValues[symbol]; }
  /// Computes every expression whose symbols are known.
  void evaluate();
  bool isKnown(uint32_t expr) const { return states[expr] == State::Known; }
  /// True when a symbol in it is not known yet.
  bool isOpen(uint32_t expr) const { return states[expr] == State::Open; }
  /// The value; throws when there is none (a symbol that no input determines,
  /// a division by 0, an overflow). `what` is for the message.
  int64_t get(uint32_t expr, const char *what) const;
  /// Throws when a symbol that is known breaks its range or multiple.
  void checkRange(uint32_t symbol) const;
  /// Throws when a check of the plan does not hold. Checks of symbols that are
  /// not known are left out: they belong to another entry point.
  void checkGuards() const;

private:
  /// Why an expression has a value, or none.
  enum class State : uint8_t { Open, Known, DividesByZero, Overflows };
  State compute(const wire::Expr &e, int64_t &out) const;
  /// The symbols in `expr` with their values and origins: "s0 = 3 (dim 0 of
  /// input "x")".
  std::string describeSymbols(uint32_t expr) const;

  const Program &program;
  std::vector<int64_t> symbolValues;
  std::vector<bool> symbolKnown;
  std::vector<std::string> symbolOrigins;
  std::vector<int64_t> values;
  std::vector<State> states;
};

/// Finds the symbols from the inputs' dims (`dims`: all inputs' dims one after
/// the other), checks ranges, multiples, every dim and every guard.
Sizes solveSizes(const Program &program, const EntryPoint &entry,
                 const int64_t *dims);

} // namespace fp8c::rt

#endif // FP8C_LIB_RUNTIME_SIZES_H
