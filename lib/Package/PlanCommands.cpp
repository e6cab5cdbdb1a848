//===- PlanCommands.cpp - Commands of a plan ------------------------------===//
//
// Part of fp8c, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "PlanBuilder.h"

using namespace mlir;
using namespace fp8c;
using namespace fp8c::plan;
using namespace fp8c::package;
using flatbuffers::Offset;

void package::describe(Location loc, std::string &path, std::string &place) {
  if (auto fused = dyn_cast<FusedLoc>(loc)) {
    for (Location part : fused.getLocations())
      if (place.empty())
        describe(part, path, place);
  } else if (auto name = dyn_cast<NameLoc>(loc)) {
    if (path.empty())
      path = name.getName().str();
    describe(name.getChildLoc(), path, place);
  } else if (auto file = dyn_cast<FileLineColLoc>(loc)) {
    place = (file.getFilename().getValue() + ":" + Twine(file.getLine())).str();
  } else if (auto call = dyn_cast<CallSiteLoc>(loc)) {
    describe(call.getCallee(), path, place);
  }
}

LogicalResult PlanBuilder::pushStep(Operation *op, wire::Command type,
                                    Offset<void> command, ValueRange reads,
                                    ValueRange writes) {
  std::vector<uint32_t> readIds = valuesOf(reads);
  std::vector<uint32_t> writeIds = valuesOf(writes);
  uint32_t step = steps.size();
  for (const auto *ids : {&readIds, &writeIds})
    for (uint32_t id : *ids) {
      while (values[id].kind == wire::ValueKind::View)
        id = values[id].base;
      PendingValue &value = values[id];
      value.first = value.used ? value.first : step;
      value.last = step;
      value.used = true;
    }
  // The nodes that the step stands for: those whose values it writes.
  std::string name, path, place;
  if (auto given = op->getAttrOfType<StringAttr>("name")) {
    name = given.str();
  } else {
    for (uint32_t id : writeIds)
      if (!values[id].node.empty())
        name += (name.empty() ? "" : "+") + values[id].node;
  }
  describe(op->getLoc(), path, place);
  steps.push_back(wire::CreateStepDirect(builder, type, command, &readIds,
                                         &writeIds, 0, name.c_str(),
                                         path.c_str(), place.c_str()));
  return success();
}

FailureOr<Offset<void>> PlanBuilder::launch(LaunchOp op) {
  auto block = sizesOf(op.getSizes());
  auto tasks = sizes.get(op.getTasks());
  auto scratch = sizes.get(op.getScratch());
  if (failed(block) || failed(tasks) || failed(scratch))
    return failure();
  std::vector<uint32_t> operands = valuesOf(op.getReads());
  llvm::append_range(operands, valuesOf(op.getWrites()));
  return wire::CreateLaunchDirect(builder, kernelIds.lookup(op.getKernel()),
                                  &operands, &*block, *tasks, *scratch,
                                  !op.getJoins().empty())
      .Union();
}

Offset<void> PlanBuilder::matmul(MatmulOp op) {
  wire::MatmulBuilder made(builder);
  made.add_a(valueOf(op.getA()));
  made.add_b(valueOf(op.getB()));
  made.add_d(valueOf(op.getD()));
  made.add_bias(valueOf(op.getBias()));
  made.add_a_scale(valueOf(op.getAScale()));
  made.add_b_scale(valueOf(op.getBScale()));
  made.add_result_scale(valueOf(op.getResultScale()));
  made.add_amax(valueOf(op.getAmax()));
  if (Value decode = op.getBDecode()) {
    made.add_b_decode(valueOf(decode));
    made.add_b_decode_dtype(values[valueOf(decode)].dtype);
  }
  made.add_a_block_m(op.getABlock()[0]);
  made.add_a_block_k(op.getABlock()[1]);
  made.add_b_block_k(op.getBBlock()[0]);
  made.add_b_block_n(op.getBBlock()[1]);
  made.add_fast_accum(op.getFastAccum());
  made.add_a_padded(valueOf(op.getAPadded()));
  return made.Finish().Union();
}

LogicalResult PlanBuilder::writeCommand(Operation *op) {
  if (auto launchOp = dyn_cast<LaunchOp>(op)) {
    auto command = launch(launchOp);
    if (failed(command))
      return failure();
    SmallVector<Value> writes(launchOp.getWrites());
    llvm::append_range(writes, launchOp.getZeros());
    SmallVector<Value> reads(launchOp.getReads());
    llvm::append_range(reads, launchOp.getJoins());
    return pushStep(op, wire::Command::Launch, *command, reads, writes);
  }
  if (auto product = dyn_cast<MatmulOp>(op)) {
    SmallVector<Value> reads{product.getA(), product.getB()};
    for (Value optional :
         {product.getBias(), product.getAScale(), product.getBScale(),
          product.getResultScale(), product.getBDecode(), product.getAPadded()})
      if (optional)
        reads.push_back(optional);
    SmallVector<Value> writes{product.getD()};
    if (product.getAmax())
      writes.push_back(product.getAmax());
    return pushStep(op, wire::Command::Matmul, matmul(product), reads, writes);
  }
  if (auto attention = dyn_cast<AttentionOp>(op)) {
    auto command = wire::CreateAttention(
        builder, valueOf(attention.getQuery()), valueOf(attention.getKey()),
        valueOf(attention.getValue()), valueOf(attention.getOut()),
        valueOf(attention.getMask()), attention.getScale().convertToDouble(),
        attention.getCausal());
    SmallVector<Value> reads{attention.getQuery(), attention.getKey(),
                             attention.getValue()};
    if (attention.getMask())
      reads.push_back(attention.getMask());
    return pushStep(op, wire::Command::Attention, command.Union(), reads,
                    attention.getOut());
  }
  if (auto copy = dyn_cast<CopyOp>(op))
    return pushStep(op, wire::Command::Copy,
                    wire::CreateCopy(builder, valueOf(copy.getSource()),
                                     valueOf(copy.getTarget()))
                        .Union(),
                    copy.getSource(), copy.getTarget());
  if (auto fill = dyn_cast<FillOp>(op))
    return pushStep(
        op, wire::Command::Fill,
        wire::CreateFill(builder, valueOf(fill.getTarget()), fill.getPattern())
            .Union(),
        {}, fill.getTarget());
  return op->emitError() << "'" << op->getName() << "' is no command of a plan";
}
