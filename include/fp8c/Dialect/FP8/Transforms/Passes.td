//===- Passes.td - Passes on the fp8 dialect ---------------*- tablegen -*-===//
//
// Part of fp8c, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef FP8C_DIALECT_FP8_TRANSFORMS_PASSES_TD
#define FP8C_DIALECT_FP8_TRANSFORMS_PASSES_TD

include "mlir/Pass/PassBase.td"

def ExpandScaledOpsPass : Pass<"fp8-expand-scaled-ops"> {
  let summary = "fp8.quantize and its kin as linalg on scalars";
  let description = [{
    Rewrites `fp8.quantize`, `fp8.dequantize`, `fp8.amax`, `fp8.compute_scale`
    and `fp8.update_history` into `linalg.generic` whose bodies are `fp8.cast`
    and arith, with exactly the roundings that the ops state. Inside and
    outside of `fp8.kernel`. A node name (`fp8.node`) moves to the op that now
    produces the value.

    Bit-exact.
  }];
  let options = [
    Option<"keepTensorAmax", "keep-tensor-amax", "bool", "false",
           "Leave fp8.amax over a whole tensor, for kernels that accumulate it "
           "atomically">,
    Option<"keepDecoded", "keep-decoded", "bool", "false",
           "Leave fp8.dequantize that products alone read: they decode it">
  ];
  let dependentDialects = [
    "::mlir::arith::ArithDialect", "::mlir::linalg::LinalgDialect",
    "::mlir::math::MathDialect", "::mlir::tensor::TensorDialect"
  ];
}

def VerifyTargetPass : Pass<"fp8-verify-target"> {
  let summary = "what the target cannot compute";
  let description = [{
    Asks the target table (`lib/Target`) about each op and reports every one
    that the target cannot compute at all. Casts are never among them: where the
    hardware has no conversion they are emulated.

    Changes nothing.
  }];
  let options = [
    Option<"target", "target", "std::string", "\"cpu\"",
           "The name of the target, as `cpu` or `sm_90a`">
  ];
}

#endif // FP8C_DIALECT_FP8_TRANSFORMS_PASSES_TD
