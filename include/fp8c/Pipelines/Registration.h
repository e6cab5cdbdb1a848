//===- Registration.h - All dialects, passes and pipelines ------*- C++ -*-===//
//
// Part of fp8c, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef FP8C_PIPELINES_REGISTRATION_H
#define FP8C_PIPELINES_REGISTRATION_H

namespace mlir {
class DialectRegistry;
} // namespace mlir

namespace fp8c {

/// Adds every dialect that a level of fp8c uses, with the interfaces that its
/// passes need.
void registerAllDialects(mlir::DialectRegistry &registry);

/// Registers fp8c's passes and pipelines and the upstream passes that they are
/// bisected with.
void registerAllPasses();

} // namespace fp8c

#endif // FP8C_PIPELINES_REGISTRATION_H
