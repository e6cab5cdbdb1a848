//===- KernelTable.cpp - The kernels of a plan, each once -----------------===//
//
// Part of fp8c, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "KernelTable.h"

#include "fp8c/Dialect/FP8/Transforms/Passes.h"

#include "mlir/IR/IRMapping.h"

using namespace mlir;
using namespace fp8c;
using namespace fp8c::toplan;

Kernel *KernelTable::get(fp8::KernelOp op, ArrayRef<int64_t> unitDims) {
  // One name for all, until it is known that there is no equal one.
  OpBuilder builder(module.getContext());
  OwningOpRef<plan::KernelOp> outlined =
      plan::KernelOp::create(builder, op.getLoc(), "kernel", unitDims);
  IRMapping mapping;
  op.getBody().cloneInto(&outlined->getBody(), mapping);
  outlined->walk(
      [](Operation *inner) { inner->removeDiscardableAttr(fp8::kNodeAttr); });

  std::string text;
  llvm::raw_string_ostream stream(text);
  (*outlined)->print(stream, OpPrintingFlags().useLocalScope());
  std::unique_ptr<Kernel> &known = kernels[text];
  if (known)
    return known.get();

  std::string why;
  FailureOr<codegen::RowProgram> program =
      codegen::RowProgram::analyze(outlined->getBody().front(), unitDims, why);
  if (failed(program)) {
    op.emitError() << "this kernel has no row program: " << why;
    kernels.erase(text);
    return nullptr;
  }
  outlined->setSymName("k" + std::to_string(kernels.size() - 1));
  // Kernels stand in order before the entries, which are made one by one.
  builder.setInsertionPoint(module.getBody(), module.getBody()->end());
  for (Operation &other : *module.getBody())
    if (isa<plan::EntryOp>(other)) {
      builder.setInsertionPoint(&other);
      break;
    }
  plan::KernelOp kernel = outlined.release();
  builder.insert(kernel);
  known = std::make_unique<Kernel>(Kernel{kernel, std::move(*program)});
  return known.get();
}
