//===- Program.cpp - A loaded plan with its weights -----------------------===//
//
// Part of fp8c, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Program.h"

#include "Device.h"
#include "PlanText.h"
#include "Tensor.h"

#include <cstring>

using namespace fp8c::rt;

Program::Program(std::shared_ptr<const Package> owner,
                 const Package::Plan &place)
    : source(std::move(owner)) {
  Bytes bytes = source->plan(place);
  if (reinterpret_cast<uintptr_t>(bytes.data) % 8) {
    // Flatbuffers want aligned memory; an odd writer does not stop us.
    size_t units = bytes.size / sizeof(std::max_align_t) + 1;
    copies.emplace_back(new std::max_align_t[units]);
    std::memcpy(copies.back().get(), bytes.data, bytes.size);
    bytes.data = reinterpret_cast<unsigned char *>(copies.back().get());
  }
  wirePlan = verifyPlan(bytes);
  require(target() == place.target, FP8RT_INVALID_PACKAGE,
          "plan: its target \"", target(), "\" is not the manifest's \"",
          place.target, "\"");
  readWeights();

  auto stored = [](const flatbuffers::String *name, DType dtype,
                   const flatbuffers::Vector<int64_t> *dims) {
    SignatureItem item{name->str(), FP8RT_TENSOR, dtype, {}, {}, {}};
    for (int64_t dim : *dims) {
      item.dims.push_back(dim);
      item.texts.push_back(std::to_string(dim));
    }
    return item;
  };
  for (const wire::Weight *w : *plan().weights())
    weights.push_back(stored(w->name(), w->dtype(), w->dims()));
  for (const wire::State *s : *plan().states())
    states.push_back(stored(s->name(), s->dtype(), s->dims()));
  for (const wire::EntryPoint *wireEntry : *plan().entry_points()) {
    EntryPoint entry{wireEntry->name()->str(), wireEntry, {}, {}};
    for (const wire::Input *input : *wireEntry->inputs())
      entry.inputs.push_back(describe(input->name()->c_str(), input->value()));
    for (const wire::Output *output : *wireEntry->outputs()) {
      if (output->kind() == wire::OutputKind::Tensor) {
        entry.outputs.push_back(
            describe(output->name()->c_str(), output->value()));
        continue;
      }
      bool integer = output->kind() == wire::OutputKind::Integer;
      SignatureItem item{output->name()->str(),
                         integer ? FP8RT_INTEGER : FP8RT_NONE,
                         DType::I64,
                         {},
                         {},
                         {}};
      if (integer)
        item.texts.push_back(exprText(plan(), output->expr()));
      entry.outputs.push_back(std::move(item));
    }
    entries.push_back(std::move(entry));
  }
  // The strings stay where they are from here on.
  auto point = [](std::vector<SignatureItem> &items) {
    for (SignatureItem &item : items)
      for (const std::string &text : item.texts)
        item.textPointers.push_back(text.c_str());
  };
  point(weights);
  point(states);
  for (EntryPoint &entry : entries) {
    point(entry.inputs);
    point(entry.outputs);
  }
}

Program::~Program() = default;

SignatureItem Program::describe(const char *name, uint32_t value) const {
  const wire::Value &v = *plan().values()->Get(value);
  SignatureItem item{name, FP8RT_TENSOR, v.dtype(), {}, {}, {}};
  for (uint32_t dim : *v.dims()) {
    const wire::Expr &e = *plan().exprs()->Get(dim);
    bool constant = e.kind() == wire::ExprKind::Const;
    item.dims.push_back(constant ? e.value() : -1);
    item.texts.push_back(exprText(plan(), dim));
  }
  return item;
}

void Program::readWeights() {
  for (const wire::Weight *w : *plan().weights()) {
    auto it = source->weights().find(w->key()->str());
    weightPointers.push_back(nullptr);
    if (it == source->weights().end())
      continue;
    const StoredTensor &stored = it->second;
    require(stored.dtype == w->dtype() &&
                std::equal(stored.dims.begin(), stored.dims.end(),
                           w->dims()->begin(), w->dims()->end()),
            FP8RT_INVALID_PACKAGE, "weight \"", w->name()->str(), "\" is ",
            dtypeName(stored.dtype), " ", dimsText(stored.dims),
            " in weights.safetensors, the plan has another dtype or dims");
    const void *data = stored.data.data;
    if (reinterpret_cast<uintptr_t>(data) % elementSize(stored.dtype)) {
      size_t units = stored.data.size / sizeof(std::max_align_t) + 1;
      copies.emplace_back(new std::max_align_t[units]);
      std::memcpy(copies.back().get(), data, stored.data.size);
      data = copies.back().get();
    }
    weightPointers.back() = data;
  }
}

const EntryPoint &Program::entry(const char *name) const {
  const char *wanted = name ? name : "forward";
  for (const EntryPoint &entry : entries)
    if (entry.name == wanted)
      return entry;
  std::string have;
  for (const EntryPoint &entry : entries)
    have += (have.empty() ? "" : ", ") + entry.name;
  fail(FP8RT_NOT_FOUND, "no entry point \"", wanted, "\", the program has ",
       have.empty() ? "none" : have);
}

bool Program::bindWeight(const char *name, const DLTensor &tensor) {
  require(!frozen, FP8RT_INVALID_STATE, "weight \"", name,
          "\" cannot be bound once a context exists");
  for (size_t i = 0; i < weights.size(); ++i) {
    if (weights[i].name != name)
      continue;
    checkTensor(tensor, weights[i].dtype, weights[i].dims, "weight", name);
    weightPointers[i] = tensorData(tensor);
    return true;
  }
  return false;
}

std::shared_ptr<LoadedProgram> Program::loadOn(Device &device) {
  std::lock_guard<std::mutex> lock(mutex);
  std::weak_ptr<LoadedProgram> &known = loaded[device.name()];
  std::shared_ptr<LoadedProgram> result = known.lock();
  if (!result)
    known = result = device.load(shared_from_this());
  return result;
}

const std::string &Program::text() {
  std::lock_guard<std::mutex> lock(mutex);
  if (planAsText.empty())
    planAsText = planText(plan());
  return planAsText;
}

//===----------------------------------------------------------------------===//
// All plans of a package
//===----------------------------------------------------------------------===//

/// Whether two lists show the caller the same; messages need no more.
static bool sameItems(const std::vector<SignatureItem> &a,
                      const std::vector<SignatureItem> &b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                    [](const SignatureItem &x, const SignatureItem &y) {
                      return x.name == y.name && x.kind == y.kind &&
                             x.dtype == y.dtype && x.dims == y.dims;
                    });
}

static bool sameEntries(const std::vector<EntryPoint> &a,
                        const std::vector<EntryPoint> &b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                    [](const EntryPoint &x, const EntryPoint &y) {
                      return x.name == y.name &&
                             sameItems(x.inputs, y.inputs) &&
                             sameItems(x.outputs, y.outputs);
                    });
}

Programs::Programs(std::unique_ptr<Package> owned) {
  std::shared_ptr<const Package> package = std::move(owned);
  for (const Package::Plan &plan : package->plans()) {
    programs.push_back(std::make_shared<Program>(package, plan));
    targetText += (targetText.empty() ? "" : ", ") + plan.target;
    require(sameItems(programs.back()->states, first()->states) &&
                sameEntries(programs.back()->entries, first()->entries),
            FP8RT_INVALID_PACKAGE, package->name(), ": the plans for ",
            first()->target(), " and ", plan.target,
            " have different signatures or states");
  }
}

const std::shared_ptr<Program> &
Programs::forDevice(const Device &device) const {
  const std::shared_ptr<Program> *best = nullptr;
  for (const std::shared_ptr<Program> &program : programs) {
    int rank = device.rankTarget(program->target());
    if (rank && (!best || rank > device.rankTarget((*best)->target())))
      best = &program;
  }
  require(best, FP8RT_INCOMPATIBLE, "the package has plans for ", targetText,
          ", none runs on ", device.name());
  return *best;
}

const std::shared_ptr<Program> &Programs::forTarget(const char *target) const {
  for (const std::shared_ptr<Program> &program : programs)
    if (program->target() == target)
      return program;
  fail(FP8RT_NOT_FOUND, "the package has plans for ", targetText, ", none for ",
       target);
}

void Programs::bindWeight(const char *name, const DLTensor &tensor) {
  bool found = false;
  for (const std::shared_ptr<Program> &program : programs)
    found |= program->bindWeight(name, tensor);
  require(found, FP8RT_NOT_FOUND, "no weight \"", name, "\"");
}

void Programs::freeze() {
  for (const std::shared_ptr<Program> &program : programs)
    program->freeze();
}
