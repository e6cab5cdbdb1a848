//===- Sweeps.h - Which way commands go through memory ----------*- C++ -*-===//
//
// Part of fp8c, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef FP8C_LIB_CONVERSION_KERNELSTOPLAN_SWEEPS_H
#define FP8C_LIB_CONVERSION_KERNELSTOPLAN_SWEEPS_H

#include "Layout.h"

#include "llvm/ADT/DenseMap.h"

namespace fp8c::toplan {

/// Which way the commands so far went through their buffers. What the last one
/// did last is in the cache still, so a kernel begins there: it goes the other
/// way. Libraries go from the first row to the last.
class Sweeps {
public:
  /// Whether a kernel that reads these should go backwards.
  bool isBackwards(llvm::ArrayRef<Layout> reads) const;
  /// A command that reads or writes these has gone through them.
  void note(llvm::ArrayRef<Layout> operands, bool backwards);

private:
  struct Sweep {
    unsigned number;
    bool backwards;
  };
  llvm::DenseMap<mlir::Value, Sweep> last;
  unsigned numCommands = 0;
};

} // namespace fp8c::toplan

#endif // FP8C_LIB_CONVERSION_KERNELSTOPLAN_SWEEPS_H
