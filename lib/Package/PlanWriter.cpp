//===- PlanWriter.cpp - A plan in binary form -----------------------------===//
//
// Part of fp8c, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "fp8c/Package/PlanWriter.h"

#include "PlanBuilder.h"

#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace fp8c;
using namespace fp8c::plan;
using namespace fp8c::package;
using flatbuffers::Offset;

LogicalResult PlanBuilder::writeTables() {
  for (auto global : module.getOps<fp8::GlobalOp>()) {
    auto type = cast<RankedTensorType>(global.getType());
    auto dtype = getDType(global, type.getElementType());
    if (failed(dtype))
      return failure();
    std::vector<int64_t> dims(type.getShape());
    std::string name = global.getSymName().str();
    weightIds[name] = weights.size();
    if (global.getKind() == fp8::GlobalKind::State) {
      stateIds[name] = states.size();
      states.push_back(wire::CreateStateDirect(builder, name.c_str(),
                                               weights.size(), *dtype, &dims));
    }
    weights.push_back(wire::CreateWeightDirect(builder, name.c_str(),
                                               name.c_str(), *dtype, &dims));
  }
  for (auto kernel : module.getOps<KernelOp>()) {
    std::string name = kernel.getSymName().str();
    kernelIds[name] = kernels.size();
    kernels.push_back(wire::CreateKernelDirect(
        builder, name.c_str(), name.c_str(), nullptr, kernel.isExact(),
        kernel.getThreads(), kernel.getResident(), kernel.getDependent(),
        kernel.getCluster(), kernel.getClusterTasks(), kernel.getProduct()));
  }
  return success();
}

LogicalResult PlanBuilder::writeEntry(EntryOp entry) {
  steps.clear();
  inputs.clear();
  outputs.clear();
  for (Operation &op : entry.getBody().front()) {
    LogicalResult written =
        llvm::TypeSwitch<Operation *, LogicalResult>(&op)
            .Case<InputOp, OutputOp, GlobalOp, AllocOp>(
                [&](Operation *buffer) { return writeBuffer(buffer); })
            .Case([&](ViewOp view) { return writeView(view); })
            .Case([&](OutputIndexOp index) -> LogicalResult {
              auto expr = sizes.get(index.getValue());
              if (failed(expr))
                return failure();
              outputs.push_back(wire::CreateOutputDirect(
                  builder, index.getName().str().c_str(),
                  wire::OutputKind::Integer, 0, *expr));
              return success();
            })
            .Case([&](OutputNoneOp none) {
              outputs.push_back(wire::CreateOutputDirect(
                  builder, none.getName().str().c_str(),
                  wire::OutputKind::None));
              return success();
            })
            .Case([&](fp8::CheckOp check) -> LogicalResult {
              auto expr = sizes.get(check.getCondition());
              if (failed(expr))
                return failure();
              std::string path, place;
              describe(check.getLoc(), path, place);
              checks.push_back(wire::CreateCheckDirect(
                  builder, *expr, check.getMessage().str().c_str(),
                  place.c_str()));
              return success();
            })
            .Case<fp8::SymbolOp>([&](fp8::SymbolOp symbol) -> LogicalResult {
              return sizes.get(symbol.getResult());
            })
            .Default([&](Operation *other) -> LogicalResult {
              // Index arithmetic is read where it is used.
              if (isa<arith::ArithDialect>(other->getDialect()))
                return success();
              return writeCommand(other);
            });
    if (failed(written))
      return failure();
  }
  entries.push_back(wire::CreateEntryPointDirect(
      builder, entry.getSymName().str().c_str(), &steps, &inputs, &outputs));
  return success();
}

FailureOr<std::string> PlanBuilder::run() {
  if (failed(writeTables()))
    return failure();
  for (auto entry : module.getOps<EntryOp>())
    if (failed(writeEntry(entry)))
      return failure();
  std::vector<Offset<wire::Value>> written;
  for (const PendingValue &value : values)
    written.push_back(wire::CreateValueDirect(
        builder, value.kind, value.dtype, &value.dims, &value.strides,
        value.offset, value.index, value.base, value.first, value.last,
        value.node.empty() ? nullptr : value.node.c_str()));
  auto symbols = sizes.writeSymbols(builder);
  auto plan = wire::CreatePlanDirect(
      builder, package::kPlanVersion, target.str().c_str(), &sizes.getExprs(),
      &symbols, &checks, &written, &weights, &states, &kernels, &entries);
  wire::FinishPlanBuffer(builder, plan);
  return std::string(reinterpret_cast<const char *>(builder.GetBufferPointer()),
                     builder.GetSize());
}

FailureOr<std::string> fp8c::package::writePlan(ModuleOp module,
                                                StringRef target) {
  return PlanBuilder(module, target).run();
}
