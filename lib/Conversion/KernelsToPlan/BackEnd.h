//===- BackEnd.h - What computes products and attention ---------*- C++ -*-===//
//
// Part of fp8c, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef FP8C_LIB_CONVERSION_KERNELSTOPLAN_BACKEND_H
#define FP8C_LIB_CONVERSION_KERNELSTOPLAN_BACKEND_H

#include "fp8c/Dialect/FP8/FP8.h"
#include "fp8c/Target/Target.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/Remarks.h"

namespace fp8c {

/// What computes an op on a target.
struct BackEnd {
  llvm::StringRef name, reason;
};

inline BackEnd getProductBackEnd(const Target &target) {
  if (target.isCPU())
    return {"tiles of a serial BLAS in f32, a row alone as a matrix-vector "
            "product",
            "the target is cpu: operands are widened to f32 exactly"};
  return {"cuBLASLt, or a kernel of the runtime",
          "the target is a GPU: the runtime asks the library for each size, "
          "and falls back where it refuses"};
}

inline BackEnd getAttentionBackEnd(const Target &target) {
  if (target.isCPU())
    return {"tiles of queries in f32",
            "the target is cpu: no matrix of all scores is written"};
  return {"a kernel of the runtime", "the target is a GPU"};
}

/// The remark that says what computes a product or attention, and why.
inline void explainBackEnd(mlir::Operation *op, llvm::StringRef what,
                           BackEnd backEnd) {
  namespace remark = mlir::remark;
  auto node = op->getAttrOfType<mlir::StringAttr>(fp8::kNodeAttr);
  auto func = op->getParentOfType<mlir::func::FuncOp>();
  remark::passed(op->getLoc(),
                 remark::RemarkOpts::name("back-end")
                     .category("fp8-convert-to-plan")
                     .function(func ? func.getName() : llvm::StringRef()))
      << remark::add("{0} runs on {1}", what, backEnd.name)
      << remark::reason("{0}", backEnd.reason) << remark::metric("What", what)
      << remark::metric("Node", node ? node.getValue() : llvm::StringRef())
      << remark::metric("BackEnd", backEnd.name);
}

} // namespace fp8c

#endif // FP8C_LIB_CONVERSION_KERNELSTOPLAN_BACKEND_H
