//===- FP8Dialect.td - The fp8 dialect ---------------------*- tablegen -*-===//
//
// Part of fp8c, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef FP8C_DIALECT_FP8_FP8DIALECT_TD
#define FP8C_DIALECT_FP8_FP8DIALECT_TD

include "mlir/IR/DialectBase.td"

def FP8_Dialect : Dialect {
  let name = "fp8";
  let cppNamespace = "::fp8c::fp8";
  let summary = "Scaled FP8 products, casts and amax, as a model means them";
  let description = [{
    What a model with FP8 means, before anything is decided about how it runs. Values are builtin tensors with
    builtin f8 types. Scales are ordinary tensors: the block over which one scale holds is an attribute
    (`#fp8.scaling`), and a scale tensor has the rank of its data with each dim 1 or ceil(dim / block).
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::tensor::TensorDialect"];
  let useDefaultAttributePrinterParser = 1;
  let hasConstantMaterializer = 1;
  let extraClassDeclaration = [{
    void registerAttributes();
  }];
}

#endif // FP8C_DIALECT_FP8_FP8DIALECT_TD
