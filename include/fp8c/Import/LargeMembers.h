//===- LargeMembers.h - JSON that is parsed item by item --------*- C++ -*-===//
//
// Part of fp8c, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef FP8C_IMPORT_LARGEMEMBERS_H
#define FP8C_IMPORT_LARGEMEMBERS_H

#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"

#include <string>
#include <vector>

namespace fp8c::import {

/// An array or object in a JSON text, and the text of each of its items: the
/// values of the array, or the `"key": value` of the object.
struct LargeMember {
  /// The keys that lead to it.
  llvm::SmallVector<llvm::StringRef> path;
  std::vector<llvm::StringRef> items;
};

/// Cuts the items of `members` out of a JSON text; the rest, where they are
/// empty, is returned. A tree of llvm::json takes some 5 KB an object, so
/// models' graphs are parsed item by item. Whatever the text is, it is JSON if
/// the rest and all items are. An error if it nests deeper than `maxDepth`,
/// since llvm::json recurses, or has a member twice.
llvm::Expected<std::string>
cutLargeMembers(llvm::StringRef text, llvm::ArrayRef<LargeMember *> members,
                unsigned maxDepth);

} // namespace fp8c::import

#endif // FP8C_IMPORT_LARGEMEMBERS_H
