//===- Families.cpp - The families of operators ---------------------------===//
//
// Part of fp8c, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Families.h"

#include "Common.h"

void fp8c::import::registerAllFamilies(OpTable &table) {
  addArithmeticOps(table);
  addAttentionOps(table);
  addCastOps(table);
  addConstantOps(table);
  addConvolutionOps(table);
  addDivisionOps(table);
  addFP8Ops(table);
  addIndexingOps(table);
  addJoinOps(table);
  addLogicOps(table);
  addNormOps(table);
  addProductOps(table);
  addQuantizeOps(table);
  addReductionOps(table);
  addResampleOps(table);
  addScanOps(table);
  addShapeOps(table);
  addSliceOps(table);
  addSoftmaxOps(table);
  addUnaryOps(table);
  addViewOps(table);
}
