//===- PlanWriter.cpp - A plan in binary form
//------------------------------===//
//
// Part of fp8c, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "fp8c/Package/PlanWriter.h"

#include "SizeTable.h"

#include "fp8c/Dialect/Plan/Plan.h"
#include "fp8c/Package/Format.h"
#include "llvm/ADT/TypeSwitch.h"

#include <set>

using namespace mlir;
using namespace fp8c;
using namespace fp8c::plan;
using flatbuffers::FlatBufferBuilder;
using flatbuffers::Offset;

namespace {
constexpr uint32_t kNone = 0xFFFFFFFF;

/// A value before it is written; lifetimes grow while commands are read.
struct PendingValue {
  wire::ValueKind kind;
  wire::DType dtype;
  std::vector<uint32_t> dims, strides;
  uint32_t offset = 0, index = 0, base = kNone;
  uint32_t first = 0, last = 0;
  bool used = false;
  std::string node;
};

class PlanWriter {
public:
  PlanWriter(ModuleOp module, StringRef target)
      : module(module), target(target) {}

  FailureOr<std::string> run();

private:
  LogicalResult writeTables();
  LogicalResult writeEntry(EntryOp entry);
  LogicalResult writeBuffer(Operation *op);
  LogicalResult writeView(ViewOp view);
  LogicalResult writeCommand(Operation *op);
  LogicalResult pushStep(Operation *op, wire::Command type,
                         Offset<void> command, ValueRange reads,
                         ValueRange writes);

  FailureOr<Offset<void>> launch(LaunchOp op);
  Offset<void> matmul(MatmulOp op);

  FailureOr<std::vector<uint32_t>> sizesOf(ValueRange values);
  std::vector<uint32_t> denseStrides(ArrayRef<uint32_t> dims);
  uint32_t valueOf(Value buffer) {
    return buffer ? valueIds.lookup(buffer) : kNone;
  }
  std::vector<uint32_t> valuesOf(ValueRange buffers) {
    std::vector<uint32_t> ids;
    for (Value buffer : buffers)
      ids.push_back(valueOf(buffer));
    return ids;
  }

  ModuleOp module;
  StringRef target;
  FlatBufferBuilder builder;
  package::SizeTable sizes;
  std::vector<PendingValue> values;
  llvm::DenseMap<Value, uint32_t> valueIds;
  llvm::StringMap<uint32_t> weightIds, stateIds, kernelIds;
  std::vector<Offset<wire::Weight>> weights;
  std::vector<Offset<wire::State>> states;
  std::vector<Offset<wire::Kernel>> kernels;
  std::vector<Offset<wire::Check>> checks;
  std::vector<Offset<wire::EntryPoint>> entries;
  // Of the entry that is being written.
  std::vector<Offset<wire::Step>> steps;
  std::vector<Offset<wire::Input>> inputs;
  std::vector<Offset<wire::Output>> outputs;
};
} // namespace

static FailureOr<wire::DType> getDType(Operation *op, Type type) {
  auto dtype =
      llvm::TypeSwitch<Type, std::optional<wire::DType>>(type)
          .Case<Float16Type>([](auto) { return wire::DType::F16; })
          .Case<BFloat16Type>([](auto) { return wire::DType::BF16; })
          .Case<Float32Type>([](auto) { return wire::DType::F32; })
          .Case<Float64Type>([](auto) { return wire::DType::F64; })
          .Case<Float8E4M3FNType>([](auto) { return wire::DType::E4M3FN; })
          .Case<Float8E5M2Type>([](auto) { return wire::DType::E5M2; })
          .Case<Float8E8M0FNUType>([](auto) { return wire::DType::E8M0FNU; })
          .Case<IntegerType>(
              [](IntegerType integer) -> std::optional<wire::DType> {
                switch (integer.getWidth()) {
                case 1:
                  return wire::DType::Bool;
                case 8:
                  return integer.isUnsigned() ? wire::DType::U8
                                              : wire::DType::I8;
                case 16:
                  return wire::DType::I16;
                case 32:
                  return wire::DType::I32;
                case 64:
                  return wire::DType::I64;
                default:
                  return std::nullopt;
                }
              })
          .Default([](Type) { return std::nullopt; });
  if (!dtype)
    return LogicalResult(op->emitError()
                         << "a plan has no elements of type " << type);
  return *dtype;
}

FailureOr<std::vector<uint32_t>> PlanWriter::sizesOf(ValueRange values) {
  std::vector<uint32_t> entries;
  for (Value value : values) {
    auto entry = sizes.get(value);
    if (failed(entry))
      return failure();
    entries.push_back(*entry);
  }
  return entries;
}

std::vector<uint32_t> PlanWriter::denseStrides(ArrayRef<uint32_t> dims) {
  std::vector<uint32_t> strides(dims.size());
  uint32_t stride = sizes.constant(1);
  for (size_t i = dims.size(); i-- > 0;) {
    strides[i] = stride;
    stride = sizes.mul(dims[i], stride);
  }
  return strides;
}

//===----------------------------------------------------------------------===//
// Tables
//===----------------------------------------------------------------------===//

LogicalResult PlanWriter::writeTables() {
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
        kernel.getThreads(), kernel.getResident()));
  }
  return success();
}

//===----------------------------------------------------------------------===//
// Buffers
//===----------------------------------------------------------------------===//

LogicalResult PlanWriter::writeBuffer(Operation *op) {
  PendingValue made;
  Value result = op->getResult(0);
  auto type = cast<MemRefType>(result.getType());
  auto dtype = getDType(op, type.getElementType());
  auto dynamic = sizesOf(isa<GlobalOp>(op) ? ValueRange() : op->getOperands());
  if (failed(dtype) || failed(dynamic))
    return failure();
  made.dtype = *dtype;
  auto next = dynamic->begin();
  for (int64_t size : type.getShape())
    made.dims.push_back(ShapedType::isDynamic(size) ? *next++
                                                    : sizes.constant(size));
  made.strides = denseStrides(made.dims);
  made.offset = sizes.constant(0);
  if (auto node = op->getAttrOfType<StringAttr>("node"))
    made.node = node.str();

  uint32_t id = values.size();
  auto name = op->getAttrOfType<StringAttr>("name");
  if (isa<InputOp>(op)) {
    made.kind = wire::ValueKind::Input;
    made.index = inputs.size();
    inputs.push_back(wire::CreateInputDirect(builder, name.str().c_str(), id));
  } else if (isa<OutputOp>(op)) {
    made.kind = wire::ValueKind::Output;
    made.index = outputs.size();
    outputs.push_back(wire::CreateOutputDirect(builder, name.str().c_str(),
                                               wire::OutputKind::Tensor, id));
  } else if (auto global = dyn_cast<GlobalOp>(op)) {
    StringRef symbol = global.getGlobal();
    if (auto state = stateIds.find(symbol); state != stateIds.end()) {
      made.kind = wire::ValueKind::State;
      made.index = state->second;
    } else if (auto weight = weightIds.find(symbol);
               weight != weightIds.end()) {
      made.kind = wire::ValueKind::Weight;
      made.index = weight->second;
    } else {
      return op->emitError()
             << "refers to @" << symbol << ", which is no fp8.global";
    }
  } else {
    made.kind = wire::ValueKind::Arena;
  }
  valueIds[result] = id;
  values.push_back(std::move(made));
  return success();
}

LogicalResult PlanWriter::writeView(ViewOp view) {
  PendingValue made;
  made.kind = wire::ValueKind::View;
  auto dtype = getDType(view, view.getType().getElementType());
  auto dims = sizesOf(view.getSizes());
  auto strides = sizesOf(view.getStrides());
  auto offset = sizes.get(view.getOffset());
  if (failed(dtype) || failed(dims) || failed(strides) || failed(offset))
    return failure();
  made.dtype = *dtype;
  made.dims = *dims;
  made.strides = *strides;
  made.offset = *offset;
  made.base = valueOf(view.getSource());
  made.node = view.getNode().value_or("").str();
  valueIds[view.getResult()] = values.size();
  values.push_back(std::move(made));
  return success();
}

//===----------------------------------------------------------------------===//
// Commands
//===----------------------------------------------------------------------===//

/// The module path and the model's source line of a location.
static void describe(Location loc, std::string &path, std::string &place) {
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

LogicalResult PlanWriter::pushStep(Operation *op, wire::Command type,
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

FailureOr<Offset<void>> PlanWriter::launch(LaunchOp op) {
  auto block = sizesOf(op.getSizes());
  auto tasks = sizes.get(op.getTasks());
  auto scratch = sizes.get(op.getScratch());
  if (failed(block) || failed(tasks) || failed(scratch))
    return failure();
  std::vector<uint32_t> operands = valuesOf(op.getReads());
  llvm::append_range(operands, valuesOf(op.getWrites()));
  return wire::CreateLaunchDirect(builder, kernelIds.lookup(op.getKernel()),
                                  &operands, &*block, *tasks, *scratch)
      .Union();
}

Offset<void> PlanWriter::matmul(MatmulOp op) {
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
  return made.Finish().Union();
}

LogicalResult PlanWriter::writeCommand(Operation *op) {
  if (auto launchOp = dyn_cast<LaunchOp>(op)) {
    auto command = launch(launchOp);
    if (failed(command))
      return failure();
    return pushStep(op, wire::Command::Launch, *command, launchOp.getReads(),
                    launchOp.getWrites());
  }
  if (auto product = dyn_cast<MatmulOp>(op)) {
    SmallVector<Value> reads{product.getA(), product.getB()};
    for (Value optional :
         {product.getBias(), product.getAScale(), product.getBScale(),
          product.getResultScale(), product.getBDecode()})
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

LogicalResult PlanWriter::writeEntry(EntryOp entry) {
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

FailureOr<std::string> PlanWriter::run() {
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
  return PlanWriter(module, target).run();
}
