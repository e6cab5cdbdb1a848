//===- PlanOps.td - The plan dialect -----------------------*- tablegen -*-===//
//
// Part of fp8c, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef FP8C_DIALECT_PLAN_PLANOPS_TD
#define FP8C_DIALECT_PLAN_PLANOPS_TD

include "mlir/IR/BuiltinAttributes.td"
include "mlir/IR/DialectBase.td"
include "mlir/IR/EnumAttr.td"
include "mlir/IR/OpBase.td"
include "mlir/IR/RegionKindInterface.td"
include "mlir/IR/SymbolInterfaces.td"
include "mlir/Interfaces/SideEffectInterfaces.td"

def Plan_Dialect : Dialect {
  let name = "plan";
  let cppNamespace = "::fp8c::plan";
  let summary = "What the runtime does, command by command";
  let description = [{
    The runtime executes these commands; it decides nothing. Buffers are memrefs whose sizes, strides and offsets are
    index values: arith expressions over `fp8.symbol`. Commands run in order and name what they read and write. Buffer ops
    (`input`, `output`, `weight`, `state`, `alloc`, `view`) say where values are and do nothing.

    Every op that makes a buffer may carry `node`, the name of the graph node whose value the buffer holds.
  }];
  let dependentDialects = ["::fp8c::fp8::FP8Dialect", "::mlir::memref::MemRefDialect"];
}

class Plan_Op<string mnemonic, list<Trait> traits = []> : Op<Plan_Dialect, mnemonic, traits>;

//===----------------------------------------------------------------------===//
// Structure
//===----------------------------------------------------------------------===//

def Plan_KernelOp : Plan_Op<"kernel", [Symbol, IsolatedFromAbove, SingleBlock, NoTerminator]> {
  let summary = "the body of a generated kernel";
  let description = [{
    What `fp8.kernel` held: block arguments are the captures (tensors, then indices), the terminator `fp8.yield` gives
    the results. `unit_dims` has an entry an operand (captured tensors, then results): the dim whose stride is known to
    be 1, or -1. Launches pass operands in that order. On a GPU a block has `threads` threads, and the grid at most
    `resident` blocks a multiprocessor unless that is 0; both are 0 on the CPU. A `dependent` kernel may be launched before
    the one before it has ended, and waits for that by itself (programmatic dependent launch). Where `cluster` is not 0,
    launches of at most `cluster_tasks` tasks have a cluster of that many blocks for each, which share it. A kernel whose
    `product` is not -1 also has joined forms, in which that operand is a product's result that is not in memory yet.
  }];
  let arguments = (ins SymbolNameAttr:$sym_name, DenseI64ArrayAttr:$unit_dims,
    DefaultValuedAttr<I32Attr, "0">:$threads, DefaultValuedAttr<I32Attr, "0">:$resident, UnitAttr:$dependent,
    DefaultValuedAttr<I32Attr, "0">:$cluster, DefaultValuedAttr<I32Attr, "0">:$cluster_tasks,
    DefaultValuedAttr<I32Attr, "-1">:$product);
  let regions = (region SizedRegion<1>:$body);
  let assemblyFormat = "$sym_name `unit_dims` `=` $unit_dims attr-dict-with-keyword $body";
  let extraClassDeclaration = [{
    /// Whether the results are the same bytes in any correct implementation:
    /// no floating-point sum or product over a dim, whose order is free, and no
    /// function that is approximated within some ulps.
    bool isExact();
  }];
  let hasRegionVerifier = 1;
}

def Plan_EntryOp : Plan_Op<"entry", [Symbol, IsolatedFromAbove, SingleBlock, NoTerminator]> {
  let summary = "an entry point: `@forward`, `@prepare`";
  let description = "Buffers, index expressions and commands in one block.";
  let arguments = (ins SymbolNameAttr:$sym_name);
  let regions = (region SizedRegion<1>:$body);
  let assemblyFormat = "$sym_name attr-dict-with-keyword $body";
}

//===----------------------------------------------------------------------===//
// Buffers
//===----------------------------------------------------------------------===//

class Plan_BufferOp<string mnemonic, dag head, list<Trait> traits = [Pure]> : Plan_Op<mnemonic, traits> {
  let arguments = !con(head, (ins Variadic<Index>:$sizes, OptionalAttr<StrAttr>:$node));
  let results = (outs AnyMemRef:$result);
}

def Plan_InputOp : Plan_BufferOp<"input", (ins StrAttr:$name), []> {
  let summary = "a tensor that the caller gives";
  let description = "`sizes` are the dynamic dims; a call checks the caller's tensor against them.";
  let assemblyFormat = "$name (`[` $sizes^ `]`)? (`node` $node^)? attr-dict `:` type($result)";
  let hasVerifier = 1;
}

def Plan_OutputOp : Plan_BufferOp<"output", (ins StrAttr:$name), []> {
  let summary = "a tensor that the caller gets, in memory of the caller's";
  let description = "Dense and row-major; `sizes` are the dynamic dims.";
  let assemblyFormat = "$name (`[` $sizes^ `]`)? (`node` $node^)? attr-dict `:` type($result)";
  let hasVerifier = 1;
}

def Plan_OutputIndexOp : Plan_Op<"output_index"> {
  let summary = "an integer that the caller gets";
  let description = "Of sizes alone, so known before anything runs.";
  let arguments = (ins StrAttr:$name, Index:$value);
  let assemblyFormat = "$name `,` $value attr-dict";
}

def Plan_OutputNoneOp : Plan_Op<"output_none"> {
  let summary = "a `None` among the outputs";
  let description = "Keeps the place in the order of outputs.";
  let arguments = (ins StrAttr:$name);
  let assemblyFormat = "$name attr-dict";
}

def Plan_GlobalOp : Plan_Op<"global", [Pure, DeclareOpInterfaceMethods<SymbolUserOpInterface>]> {
  let summary = "the memory of a weight or of a state buffer";
  let description = "Refers to the module's `fp8.global`.";
  let arguments = (ins FlatSymbolRefAttr:$global, OptionalAttr<StrAttr>:$node);
  let results = (outs AnyMemRef:$result);
  let assemblyFormat = "$global (`node` $node^)? attr-dict `:` type($result)";
}

def Plan_AllocOp : Plan_BufferOp<"alloc", (ins), []> {
  let summary = "memory of the context, reused when its last reader is done";
  let description = "Dense and row-major; live from its first to its last use among the commands, views included.";
  let assemblyFormat = "(`[` $sizes^ `]`)? (`node` $node^)? attr-dict `:` type($result)";
  let hasVerifier = 1;
}

def Plan_ViewOp : Plan_Op<"view", [AttrSizedOperandSegments]> {
  let summary = "another shape of a buffer's memory";
  let description = [{
    Every size, stride (in elements) and the offset (in elements, added to the source's) as an index value, static ones
    too, so that one place says it all.
  }];
  let arguments = (ins AnyMemRef:$source, Index:$offset, Variadic<Index>:$sizes, Variadic<Index>:$strides,
    OptionalAttr<StrAttr>:$node);
  let results = (outs AnyMemRef:$result);
  let assemblyFormat = [{
    $source `offset` $offset `sizes` `[` $sizes `]` `strides` `[` $strides `]` (`node` $node^)? attr-dict
    `:` type($source) `to` type($result)
  }];
  let hasVerifier = 1;
}

//===----------------------------------------------------------------------===//
// Commands
//===----------------------------------------------------------------------===//

def Plan_LaunchOp : Plan_Op<"launch", [AttrSizedOperandSegments, DeclareOpInterfaceMethods<SymbolUserOpInterface>]> {
  let summary = "run a generated kernel";
  let description = [{
    `sizes` is the size block that the kernel reads: the extents of its iteration space, then for each operand (reads,
    then writes) the strides of all its dims, then the captured indices. `tasks` units of work may be distributed in any
    partition; `scratch` bytes belong to one thread. On a GPU a task is a block's and
    `scratch` is its dynamic shared memory. `zeros` are the ends of padded rows that the kernel writes too. With `joins` the
    launch and the product before it, whose result it alone reads, may run as one: the product's operands, `joins`, stay
    what they are until the launch has run.
  }];
  let arguments = (ins FlatSymbolRefAttr:$kernel, Variadic<AnyMemRef>:$reads, Variadic<AnyMemRef>:$writes,
    Variadic<AnyMemRef>:$zeros, Variadic<AnyMemRef>:$joins, Variadic<Index>:$sizes, Index:$tasks, Index:$scratch);
  let assemblyFormat = [{
    $kernel `reads` `(` $reads `)` `writes` `(` $writes `)` (`zeros` `(` $zeros^ `)`)? (`joins` `(` $joins^ `)`)?
    `sizes` `[` $sizes `]` `tasks` $tasks `scratch` $scratch
    attr-dict `:` `(` type($reads) `)` `->` `(` type($writes) `)` (`zeros` type($zeros)^)? (`joins` type($joins)^)?
  }];
}

def Plan_MatmulOp : Plan_Op<"matmul", [AttrSizedOperandSegments]> {
  let summary = "a product";
  let description = [{
    `d = result_scale * (a_scale * b_scale * (a x b) + bias)` as `fp8.scaled_matmul` and `fp8.matmul`; `a` (batch..., M, K),
    `b` (batch..., K, N), `d` (batch..., M, N). Blocks are the extents over which a scale holds in the last two dims, 0
    for the whole dim. With `b_decode`, `b` is f8 and `round(b * b_decode)` in `b_decode`'s type is multiplied. `a_padded`
    is `a` with the zeros that follow each of its rows, for a library that wants longer ones.
  }];
  let arguments = (ins AnyMemRef:$a, AnyMemRef:$b, AnyMemRef:$d, Optional<AnyMemRef>:$bias,
    Optional<AnyMemRef>:$a_scale, Optional<AnyMemRef>:$b_scale, Optional<AnyMemRef>:$result_scale,
    Optional<AnyMemRef>:$amax, Optional<AnyMemRef>:$b_decode, Optional<AnyMemRef>:$a_padded,
    DenseI64ArrayAttr:$a_block, DenseI64ArrayAttr:$b_block, UnitAttr:$fast_accum);
  let assemblyFormat = [{
    `(` $a `,` $b `)` `into` $d (`bias` $bias^)? (`a_scale` $a_scale^)? (`b_scale` $b_scale^)?
    (`result_scale` $result_scale^)? (`amax` $amax^)? (`b_decode` $b_decode^)? (`a_padded` $a_padded^)? `a_block` `=` $a_block `b_block` `=` $b_block
    (`fast_accum` $fast_accum^)? attr-dict
    `:` type($a) `,` type($b) `->` type($d) (`bias` type($bias)^)? (`a_scale` type($a_scale)^)?
    (`b_scale` type($b_scale)^)? (`result_scale` type($result_scale)^)? (`amax` type($amax)^)? (`b_decode` type($b_decode)^)?
    (`a_padded` type($a_padded)^)?
  }];
  let hasVerifier = 1;
}

def Plan_AttentionOp : Plan_Op<"attention"> {
  let summary = "scaled dot-product attention";
  let description = "As `fp8.attention`; `mask` has rank 4 and strides of 0 where it broadcasts.";
  let arguments = (ins AnyMemRef:$query, AnyMemRef:$key, AnyMemRef:$value, AnyMemRef:$out, Optional<AnyMemRef>:$mask,
    F64Attr:$scale, UnitAttr:$causal);
  let assemblyFormat = [{
    $query `,` $key `,` $value `into` $out (`mask` $mask^)? `scale` `=` $scale (`causal` $causal^)? attr-dict
    `:` type($query) `,` type($key) `,` type($value) `->` type($out) (`mask` type($mask)^)?
  }];
  let hasVerifier = 1;
}

def Plan_CopyOp : Plan_Op<"copy"> {
  let summary = "elements of one buffer into another of the same shape";
  let description = "Any strides; the two do not overlap.";
  let arguments = (ins AnyMemRef:$source, AnyMemRef:$target);
  let assemblyFormat = "$source `to` $target attr-dict `:` type($source) `to` type($target)";
  let hasVerifier = 1;
}

def Plan_FillOp : Plan_Op<"fill"> {
  let summary = "one bit pattern into every element";
  let description = "The low bytes of `pattern`, as many as an element has.";
  let arguments = (ins AnyMemRef:$target, I64Attr:$pattern);
  let assemblyFormat = "$target `with` $pattern attr-dict `:` type($target)";
}

#endif // FP8C_DIALECT_PLAN_PLANOPS_TD
