//===- KeptSymbols.cpp - Symbols of arguments stay ------------------------===//
//
// Part of fp8c, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "KeptSymbols.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSet.h"

using namespace mlir;
using namespace fp8c;

/// The names in the dims of a function's arguments.
static llvm::StringSet<> getNames(func::FuncOp func) {
  llvm::StringSet<> names;
  for (unsigned i = 0; i < func.getNumArguments(); ++i) {
    auto dims = func.getArgAttrOfType<ArrayAttr>(i, fp8::kDimsAttr);
    if (!dims)
      continue;
    for (Attribute dim : dims) {
      auto text = dyn_cast<StringAttr>(dim);
      StringRef rest = text ? text.getValue() : "";
      auto isWord = [](char c) { return llvm::isAlnum(c) || c == '_'; };
      while (!(rest = rest.drop_until(isWord)).empty()) {
        names.insert(rest.take_while(isWord));
        rest = rest.drop_while(isWord);
      }
    }
  }
  return names;
}

KeptSymbols::KeptSymbols(func::FuncOp func) : func(func) {
  if (func.isExternal())
    return;
  llvm::StringSet<> names = getNames(func);
  for (auto symbol : func.getOps<fp8::SymbolOp>())
    if (names.erase(symbol.getName()))
      kept.push_back(symbol.clone());
}

KeptSymbols::~KeptSymbols() {
  llvm::StringSet<> present;
  if (!kept.empty())
    for (auto symbol : func.getOps<fp8::SymbolOp>())
      present.insert(symbol.getName());
  for (OwningOpRef<fp8::SymbolOp> &symbol : llvm::reverse(kept))
    if (present.insert(symbol->getName()).second)
      func.front().push_front(symbol.release());
}
