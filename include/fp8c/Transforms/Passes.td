//===- Passes.td - From the graph level to kernels ---------*- tablegen -*-===//
//
// Part of fp8c, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef FP8C_TRANSFORMS_PASSES_TD
#define FP8C_TRANSFORMS_PASSES_TD

include "mlir/Pass/PassBase.td"

def CanonicalizeGraphPass : Pass<"fp8-canonicalize-graph", "::mlir::func::FuncOp"> {
  let summary = "Fold, merge equal ops and drop dead ones, keeping node names";
  let description = [{
    Folds ops, merges equal ones and erases dead ones. A graph node's name (`fp8.node`) stays on the op that gives its
    value; ops are equal whatever their names are, and the first keeps its own. Bit-exact.
  }];
}

def FlattenProductsPass : Pass<"fp8-flatten-products", "::mlir::func::FuncOp"> {
  let summary = "One product over all rows where every batch has the same right side";
  let description = [{
    Core ATen spells a linear layer of a tensor with several outer dims as a batched product whose weight is expanded to a
    copy a batch. It becomes one product with the weight as it is, over the rows of all batches. Bit-exact: each element is
    the sum of the same terms in the same order.

    ```mlir
    %0 = linalg.generic ... ins(%w : tensor<64x32xbf16>) -> tensor<?x64x32xbf16>
    %1 = fp8.matmul %x, %0 : tensor<?x?x64xbf16>, tensor<?x64x32xbf16> -> tensor<?x?x32xbf16>
    ```
    becomes
    ```mlir
    %0 = tensor.collapse_shape %x [[0, 1], [2]] : tensor<?x?x64xbf16> into tensor<?x64xbf16>
    %1 = fp8.matmul %0, %w : tensor<?x64xbf16>, tensor<64x32xbf16> -> tensor<?x32xbf16>
    %2 = tensor.expand_shape %1 [[0, 1], [2]] output_shape [%b, %m, 32] : tensor<?x32xbf16> into tensor<?x?x32xbf16>
    ```
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::tensor::TensorDialect", "::fp8c::fp8::FP8Dialect"];
}

def PropagateReshapesPass : Pass<"fp8-propagate-reshapes", "::mlir::func::FuncOp"> {
  let summary = "Move reshapes and transposes out of the way of fusion";
  let description = [{
    Writes each `linalg.generic` over the finest common iteration space of all that it is connected with by elementwise
    accesses, reshapes and transposes, without dims of size 1. Views are left where products, slices and results want
    a tensor as the graph has it. Bit-exact: reductions add in the same order.

    ```mlir
    %0 = tensor.collapse_shape %x [[0, 1], [2]] : tensor<?x?x64xbf16> into tensor<?x64xbf16>
    %1 = linalg.generic ... ins(%0) ... -> tensor<?x64xf8E4M3FN>
    ```
    becomes
    ```mlir
    %0 = linalg.generic ... ins(%x) ... -> tensor<?x?x64xf8E4M3FN>
    %1 = tensor.collapse_shape %0 [[0, 1], [2]] : tensor<?x?x64xf8E4M3FN> into tensor<?x64xf8E4M3FN>
    ```
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::tensor::TensorDialect",
    "::mlir::linalg::LinalgDialect", "::fp8c::fp8::FP8Dialect"];
}

def RecognizeAttentionPass : Pass<"fp8-recognize-attention", "::mlir::func::FuncOp"> {
  let summary = "Find attention as core ATen spells it";
  let description = [{
    Products, mask, softmax and zeros for empty rows in f32, between widened bf16 or f16 operands and a rounded result,
    become one `fp8.attention`. Not bit-exact: the op may round the exponentials to the type of V. So it is done only
    where q, k, v and the result have one 16-bit type, and each is a remark.
  }];
  let dependentDialects = ["::fp8c::fp8::FP8Dialect"];
}

def RecognizeScaledCastsPass : Pass<"fp8-recognize-scaled-casts", "::mlir::func::FuncOp"> {
  let summary = "Find scaled casts by structure and dtype";
  let description = [{
    A cast of a value that is divided by or multiplied with a scale in f32 becomes `fp8.quantize`, an f8 value that is
    widened and multiplied with its scale `fp8.dequantize`, a maximum of absolute values `fp8.amax`; the maximum of a
    history, its roll by one and the write of a new amax become `fp8.update_history`. A clamp to the largest finite values
    before a cast is the cast's saturation. Only where the bytes are equal for every input, NaN and Inf included; what no op
    represents exactly stays as it is spelled, and a remark says why. Arithmetic that makes a scale of an amax stays too:
    `fp8.compute_scale` gives 1 for an amax of NaN or Inf. Bit-exact.
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::tensor::TensorDialect",
    "::mlir::linalg::LinalgDialect", "::fp8c::fp8::FP8Dialect"];
}

def PrepareWeightsPass : Pass<"fp8-prepare-weights", "::mlir::ModuleOp"> {
  let summary = "Move what depends on weights alone to @prepare";
  let description = [{
    Computation whose only inputs are weights moves to `func @prepare`, which stores it into new weights. An f8 weight
    is never made wider: its decoding stays with the product. Bit-exact: the same ops run, once.
  }];
  let dependentDialects = ["::mlir::func::FuncDialect", "::fp8c::fp8::FP8Dialect"];
}

def FuseCastsPass : Pass<"fp8-fuse-casts", "::mlir::func::FuncOp"> {
  let summary = "Form kernels by iteration space";
  let description = [{
    Puts every `linalg.generic` and `fp8.amax` into an `fp8.kernel`. Producers and consumers join one kernel where the
    loops of the smaller are loops of the larger, the reductions run over nested sets of loops, and every op has all
    loops that no reduction runs over. What they compute does not matter. A tensor-wide amax sits with its producer; what
    needs its result is in a later kernel. Conversions and cheap ops on a smaller domain are computed again in each kernel
    that reads them. Each decision is a remark with its reason. Bit-exact.
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::tensor::TensorDialect",
    "::mlir::linalg::LinalgDialect", "::fp8c::fp8::FP8Dialect"];
}

def RecomputeValuesPass : Pass<"fp8-recompute-values", "::mlir::func::FuncOp"> {
  let summary = "Compute values again where that moves fewer bytes";
  let description = [{
    A kernel result that only other kernels read, element by element, is computed again in each of them where what that reads
    (inputs of the kernel, and what it writes anyway, as far as they have all dims of the value) is fewer bytes than writing
    the value and reading it. So a cast whose scale needs the amax of the whole tensor costs no tensor in between. Only for
    targets whose kernels wait for memory. Each decision is a remark. Bit-exact: kernels with the same `fp8.same_sums` get
    the same threads a row, each with the same elements, so that sums are added in the same order.
  }];
  let options = [Option<"target", "target", "std::string", "\"cpu\"", "who runs the kernels">];
  let dependentDialects = ["::fp8c::fp8::FP8Dialect"];
}

def JoinScalarKernelsPass : Pass<"fp8-join-scalar-kernels", "::mlir::func::FuncOp"> {
  let summary = "Compute single elements in the kernels that read them";
  let description = [{
    A kernel without loops, as makes a scale from the amax of a tensor, joins the kernel that reads its result first: that one
    computes it in each thread, and writes it once where others read it too. Only for targets where a launch takes longer than
    that. Each decision is a remark. Bit-exact.
  }];
  let options = [Option<"target", "target", "std::string", "\"cpu\"", "who runs the kernels">];
  let dependentDialects = ["::fp8c::fp8::FP8Dialect"];
}

#endif // FP8C_TRANSFORMS_PASSES_TD
