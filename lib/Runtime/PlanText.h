//===- PlanText.h - A plan as text ------------------------------*- C++ -*-===//
//
// Part of fp8c, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef FP8C_LIB_RUNTIME_PLANTEXT_H
#define FP8C_LIB_RUNTIME_PLANTEXT_H

#include "DType.h"

#include <string>

namespace fp8c::rt {

/// An expression over symbols, "17*s1". Where subexpressions are nested deeper
/// than messages want, "..." stands for them.
std::string exprText(const wire::Plan &plan, uint32_t expr);

/// All that a verified plan says, for people: a line for each symbol, check,
/// weight, state, kernel, value and command. Expressions that are long have
/// names (e12) and a line of their own.
std::string planText(const wire::Plan &plan);

} // namespace fp8c::rt

#endif // FP8C_LIB_RUNTIME_PLANTEXT_H
