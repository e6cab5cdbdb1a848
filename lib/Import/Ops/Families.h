//===- Families.h - The families of operators -------------------*- C++ -*-===//
//
// Part of fp8c, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef FP8C_LIB_IMPORT_OPS_FAMILIES_H
#define FP8C_LIB_IMPORT_OPS_FAMILIES_H

#include "fp8c/Import/OpTable.h"

namespace fp8c::import {

/// Adds the operators of every family; each family is one file here.
void registerAllFamilies(OpTable &table);

} // namespace fp8c::import

#endif // FP8C_LIB_IMPORT_OPS_FAMILIES_H
