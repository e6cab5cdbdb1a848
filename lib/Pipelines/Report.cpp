//===- Report.cpp - What became of a model, and why -----------------------===//
//
// Part of fp8c, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "fp8c/Pipelines/Report.h"

#include "ReportSizes.h"

#include "fp8c/Dialect/FP8/FP8.h"
#include "fp8c/Dialect/Plan/Plan.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;
using namespace fp8c;
namespace json = llvm::json;

static std::string getNode(Operation *op) {
  auto node = op->getAttrOfType<StringAttr>(fp8::kNodeAttr);
  return node ? node.str() : std::string();
}

static std::string print(Type type) {
  std::string text;
  llvm::raw_string_ostream(text) << type;
  return text;
}

/// The buffers that a command reads and writes; false for what is no command.
static bool getAccesses(Operation *op, SmallVectorImpl<Value> &reads,
                        SmallVectorImpl<Value> &writes) {
  auto push = [](SmallVectorImpl<Value> &list, ValueRange values) {
    for (Value value : values)
      if (value)
        list.push_back(value);
  };
  if (auto launch = dyn_cast<plan::LaunchOp>(op)) {
    push(reads, launch.getReads());
    push(writes, launch.getWrites());
  } else if (auto product = dyn_cast<plan::MatmulOp>(op)) {
    push(reads, {product.getA(), product.getB(), product.getBias(),
                 product.getAScale(), product.getBScale(),
                 product.getResultScale(), product.getBDecode()});
    push(writes, {product.getD(), product.getAmax()});
  } else if (auto attention = dyn_cast<plan::AttentionOp>(op)) {
    push(reads, {attention.getQuery(), attention.getKey(), attention.getValue(),
                 attention.getMask()});
    push(writes, attention.getOut());
  } else if (auto copy = dyn_cast<plan::CopyOp>(op)) {
    push(reads, copy.getSource());
    push(writes, copy.getTarget());
  } else if (auto fill = dyn_cast<plan::FillOp>(op)) {
    push(writes, fill.getTarget());
  } else {
    return false;
  }
  return true;
}

/// The buffer whose memory it is.
static Value getMemory(Value buffer) {
  while (auto view = buffer.getDefiningOp<plan::ViewOp>())
    buffer = view.getSource();
  return buffer;
}

bool fp8c::hasF8Product(ModuleOp kernels) {
  return kernels
      .walk([](Operation *op) {
        return isa<fp8::ScaledMatmulOp, fp8::DequantizeOp>(op)
                   ? WalkResult::interrupt()
                   : WalkResult::advance();
      })
      .wasInterrupted();
}

namespace {
/// Makes the parts of a report that come from the plan.
class PlanReport {
public:
  PlanReport(ModuleOp plan, ArrayRef<Decision> decisions)
      : plan(plan), decisions(decisions), sizes(plan) {}

  json::Object make(json::Object before);

private:
  void addEntry(plan::EntryOp entry);
  void addProduct(plan::MatmulOp op);
  void addMemory(plan::EntryOp entry);
  void addCasts();
  json::Array listDecisions() const;
  const Decision *findBackEnd(StringRef node) const;

  ModuleOp plan;
  ArrayRef<Decision> decisions;
  ReportSizes sizes;
  json::Array kernels, products, attention, casts;
  json::Object traffic, memory, counts;
};
} // namespace

const Decision *PlanReport::findBackEnd(StringRef node) const {
  for (const Decision &decision : decisions)
    if (decision.name == "back-end" && decision.getFact("Node") == node)
      return &decision;
  return nullptr;
}

void PlanReport::addProduct(plan::MatmulOp op) {
  auto type = cast<ShapedType>(op.getD().getType());
  unsigned rank = type.getRank();
  auto element = [](Value value) {
    return print(getElementTypeOrSelf(value.getType()));
  };
  json::Object row{{"node", getNode(op)},
                   {"m", sizes.describe(sizes.getDim(op.getD(), rank - 2))},
                   {"n", sizes.describe(sizes.getDim(op.getD(), rank - 1))},
                   {"k", sizes.describe(sizes.getDim(op.getA(), rank - 1))},
                   {"a", element(op.getA())},
                   {"b", element(op.getB())},
                   {"d", element(op.getD())},
                   {"scaled", bool(op.getAScale())},
                   {"decoded", bool(op.getBDecode())}};
  if (const Decision *decision = findBackEnd(getNode(op))) {
    row["back_end"] = decision->getFact("BackEnd").str();
    row["reason"] = decision->reason;
  }
  products.push_back(std::move(row));
}

void PlanReport::addEntry(plan::EntryOp entry) {
  bool isForward = entry.getSymName() == "forward";
  SizeExpr read = sizes.zero(), written = sizes.zero();
  int64_t commands = 0;
  for (Operation &op : entry.getBody().front()) {
    SmallVector<Value> reads, writes;
    if (!getAccesses(&op, reads, writes))
      continue;
    ++commands;
    SizeExpr opRead = sizes.zero(), opWritten = sizes.zero();
    llvm::SetVector<Value> unique(reads.begin(), reads.end());
    for (Value value : unique)
      opRead = sizes.add(opRead, sizes.getBytes(value));
    for (Value value : writes)
      opWritten = sizes.add(opWritten, sizes.getBytes(value));
    read = sizes.add(read, opRead);
    written = sizes.add(written, opWritten);
    if (auto launch = dyn_cast<plan::LaunchOp>(op)) {
      SmallVector<StringRef> names;
      std::string node = getNode(launch);
      StringRef(node).split(names, '+', -1, /*KeepEmpty=*/false);
      json::Array nodes;
      for (StringRef name : names)
        nodes.push_back(name.str());
      kernels.push_back(json::Object{{"entry", entry.getSymName().str()},
                                     {"kernel", launch.getKernel().str()},
                                     {"nodes", std::move(nodes)},
                                     {"read", sizes.describe(opRead)},
                                     {"written", sizes.describe(opWritten)}});
    } else if (auto product = dyn_cast<plan::MatmulOp>(op)) {
      if (isForward)
        addProduct(product);
    } else if (isa<plan::AttentionOp>(op)) {
      json::Object row{{"node", getNode(&op)}};
      if (const Decision *decision = findBackEnd(getNode(&op))) {
        row["back_end"] = decision->getFact("BackEnd").str();
        row["reason"] = decision->reason;
      }
      attention.push_back(std::move(row));
    }
  }
  if (isForward)
    traffic["after"] =
        json::Object{{"launches", commands},
                     {"read", sizes.describe(read)},
                     {"written", sizes.describe(written)},
                     {"total", sizes.describe(sizes.add(read, written))}};
}

void PlanReport::addMemory(plan::EntryOp entry) {
  SizeExpr inputs = sizes.zero(), outputs = sizes.zero(),
           buffers = sizes.zero();
  llvm::SetVector<StringRef> globals;
  // The first and last command that uses each buffer.
  llvm::MapVector<Value, std::pair<int64_t, int64_t>> lives;
  int64_t command = 0;
  for (Operation &op : entry.getBody().front()) {
    if (auto global = dyn_cast<plan::GlobalOp>(op))
      globals.insert(global.getGlobal());
    else if (auto input = dyn_cast<plan::InputOp>(op))
      inputs = sizes.add(inputs, sizes.getBytes(input));
    else if (auto output = dyn_cast<plan::OutputOp>(op))
      outputs = sizes.add(outputs, sizes.getBytes(output));
    else if (auto alloc = dyn_cast<plan::AllocOp>(op))
      buffers = sizes.add(buffers, sizes.getBytes(alloc));
    SmallVector<Value> used, writes;
    if (!getAccesses(&op, used, writes))
      continue;
    used.append(writes);
    for (Value value : used)
      if (Value base = getMemory(value); base.getDefiningOp<plan::AllocOp>())
        lives.try_emplace(base, command, command).first->second.second =
            command;
    ++command;
  }
  // Known at the example sizes alone.
  std::optional<int64_t> live = 0;
  for (int64_t i = 0; i < command && live; ++i) {
    int64_t now = 0;
    for (auto &[buffer, life] : lives) {
      if (i < life.first || i > life.second)
        continue;
      std::optional<int64_t> bytes = sizes.evaluate(sizes.getBytes(buffer));
      if (!bytes)
        live.reset();
      else
        now += *bytes;
    }
    if (live)
      live = std::max(*live, now);
  }
  SizeExpr weights = sizes.zero(), state = sizes.zero();
  for (StringRef name : globals) {
    auto global = plan.lookupSymbol<fp8::GlobalOp>(name);
    auto type = cast<RankedTensorType>(global.getType());
    int64_t bytes = type.getNumElements() *
                    llvm::divideCeil(type.getElementTypeBitWidth(), 8);
    SizeExpr &sum =
        global.getKind() == fp8::GlobalKind::State ? state : weights;
    sum = sizes.add(sum, sizes.constant(bytes));
  }
  memory = json::Object{{"weights", sizes.describe(weights)},
                        {"state", sizes.describe(state)},
                        {"inputs", sizes.describe(inputs)},
                        {"outputs", sizes.describe(outputs)},
                        {"buffers", sizes.describe(buffers)},
                        {"live_at_once", live}};
}

void PlanReport::addCasts() {
  int64_t castsFused = 0, castsLeft = 0, amaxsFused = 0, amaxsLeft = 0;
  for (const Decision &decision : decisions) {
    StringRef what = decision.getFact("What");
    if (decision.pass != "fp8-fuse-casts" || what.empty())
      continue;
    bool fused = decision.kind == Decision::Kind::Passed;
    casts.push_back(json::Object{{"node", decision.getFact("Node").str()},
                                 {"what", what.str()},
                                 {"function", decision.function},
                                 {"fused", fused},
                                 {"input", decision.getFact("Input").str()},
                                 {"reason", decision.reason}});
    if (decision.function != "forward")
      continue;
    int64_t &count = what == "cast" ? (fused ? castsFused : castsLeft)
                                    : (fused ? amaxsFused : amaxsLeft);
    ++count;
  }
  counts = json::Object{{"casts_fused", castsFused},
                        {"casts_left", castsLeft},
                        {"amaxs_fused", amaxsFused},
                        {"amaxs_left", amaxsLeft}};
}

json::Array PlanReport::listDecisions() const {
  json::Array list;
  for (const Decision &decision : decisions) {
    StringRef kind = "analysis";
    switch (decision.kind) {
    case Decision::Kind::Passed:
      kind = "passed";
      break;
    case Decision::Kind::Missed:
      kind = "missed";
      break;
    case Decision::Kind::Failed:
      kind = "failed";
      break;
    case Decision::Kind::Analysis:
      break;
    }
    json::Object facts;
    for (const auto &[key, value] : decision.facts)
      facts[key] = value;
    list.push_back(json::Object{{"pass", decision.pass},
                                {"name", decision.name},
                                {"kind", kind.str()},
                                {"function", decision.function},
                                {"message", decision.message},
                                {"reason", decision.reason},
                                {"facts", std::move(facts)}});
  }
  return list;
}

json::Object PlanReport::make(json::Object before) {
  traffic["before"] = std::move(before);
  for (auto entry : plan.getOps<plan::EntryOp>()) {
    addEntry(entry);
    if (entry.getSymName() == "forward")
      addMemory(entry);
  }
  addCasts();
  json::Array state;
  for (auto global : plan.getOps<fp8::GlobalOp>())
    if (global.getKind() == fp8::GlobalKind::State)
      state.push_back(json::Object{{"name", global.getSymName().str()},
                                   {"type", print(global.getType())}});
  return json::Object{{"version", 1},
                      {"symbols", std::move(sizes.symbols)},
                      {"sizes", std::move(sizes.examples)},
                      {"casts", std::move(casts)},
                      {"counts", std::move(counts)},
                      {"kernels", std::move(kernels)},
                      {"products", std::move(products)},
                      {"attention", std::move(attention)},
                      {"traffic", std::move(traffic)},
                      {"state", std::move(state)},
                      {"memory", std::move(memory)},
                      {"decisions", listDecisions()}};
}

json::Object fp8c::makeReport(ModuleOp plan, ArrayRef<Decision> decisions,
                              json::Object before) {
  return PlanReport(plan, decisions).make(std::move(before));
}
