//===- FP8Attrs.td - Enums and attributes of the fp8 dialect -*- tablegen -*-===//
//
// Part of fp8c, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef FP8C_DIALECT_FP8_FP8ATTRS_TD
#define FP8C_DIALECT_FP8_FP8ATTRS_TD

include "fp8c/Dialect/FP8/FP8Dialect.td"
include "mlir/IR/AttrTypeBase.td"
include "mlir/IR/EnumAttr.td"

class FP8_I32Enum<string name, string summary, list<I32EnumAttrCase> cases>
    : I32EnumAttr<name, summary, cases> {
  let cppNamespace = "::fp8c::fp8";
  let genSpecializedAttr = 0;
}

class FP8_EnumAttr<I32EnumAttr info, string mnemonic> : EnumAttr<FP8_Dialect, info, mnemonic> {
  let assemblyFormat = "$value";
}

def FP8_Overflow : FP8_I32Enum<"Overflow", "what a value beyond the format's range becomes", [
  I32EnumAttrCase<"Saturate", 0, "saturate">,
  I32EnumAttrCase<"IEEE", 1, "ieee">
]>;
def FP8_OverflowAttr : FP8_EnumAttr<FP8_Overflow, "overflow">;

def FP8_ScaleMode : FP8_I32Enum<"ScaleMode", "how a scaled cast applies its scale", [
  I32EnumAttrCase<"Divide", 0, "divide">,
  I32EnumAttrCase<"Multiply", 1, "multiply">
]>;
def FP8_ScaleModeAttr : FP8_EnumAttr<FP8_ScaleMode, "scale_mode">;

def FP8_HistoryReduce : FP8_I32Enum<"HistoryReduce", "how delayed scaling reads its history", [
  I32EnumAttrCase<"Max", 0, "max">,
  I32EnumAttrCase<"MostRecent", 1, "most_recent">
]>;
def FP8_HistoryReduceAttr : FP8_EnumAttr<FP8_HistoryReduce, "history_reduce">;

def FP8_GlobalKind : FP8_I32Enum<"GlobalKind", "what a global is", [
  I32EnumAttrCase<"Weight", 0, "weight">,
  I32EnumAttrCase<"State", 1, "state">
]>;
def FP8_GlobalKindAttr : FP8_EnumAttr<FP8_GlobalKind, "global_kind">;

def FP8_ScalingAttr : AttrDef<FP8_Dialect, "Scaling"> {
  let mnemonic = "scaling";
  let summary = "the block over which one scale holds";
  let description = [{
    One number a dim of the data: the extent of a block in that dim, or `?` for the whole dim. A scale tensor has
    the same rank, and in each dim 1 (whole dim) or ceil(dim / block) elements.

    For data of rank 2: one scale a tensor is `#fp8.scaling<?x?>`, one a row `#fp8.scaling<1x?>`, blocks of 128 in a
    row `#fp8.scaling<1x128>`, tiles `#fp8.scaling<128x128>`, MX `#fp8.scaling<1x32>` with f8E8M0FNU scales.
  }];
  let parameters = (ins ArrayRefParameter<"int64_t">:$block);
  let hasCustomAssemblyFormat = 1;
  let genVerifyDecl = 1;
  let extraClassDeclaration = [{
    /// One scale for all of the data, whatever its rank.
    static ScalingAttr tensor(::mlir::MLIRContext *context, int64_t rank);
    /// One scale for each row, the last dim.
    static ScalingAttr row(::mlir::MLIRContext *context, int64_t rank);
    /// True where the scale has one element.
    bool isTensor() const;
    /// True where each index of all dims but the last has a scale of its own that holds for the whole last dim.
    bool isRow() const;
    int64_t getRank() const { return getBlock().size(); }
  }];
}

#endif // FP8C_DIALECT_FP8_FP8ATTRS_TD
