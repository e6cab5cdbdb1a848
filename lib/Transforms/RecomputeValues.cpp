//===- RecomputeValues.cpp - Values that are cheaper computed again -------===//
//
// Part of fp8c, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A cast whose scale needs the amax of the whole tensor is in a later kernel
// than what makes the tensor. Between the two lies the tensor, written and read
// once. Where the later kernel can compute it from as much memory as that, or
// less, it does. Bit-exact: the same ops run twice, and their sums are added in
// the same order.
//
//===----------------------------------------------------------------------===//

#include "Recomputation.h"

#include "fp8c/Transforms/Passes.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/Remarks.h"

namespace fp8c {
#define GEN_PASS_DEF_RECOMPUTEVALUESPASS
#include "fp8c/Transforms/Passes.h.inc"
} // namespace fp8c

using namespace mlir;
using namespace fp8c;

namespace {

struct RecomputeValuesPass
    : public fp8c::impl::RecomputeValuesPassBase<RecomputeValuesPass> {
  using RecomputeValuesPassBase::RecomputeValuesPassBase;

  void runOnOperation() override;

private:
  /// Decides about the results of a kernel; gives what has become of it.
  fp8::KernelOp recompute(fp8::KernelOp kernel, const Target &target);

  int64_t nextId = 0;
};

} // namespace

fp8::KernelOp RecomputeValuesPass::recompute(fp8::KernelOp kernel,
                                             const Target &target) {
  func::FuncOp func = getOperation();
  auto options = [&](StringRef name) {
    return remark::RemarkOpts::name(name)
        .category("fp8-recompute-values")
        .function(func.getName());
  };
  for (unsigned i = 0; i < kernel->getNumResults();) {
    Recomputation candidate(kernel->getResult(i), target, nextId);
    if (!candidate.analyze()) {
      ++i;
      continue;
    }
    const Location loc = kernel.getLoc();
    const std::string node = candidate.getNode().str();
    const int64_t stored = candidate.getStoredBytes();
    const int64_t again = candidate.getAgainBytes();
    auto facts = [&](remark::detail::InFlightRemark &&remark)
        -> remark::detail::InFlightRemark {
      remark << remark::metric("Node", node)
             << remark::metric("StoredBytes", stored)
             << remark::metric("AgainBytes", again);
      return std::move(remark);
    };
    std::string why = again < stored ? candidate.apply() : "no bytes are saved";
    if (why.empty()) {
      kernel = candidate.getMaker();
      facts(remark::passed(loc, options("computed-again")))
          << remark::add("what another kernel needs is computed again there")
          << remark::reason("that reads {0} bytes an element, to write the "
                            "value and to read it takes {1}",
                            again, stored);
      continue;
    }
    ++i;
    facts(remark::missed(loc, options("stored")))
        << remark::add("what another kernel needs is written and read")
        << remark::reason("to compute it again reads {0} bytes an element, to "
                          "write the value and to read it takes {1}: {2}",
                          again, stored, why);
  }
  return kernel;
}

void RecomputeValuesPass::runOnOperation() {
  const Target *known = findTarget(target);
  if (!known) {
    getOperation().emitError() << "'" << target << "' is not a target";
    return signalPassFailure();
  }
  if (!known->recomputes)
    return;
  for (Block &block : getOperation().getBody())
    for (Operation *op = &block.front(); op; op = op->getNextNode())
      if (auto kernel = dyn_cast<fp8::KernelOp>(op))
        op = recompute(kernel, *known);
}
