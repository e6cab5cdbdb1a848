//===- FP8Ops.td - Operations of the fp8 dialect -----------*- tablegen -*-===//
//
// Part of fp8c, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef FP8C_DIALECT_FP8_FP8OPS_TD
#define FP8C_DIALECT_FP8_FP8OPS_TD

include "fp8c/Dialect/FP8/FP8Attrs.td"
include "mlir/IR/BuiltinAttributes.td"
include "mlir/IR/OpBase.td"
include "mlir/IR/RegionKindInterface.td"
include "mlir/IR/SymbolInterfaces.td"
include "mlir/Interfaces/CastInterfaces.td"
include "mlir/Interfaces/ControlFlowInterfaces.td"
include "mlir/Interfaces/InferTypeOpInterface.td"
include "mlir/Interfaces/SideEffectInterfaces.td"
include "mlir/Interfaces/VectorInterfaces.td"

class FP8_Op<string mnemonic, list<Trait> traits = []> : Op<FP8_Dialect, mnemonic, traits>;

/// Sizes of results from operands, so that no pass computes a value to know its
/// shape.
def FP8_ReifiesShapes
    : DeclareOpInterfaceMethods<ReifyRankedShapedTypeOpInterface, ["reifyResultShapes"]>;

def FP8_F8 : AnyTypeOf<[F8E4M3FN, F8E5M2], "f8E4M3FN or f8E5M2">;
def FP8_Wide : AnyTypeOf<[F32, BF16, F16], "f32, bf16 or f16">;
def FP8_F8Tensor : RankedTensorOf<[FP8_F8]>;
def FP8_WideTensor : RankedTensorOf<[FP8_Wide]>;
def FP8_ScaleTensor : RankedTensorOf<[F32, BF16, F8E8M0FNU]>;
def FP8_F32Tensor : RankedTensorOf<[F32]>;

//===----------------------------------------------------------------------===//
// Casts, amax, scales
//===----------------------------------------------------------------------===//

def FP8_CastOp : FP8_Op<"cast", [
    Pure, Elementwise, Scalarizable, Vectorizable, Tensorizable, SameOperandsAndResultShape,
    DeclareOpInterfaceMethods<VectorUnrollOpInterface>, FP8_ReifiesShapes]> {
  let summary = "rounding to an f8 type, or exact widening from one";
  let description = [{
    Rounds f32, bf16 or f16 to an f8 type once, to nearest with ties to even, from the exact source value; or widens an
    f8 value exactly. Scalars, vectors and tensors. NaN stays NaN, -0 keeps its sign, subnormals are exact.

    A finite value beyond the format's range, and Inf, becomes the largest finite value with the sign (`saturate`) or
    what IEEE rounding gives (`ieee`): NaN for f8E4M3FN, Inf for f8E5M2. `overflow` has no meaning when widening.

    ```mlir
    %q = fp8.cast %x : f32 to f8E4M3FN
    %r = fp8.cast %x overflow = ieee : vector<16xf32> to vector<16xf8E5M2>
    %w = fp8.cast %q : f8E4M3FN to f32
    ```
  }];
  let arguments = (ins AnyType:$input, DefaultValuedAttr<FP8_OverflowAttr, "Overflow::Saturate">:$overflow);
  let results = (outs AnyType:$result);
  let assemblyFormat = "$input (`overflow` `=` `` $overflow^)? attr-dict `:` type($input) `to` type($result)";
  let hasVerifier = 1;
  let hasFolder = 1;
}

def FP8_QuantizeOp : FP8_Op<"quantize", [FP8_ReifiesShapes, Pure]> {
  let summary = "a scaled cast to an f8 type";
  let description = [{
    `result[i] = cast(f32(input[i]) / scale[block(i)])`, or times the scale (`mode = multiply`): the input widened to
    f32 exactly, one f32 division or multiplication rounded to f32, one rounding to the f8 type. A division is never
    turned into a multiplication by a reciprocal.
  }];
  let arguments = (ins
    FP8_WideTensor:$input, FP8_ScaleTensor:$scale, FP8_ScalingAttr:$scaling,
    DefaultValuedAttr<FP8_ScaleModeAttr, "ScaleMode::Divide">:$mode,
    DefaultValuedAttr<FP8_OverflowAttr, "Overflow::Saturate">:$overflow);
  let results = (outs FP8_F8Tensor:$result);
  let assemblyFormat = [{
    $input `by` $scale $scaling (`mode` `=` `` $mode^)? (`overflow` `=` `` $overflow^)? attr-dict
    `:` type($input) `,` type($scale) `->` type($result)
  }];
  let hasVerifier = 1;
}

def FP8_DequantizeOp : FP8_Op<"dequantize", [FP8_ReifiesShapes, Pure]> {
  let summary = "f8 values times their scale";
  let description = [{
    `result[i] = round(input[i] * scale[block(i)])`: the exact product of the widened operands rounded once to the type
    of the scale, then, if the result's type is another, rounded to that.
  }];
  let arguments = (ins FP8_F8Tensor:$input, FP8_ScaleTensor:$scale, FP8_ScalingAttr:$scaling);
  let results = (outs FP8_WideTensor:$result);
  let assemblyFormat = [{
    $input `by` $scale $scaling attr-dict `:` type($input) `,` type($scale) `->` type($result)
  }];
  let hasVerifier = 1;
}

def FP8_AmaxOp : FP8_Op<"amax", [FP8_ReifiesShapes, Pure]> {
  let summary = "largest absolute value of each scaling block";
  let description = [{
    NaN if any element of the block is NaN. The result has the input's element type or f32 (exact either way) and the
    shape of a scale tensor of `scaling`. The amax of an empty block is an error at run time unless the result has no
    elements.
  }];
  let arguments = (ins FP8_WideTensor:$input, FP8_ScalingAttr:$scaling);
  let results = (outs FP8_WideTensor:$result);
  let assemblyFormat = "$input $scaling attr-dict `:` type($input) `->` type($result)";
  let hasVerifier = 1;
}

def FP8_ComputeScaleOp : FP8_Op<"compute_scale", [FP8_ReifiesShapes, Pure]> {
  let summary = "amax to a scale and its reciprocal";
  let description = [{
    `scale = (max / max(amax, eps)) / 2^margin` with `max` the largest finite value of `format`, and its reciprocal
    `inverse = 1 / scale`, each one correctly rounded f32 division. amax below `eps` counts as `eps`; an amax of 0, NaN
    or Inf gives 1.0; an infinite quotient gives FLT_MAX; `pow2` clears the mantissa of the scale. Reciprocals are not
    flushed to zero.
  }];
  let arguments = (ins FP8_F32Tensor:$amax, TypeAttr:$format,
    DefaultValuedAttr<I32Attr, "0">:$margin, DefaultValuedAttr<F32Attr, "0.0f">:$eps, UnitAttr:$pow2);
  let results = (outs FP8_F32Tensor:$scale, FP8_F32Tensor:$inverse);
  let assemblyFormat = "$amax `for` $format (`pow2` $pow2^)? attr-dict `:` type($amax) `->` type($scale) `,` type($inverse)";
  let hasVerifier = 1;
  let extraClassDeclaration = [{
    /// The rule by which an amax becomes a scale, for the host's computeScale.
    ::fp8c::ScaleRule getRule();
  }];
}

def FP8_UpdateHistoryOp : FP8_Op<"update_history", [FP8_ReifiesShapes, Pure]> {
  let summary = "the step of delayed scaling: read, roll, write";
  let description = [{
    Reads `history` (rank 1) by `reduce`: its maximum, NaN-propagating, or the most recent entry, element 0. Then rolls
    the history by one towards higher indices and writes `amax` into element 0: `updated[0] = amax`,
    `updated[i] = history[i - 1]`. The read comes before the write.
  }];
  let arguments = (ins FP8_F32Tensor:$history, FP8_F32Tensor:$amax, FP8_HistoryReduceAttr:$reduce);
  let results = (outs FP8_F32Tensor:$used, FP8_F32Tensor:$updated);
  let assemblyFormat = [{
    $history `,` $amax `reduce` `=` `` $reduce attr-dict `:` type($history) `,` type($amax) `->` type($used) `,` type($updated)
  }];
  let hasVerifier = 1;
}

//===----------------------------------------------------------------------===//
// Products and attention
//===----------------------------------------------------------------------===//

def FP8_ScaledMatmulOp : FP8_Op<"scaled_matmul", [FP8_ReifiesShapes, Pure, AttrSizedOperandSegments]> {
  let summary = "a product of scaled f8 operands";
  let description = [{
    `D = scale_d * (scale_a * scale_b * (A x B) + bias)`, accumulated in f32, rounded once to the type of D.
    `lhs` is (batch..., M, K), `rhs` (batch..., K, N), both of the same rank; a transposed operand is a `linalg.transpose`
    before it (a view later, never a copy by itself). `lhs_scale` and `rhs_scale` are *de*quantisation scales and multiply; `result_scale` is a
    *quantisation* scale, multiplies too, and is legal for an f8 result alone. `amax` of D is taken before `result_scale`.
    `fast_accum` permits an accumulation that is less exact than f32 (as the same flag of `_scaled_mm`).
  }];
  let arguments = (ins
    FP8_F8Tensor:$lhs, FP8_F8Tensor:$rhs, FP8_ScaleTensor:$lhs_scale, FP8_ScaleTensor:$rhs_scale,
    Optional<FP8_WideTensor>:$bias, Optional<FP8_F32Tensor>:$result_scale,
    FP8_ScalingAttr:$lhs_scaling, FP8_ScalingAttr:$rhs_scaling, UnitAttr:$fast_accum);
  let results = (outs AnyRankedTensor:$result, Optional<FP8_F32Tensor>:$amax);
  let assemblyFormat = [{
    `(` $lhs `by` $lhs_scale $lhs_scaling `,` $rhs `by` $rhs_scale $rhs_scaling `)`
    (`bias` `(` $bias^ `:` type($bias) `)`)? (`result_scale` `(` $result_scale^ `:` type($result_scale) `)`)?
    (`fast_accum` $fast_accum^)? attr-dict
    `:` type($lhs) `,` type($lhs_scale) `,` type($rhs) `,` type($rhs_scale) `->` type($result) (`amax` type($amax)^)?
  }];
  let hasVerifier = 1;
}

def FP8_MatmulOp : FP8_Op<"matmul", [FP8_ReifiesShapes, Pure]> {
  let summary = "a product of bf16, f16 or f32 operands";
  let description = [{
    `D = A x B + bias`, accumulated in f32, rounded once to the type of D. `lhs` is (batch..., M, K), `rhs`
    (batch..., K, N), both of the same rank; `bias` is (N). PyTorch's `linear`, `addmm`, `mm`, `bmm` and `matmul` round
    once, after the bias. An f8 weight that is decoded to bf16 before the product (`fp8.dequantize`) stays one byte an
    element in memory: the product decodes it.
  }];
  let arguments = (ins FP8_WideTensor:$lhs, FP8_WideTensor:$rhs, Optional<FP8_WideTensor>:$bias);
  let results = (outs FP8_WideTensor:$result);
  let assemblyFormat = [{
    $lhs `,` $rhs (`bias` `(` $bias^ `:` type($bias) `)`)? attr-dict `:` type($lhs) `,` type($rhs) `->` type($result)
  }];
  let hasVerifier = 1;
}

def FP8_AttentionOp : FP8_Op<"attention", [FP8_ReifiesShapes, Pure]> {
  let summary = "scaled dot-product attention";
  let description = [{
    `softmax(scale * Q x K^T + mask) x V` for `query` (batch, heads, queries, D), `key` (batch, kv_heads, keys, D) and
    `value` (batch, kv_heads, keys, DV); query head h reads key head h / (heads / kv_heads). Products and softmax in f32,
    probabilities may be rounded to the type of V before the second product, one rounding of the output. `mask` is i1
    (true: attend) or additive in a float type, and broadcasts to (batch, heads, queries, keys) from dims of size 1.
    `causal` masks keys after the query, aligned top-left. A row with every key masked gives 0. A declared exception to
    strict: no S x S matrix is written and none of its roundings are promised.
  }];
  let arguments = (ins FP8_WideTensor:$query, FP8_WideTensor:$key, FP8_WideTensor:$value,
    Optional<AnyRankedTensor>:$mask, F64Attr:$scale, UnitAttr:$causal);
  let results = (outs FP8_WideTensor:$result);
  let assemblyFormat = [{
    $query `,` $key `,` $value (`mask` `(` $mask^ `:` type($mask) `)`)? `scale` `=` $scale (`causal` $causal^)?
    attr-dict `:` type($query) `,` type($key) `,` type($value) `->` type($result)
  }];
  let hasVerifier = 1;
}

//===----------------------------------------------------------------------===//
// Kernels
//===----------------------------------------------------------------------===//

def FP8_KernelOp : FP8_Op<"kernel", [
    Pure, IsolatedFromAbove, SingleBlockImplicitTerminator<"YieldOp">]> {
  let summary = "a region that becomes one launch";
  let description = [{
    Captures tensors and indices explicitly; its block has one argument an operand, of the same type. The body is linalg
    and fp8 on tensors (no views) over one iteration space: outer parallel dims and an inner part over which its
    reductions run. It yields tensors, each written once.

    ```mlir
    %q, %s = fp8.kernel (%a = %x : tensor<?x64xbf16>, %n = %m : index) -> (tensor<?x64xf8E4M3FN>, tensor<?x1xf32>) {
      ...
      fp8.yield %0, %1 : tensor<?x64xf8E4M3FN>, tensor<?x1xf32>
    }
    ```
  }];
  let arguments = (ins Variadic<AnyTypeOf<[AnyRankedTensor, Index]>>:$captures);
  let results = (outs Variadic<AnyRankedTensor>:$results);
  let regions = (region SizedRegion<1>:$body);
  let hasCustomAssemblyFormat = 1;
  let hasRegionVerifier = 1;
}

def FP8_YieldOp : FP8_Op<"yield", [Pure, ReturnLike, Terminator]> {
  let summary = "what a kernel writes";
  let description = "Ends the body of an `fp8.kernel` or a `plan.kernel`; one operand a result of the kernel.";
  let arguments = (ins Variadic<AnyRankedTensor>:$operands);
  let assemblyFormat = "attr-dict ($operands^ `:` type($operands))?";
  let builders = [OpBuilder<(ins), [{ build($_builder, $_state, ::mlir::ValueRange()); }]>];
}

//===----------------------------------------------------------------------===//
// Symbols, weights and state
//===----------------------------------------------------------------------===//

def FP8_SymbolOp : FP8_Op<"symbol", [Pure]> {
  let summary = "a size that is known at run time";
  let description = [{
    An index with a name, its least and largest value (both inclusive; no largest: unbounded) and a number that divides
    it. Equal names are equal values. All dynamic dims are arith expressions over symbols.
  }];
  let arguments = (ins StrAttr:$name, DefaultValuedAttr<I64Attr, "0">:$min, OptionalAttr<I64Attr>:$max,
    DefaultValuedAttr<I64Attr, "1">:$multiple);
  let results = (outs Index:$result);
  let assemblyFormat = "$name `min` `=` $min (`max` `=` $max^)? (`multiple` `=` $multiple^)? attr-dict";
  let hasVerifier = 1;
}

def FP8_CheckOp : FP8_Op<"check"> {
  let summary = "a condition on sizes that a call must meet";
  let description = [{
    Evaluated when sizes are known, before anything runs; `message` names the inputs and the rule.
  }];
  let arguments = (ins I1:$condition, StrAttr:$message);
  let assemblyFormat = "$condition `,` $message attr-dict";
}

def FP8_GlobalOp : FP8_Op<"global", [Symbol]> {
  let summary = "a weight or a state buffer of the model";
  let description = [{
    A weight is never written by `@forward`; it comes from the archive (`source`, an entry's name, with `offset` in
    bytes) or is written by `@prepare` (no `source`). State keeps its value from one call to the next; its first value is that of its source.
    Row-major and dense.
  }];
  let arguments = (ins SymbolNameAttr:$sym_name, OptionalAttr<StrAttr>:$sym_visibility, FP8_GlobalKindAttr:$kind,
    TypeAttrOf<AnyStaticShapeTensor>:$type, OptionalAttr<StrAttr>:$source, DefaultValuedAttr<I64Attr, "0">:$offset);
  let assemblyFormat = [{
    ($sym_visibility^)? `` $kind $sym_name (`source` `=` $source^)? (`offset` `=` $offset^)? attr-dict `:` $type
  }];
  let hasVerifier = 1;
}

def FP8_GlobalLoadOp : FP8_Op<"global_load", [
    DeclareOpInterfaceMethods<SymbolUserOpInterface>, DeclareOpInterfaceMethods<MemoryEffectsOpInterface>]> {
  let summary = "the value of a weight or state buffer";
  let description = [{
    The value at this point of the program: loads and stores of one global keep their order. Loads of a weight have no
    effect, so equal ones merge.
  }];
  let arguments = (ins FlatSymbolRefAttr:$global, UnitAttr:$constant);
  let results = (outs AnyStaticShapeTensor:$result);
  let assemblyFormat = "(`constant` $constant^)? $global attr-dict `:` type($result)";
}

def FP8_GlobalStoreOp : FP8_Op<"global_store", [DeclareOpInterfaceMethods<SymbolUserOpInterface>]> {
  let summary = "a new value for a state buffer, or for a weight in `@prepare`";
  let description = "Visible to loads after it, and to the next call.";
  let arguments = (ins AnyStaticShapeTensor:$value, FlatSymbolRefAttr:$global);
  let assemblyFormat = "$value `,` $global attr-dict `:` type($value)";
  let hasVerifier = 0;
}

#endif // FP8C_DIALECT_FP8_FP8OPS_TD
