//===- KernelTable.cpp - The kernels of a plan, each once -----------------===//
//
// Part of fp8c, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "KernelTable.h"

#include "fp8c/Codegen/LaunchShape.h"
#include "fp8c/Dialect/FP8/Transforms/Passes.h"

#include "mlir/IR/IRMapping.h"

using namespace mlir;
using namespace fp8c;
using namespace fp8c::toplan;

/// Appends what makes a region what it is: attributes and types are unique, so
/// their addresses stand for them; values are numbered.
static void appendKey(Region &region, DenseMap<Value, uintptr_t> &numbers,
                      SmallVectorImpl<uintptr_t> &key) {
  auto add = [&](auto part) {
    key.push_back(reinterpret_cast<uintptr_t>(part.getAsOpaquePointer()));
  };
  auto define = [&](ValueRange values) {
    key.push_back(values.size());
    for (Value value : values) {
      add(value.getType());
      numbers.try_emplace(value, numbers.size());
    }
  };
  key.push_back(region.getBlocks().size());
  for (Block &block : region) {
    define(block.getArguments());
    for (Operation &op : block) {
      add(op.getName());
      NamedAttrList attributes(op.getAttrDictionary());
      attributes.erase(fp8::kNodeAttr);
      add(attributes.getDictionary(op.getContext()));
      key.push_back(op.getNumOperands());
      for (Value operand : op.getOperands())
        key.push_back(numbers.lookup(operand));
      define(op.getResults());
      key.push_back(op.getNumRegions());
      for (Region &inner : op.getRegions())
        appendKey(inner, numbers, key);
    }
    // A name is no address: the end of the block.
    key.push_back(0);
  }
}

Kernel *KernelTable::get(fp8::KernelOp op, Region &body,
                         ArrayRef<int64_t> unitDims, DictionaryAttr own,
                         DenseI64ArrayAttr zeros) {
  SmallVector<uintptr_t, 0> key(unitDims);
  key.push_back(reinterpret_cast<uintptr_t>(own.getAsOpaquePointer()));
  key.push_back(reinterpret_cast<uintptr_t>(zeros.getAsOpaquePointer()));
  DenseMap<Value, uintptr_t> numbers;
  appendKey(body, numbers, key);
  StringRef text(reinterpret_cast<const char *>(key.data()),
                 key.size() * sizeof(uintptr_t));
  std::unique_ptr<Kernel> &known = kernels[text];
  if (known)
    return known.get();

  OpBuilder builder(module.getContext());
  OwningOpRef<plan::KernelOp> outlined =
      plan::KernelOp::create(builder, op.getLoc(), "kernel", unitDims);
  NamedAttrList launch(own);
  if (choices)
    for (NamedAttribute choice : choices)
      launch.set(choice.getName(), choice.getValue());
  if (!launch.empty())
    outlined.get()->setDiscardableAttr(
        codegen::kLaunchAttr, launch.getDictionary(builder.getContext()));
  if (zeros)
    outlined.get()->setDiscardableAttr(codegen::kZerosAttr, zeros);
  IRMapping mapping;
  body.cloneInto(&outlined->getBody(), mapping);
  outlined->walk(
      [](Operation *inner) { inner->removeDiscardableAttr(fp8::kNodeAttr); });
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
