//===- LaunchChoices.h - Choices of a launch's shape ------------*- C++ -*-===//
//
// Part of fp8c, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef FP8C_LIB_CODEGEN_LAUNCHCHOICES_H
#define FP8C_LIB_CODEGEN_LAUNCHCHOICES_H

#include "RowReads.h"

#include "fp8c/Codegen/LaunchShape.h"

namespace fp8c::codegen {

/// What is chosen for kernels of rows of up to `upTo` elements.
struct RowDefaults {
  /// Whether vectors are read that rows share (two or more), and rows of more
  /// than one tensor.
  bool modulates, pairs;
  /// The reductions that a kernel has at least.
  unsigned reductions;
  int64_t upTo;
  /// The elements of a row for each thread, about.
  double perThread;
  /// The most rows of a task; 1: no rows ahead.
  unsigned rows;
  /// Threads of a multiprocessor that registers are to suffice for: fewer leave
  /// the assembler more registers, with which it starts all loads first. 0: its
  /// choice.
  unsigned resident;
  /// Where a task is a row: reads all operands before the first reduction.
  bool readsAhead;
  /// Up to how many rows a cluster shares each.
  unsigned few;
};

/// The defaults of a kernel of rows.
const RowDefaults &getRowDefaults(const RowProgram &program,
                                  const RowReads &reads);

/// The choices that the op of a program asks for.
class Choices {
public:
  explicit Choices(const RowProgram &program)
      : given(program.getBody()
                  ->getParentOp()
                  ->getAttrOfType<mlir::DictionaryAttr>(kLaunchAttr)) {}

  std::optional<int64_t> get(llvm::StringRef name) const {
    auto number =
        given ? given.getAs<mlir::IntegerAttr>(name) : mlir::IntegerAttr();
    return number ? std::optional(number.getInt()) : std::nullopt;
  }
  /// True unless another number is asked for.
  bool allows(llvm::StringRef name, int64_t number) const {
    return get(name).value_or(number) == number;
  }
  template <typename T> void apply(llvm::StringRef name, T &field) const {
    if (std::optional<int64_t> number = get(name))
      field = static_cast<T>(*number);
  }

private:
  mlir::DictionaryAttr given;
};

} // namespace fp8c::codegen

#endif // FP8C_LIB_CODEGEN_LAUNCHCHOICES_H
