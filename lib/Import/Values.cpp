//===- Values.cpp - The values of a graph while it is imported ------------===//
//
// Part of fp8c, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Values.h"

using namespace fp8c::import;
using llvm::StringRef;
using mlir::failure;
using mlir::LogicalResult;
using mlir::success;

void Values::defineBase(StringRef name, Result value) {
  NamedValue &entry = values[name];
  entry = NamedValue();
  entry.value = value;
}

void Values::defineView(StringRef name, Result value, StringRef parent,
                        const Node *node, const OpEntry *entry,
                        unsigned output) {
  NamedValue made;
  made.value = value;
  made.parent = parent.str();
  made.seen = values[parent].version;
  made.node = node;
  made.entry = entry;
  made.output = output;
  made.depth = values[parent].depth + 1;
  values[name] = std::move(made);
}

Result Values::get(StringRef name) {
  auto it = values.find(name);
  if (it == values.end())
    return {};
  NamedValue &entry = it->second;
  if (entry.parent.empty())
    return entry.value;
  Result parent = get(entry.parent);
  unsigned version = values[entry.parent].version;
  if (version == entry.seen)
    return entry.value;
  entry.value = parent;
  if (entry.node) {
    auto made = replay.replay(*entry.node, *entry.entry, entry.output);
    // The map may have grown meanwhile, but its entries stay where they are.
    entry.value = mlir::succeeded(made) ? *made : Result();
  }
  entry.seen = version;
  ++entry.version;
  return entry.value;
}

LogicalResult Values::write(StringRef name, mlir::Value value) {
  NamedValue &entry = values[name];
  if (!entry.parent.empty()) {
    mlir::Value written = value;
    if (entry.node) {
      auto base = llvm::dyn_cast_if_present<mlir::Value>(get(entry.parent));
      if (!base)
        return failure();
      auto scattered =
          replay.scatter(*entry.node, *entry.entry, entry.output, base, value);
      if (mlir::failed(scattered))
        return failure();
      written = *scattered;
    }
    if (mlir::failed(write(entry.parent, written)))
      return failure();
    entry.seen = values[entry.parent].version;
  }
  entry.value = value;
  ++entry.version;
  return success();
}

StringRef Values::getBase(StringRef name) const {
  const NamedValue *entry = &values.at(name);
  while (!entry->parent.empty()) {
    name = entry->parent;
    entry = &values.at(name);
  }
  return name;
}
