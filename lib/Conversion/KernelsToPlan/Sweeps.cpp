//===- Sweeps.cpp - Which way commands go through memory ------------------===//
//
// Part of fp8c, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Sweeps.h"

#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "llvm/ADT/STLExtras.h"

using namespace mlir;
using namespace fp8c;
using namespace fp8c::toplan;

/// The dims of more than one element.
static unsigned countDims(const Layout &layout) {
  return llvm::count_if(layout.sizes, [](OpFoldResult size) {
    return !isConstantIntValue(size, 1);
  });
}

bool Sweeps::isBackwards(ArrayRef<Layout> reads) const {
  // The large ones count, those of all dims; of these, the last one touched.
  unsigned most = 1;
  for (const Layout &read : reads)
    most = std::max(most, countDims(read));
  const Sweep *latest = nullptr;
  for (const Layout &read : reads) {
    auto it = last.find(read.root);
    if (it != last.end() && countDims(read) == most &&
        (!latest || it->second.number > latest->number))
      latest = &it->second;
  }
  return latest && !latest->backwards;
}

void Sweeps::note(ArrayRef<Layout> operands, bool backwards) {
  ++numCommands;
  for (const Layout &operand : operands)
    last[operand.root] = {numCommands, backwards};
}
