//===- Plan.h - The plan dialect --------------------------------*- C++ -*-===//
//
// Part of fp8c, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef FP8C_DIALECT_PLAN_PLAN_H
#define FP8C_DIALECT_PLAN_PLAN_H

#include "fp8c/Dialect/FP8/FP8.h"

#include "mlir/Dialect/MemRef/IR/MemRef.h"

#include "fp8c/Dialect/Plan/PlanDialect.h.inc"

#define GET_OP_CLASSES
#include "fp8c/Dialect/Plan/PlanOps.h.inc"

#endif // FP8C_DIALECT_PLAN_PLAN_H
