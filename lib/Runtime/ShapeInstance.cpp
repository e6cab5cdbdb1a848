//===- ShapeInstance.cpp - An entry point at fixed sizes ------------------===//
//
// Part of fp8c, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ShapeInstance.h"

#include "MemoryPlanner.h"

#include <algorithm>

using namespace fp8c::rt;
using wire::ValueKind;

ShapeInstance::ShapeInstance(const Program &program, const EntryPoint &entry,
                             Queue &queue, std::vector<int64_t> dims)
    : program(program), entry(entry), key(std::move(dims)),
      sizes(solveSizes(program, entry, key.data())),
      tensors(program.plan().values()->size()), roots(tensors.size()),
      used(tensors.size()) {
  for (const wire::Input *input : *entry.wire->inputs())
    useValue(input->value());
  for (const wire::Output *output : *entry.wire->outputs()) {
    integers.push_back(0);
    if (output->kind() == wire::OutputKind::Tensor)
      useValue(output->value());
    else if (output->kind() == wire::OutputKind::Integer)
      integers.back() = sizes.get(output->expr(), output->name()->c_str());
  }
  for (const wire::Step *step : *entry.wire->steps())
    forEachOperand(*step, [&](uint32_t value, bool) { useValue(value); });
  placeArena(queue.lanes());
  ownScratchBegin = arenaSize = alignUp(arenaSize, kScratchAlignment);
  // Commands refer to their steps, which stay where they are.
  steps.resize(entry.wire->steps()->size());
  for (uint32_t i = 0; i < steps.size(); ++i) {
    PreparedStep &step = steps[i];
    step.wire = entry.wire->steps()->Get(i);
    prepare(step);
    step.command = queue.prepare(step);
    const int64_t bytes = step.command->scratchBytes();
    if (bytes > 0 && bytes <= queue.mostOwnScratch())
      placeOwnScratch(step, bytes);
    else
      scratchSize = std::max(scratchSize, bytes);
  }
  joinProducts(queue);
}

void ShapeInstance::joinProducts(Queue &queue) {
  for (size_t i = 1; i < steps.size(); ++i) {
    const wire::Launch *launch = steps[i].wire->command_as_Launch();
    if (!launch || !launch->joins() || steps[i].tasks == 0)
      continue;
    steps[i].joined = queue.join(steps[i - 1], steps[i]);
    steps[i - 1].isJoined = steps[i].joined != nullptr;
  }
}

void ShapeInstance::placeOwnScratch(PreparedStep &step, int64_t bytes) {
  step.ownScratchBytes = bytes;
  step.ownScratchOffset = arenaSize;
  arenaSize += alignUp(bytes, kScratchAlignment);
}

void ShapeInstance::useValue(uint32_t value) {
  if (used[value])
    return;
  used[value] = true;
  const wire::Value &v = *program.plan().values()->Get(value);
  std::string where = "value " + std::to_string(value);
  uint32_t rank = v.dims()->size();
  auto memory = std::make_unique<int64_t[]>(2 * size_t(rank) + 1);
  int64_t *dims = memory.get(), *strides = memory.get() + rank;
  extents.push_back(std::move(memory));
  for (uint32_t i = 0; i < rank; ++i)
    dims[i] = sizes.get(v.dims()->Get(i), where.c_str());
  int64_t bytes = byteSize(v.dtype(), dims, rank);
  require(bytes >= 0, FP8RT_GUARD_VIOLATED, where, ": its size is negative or",
          " overflows");
  Tensor &t = tensors[value];
  t = {v.dtype(), rank, dims, strides, bytes / elementSize(v.dtype()), nullptr};

  if (v.kind() != ValueKind::View) {
    int64_t stride = 1;
    for (uint32_t i = rank; i-- > 0;) {
      strides[i] = stride;
      stride *= std::max<int64_t>(dims[i], 1);
    }
    if (v.kind() == ValueKind::Weight || v.kind() == ValueKind::State) {
      const auto &stored =
          v.kind() == ValueKind::Weight
              ? *program.plan().weights()->Get(v.index())->dims()
              : *program.plan().states()->Get(v.index())->dims();
      require(std::equal(stored.begin(), stored.end(), dims),
              FP8RT_INVALID_PACKAGE, "plan: ", where,
              ": dims are not those of what it refers to");
    }
    places.push_back({value, value, 0, v.kind() == ValueKind::Arena});
    return;
  }
  uint32_t root = rootOf(program.plan(), value);
  useValue(root);
  int64_t offset = sizes.get(v.offset(), where.c_str());
  // Every element that the view can reach lies within the root.
  int64_t low = offset, high = offset;
  bool overflow = false;
  for (uint32_t i = 0; i < rank; ++i) {
    strides[i] = sizes.get(v.strides()->Get(i), where.c_str());
    int64_t reach;
    overflow |= __builtin_mul_overflow(std::max<int64_t>(dims[i] - 1, 0),
                                       strides[i], &reach) ||
                __builtin_add_overflow(reach < 0 ? low : high, reach,
                                       reach < 0 ? &low : &high);
  }
  int64_t count = tensors[root].elements;
  require(t.elements == 0 || (!overflow && low >= 0 && high < count),
          FP8RT_INVALID_PACKAGE, "plan: ", where, ": a view of elements ", low,
          " to ", high, " of a buffer of ", count);
  int64_t byteOffset = t.elements == 0 ? 0 : offset * elementSize(v.dtype());
  places.push_back({value, root, byteOffset, false});
}

/// The bytes that a tensor's elements reach when the first lies at `first`.
static ByteRange getReach(const Tensor &tensor, uint64_t first,
                          uint32_t space) {
  if (tensor.elements == 0)
    return {first, first, space};
  int64_t low = 0, high = 0;
  for (uint32_t i = 0; i < tensor.rank; ++i)
    (tensor.strides[i] < 0 ? low : high) +=
        (tensor.dims[i] - 1) * tensor.strides[i];
  const int64_t bytes = elementSize(tensor.dtype);
  return {first + uint64_t(low * bytes), first + uint64_t((high + 1) * bytes),
          space};
}

std::vector<StepAccess> ShapeInstance::collectAccesses(
    const std::function<ByteRange(uint32_t)> &getRange) const {
  const wire::Plan &plan = program.plan();
  std::vector<StepAccess> accesses;
  for (const wire::Step *step : *entry.wire->steps()) {
    StepAccess &access = accesses.emplace_back();
    forEachOperand(*step, [&](uint32_t value, bool isWrite) {
      // Nothing writes weights.
      if (plan.values()->Get(rootOf(plan, value))->kind() != ValueKind::Weight)
        (isWrite ? access.writes : access.reads).push_back(getRange(value));
    });
  }
  return accesses;
}

std::vector<uint32_t> ShapeInstance::findFirstSteps() const {
  // Each root is an address space of its own.
  std::vector<const Place *> placeOf(tensors.size());
  for (const Place &place : places)
    placeOf[place.value] = &place;
  return findEarliestStarts(
      findDependencies(collectAccesses([&](uint32_t value) {
        return getReach(tensors[value], uint64_t(placeOf[value]->offset),
                        placeOf[value]->root);
      })));
}

/// Whether a step at these sizes puts nothing into a stream.
static bool isIdle(const PreparedStep &step, const StepAccess &access) {
  if (step.isJoined)
    return true;
  if (step.wire->command_type() == wire::Command::Launch)
    return step.tasks == 0;
  return std::all_of(
      access.writes.begin(), access.writes.end(),
      [](const ByteRange &range) { return range.begin >= range.end; });
}

std::vector<LaneStep> ShapeInstance::placeInLanes(uint32_t lanes) const {
  std::vector<StepAccess> accesses = collectAccesses([&](uint32_t value) {
    const Tensor &t = tensors[value];
    return getReach(t, reinterpret_cast<uintptr_t>(t.data), 0);
  });
  // There is one scratch memory; no tensor lies at 0.
  auto usesScratch = [](const PreparedStep &step) {
    return step.command->scratchBytes() > step.ownScratchBytes;
  };
  const ByteRange scratch{0, 1};
  // At other addresses a joined product is a command of its own.
  for (size_t i = 0; i + 1 < steps.size(); ++i) {
    if (!steps[i].isJoined)
      continue;
    std::vector<ByteRange> &writes = accesses[i + 1].writes;
    writes.insert(writes.end(), accesses[i].writes.begin(),
                  accesses[i].writes.end());
    if (usesScratch(steps[i]))
      writes.push_back(scratch);
  }
  std::vector<bool> leavesRoom;
  std::vector<size_t> idle;
  for (size_t i = 0; i < steps.size(); ++i) {
    const PreparedStep &step = steps[i];
    leavesRoom.push_back(step.wire->command_type() == wire::Command::Attention);
    if (isIdle(step, accesses[i])) {
      idle.push_back(i);
      accesses[i] = {};
    } else if (!step.joined && usesScratch(step)) {
      accesses[i].writes.push_back(scratch);
    }
  }
  Dependencies dependencies = findDependencies(accesses);
  startBesideRoom(dependencies, leavesRoom);
  // Those who do nothing wait for nothing: what follows in their lane would
  // have to, and is told that it follows them alone.
  for (size_t step : idle)
    dependencies[step].clear();
  return assignLanes(dependencies, lanes);
}

void ShapeInstance::placeArena(uint32_t lanes) {
  std::vector<uint32_t> firsts(tensors.size(), UINT32_MAX);
  if (lanes > 1) {
    std::vector<uint32_t> starts = findFirstSteps();
    for (uint32_t i = 0; i < starts.size(); ++i)
      forEachOperand(*entry.wire->steps()->Get(i),
                     [&](uint32_t value, bool isWrite) {
                       uint32_t &first = firsts[rootOf(program.plan(), value)];
                       if (isWrite)
                         first = std::min(first, starts[i]);
                     });
  }
  std::vector<Lifetime> lifetimes;
  std::vector<Place *> owners;
  for (Place &place : places) {
    if (!place.inArena)
      continue;
    const wire::Value &v = *program.plan().values()->Get(place.value);
    const Tensor &t = tensors[place.value];
    lifetimes.push_back({t.elements * elementSize(t.dtype),
                         std::min(v.first(), firsts[place.value]), v.last()});
    owners.push_back(&place);
  }
  arenaSize = planMemory(lifetimes);
  require(arenaSize >= 0, FP8RT_OUT_OF_MEMORY,
          "the intermediate values' size overflows");
  std::vector<int64_t> rootOffsets(tensors.size());
  for (size_t i = 0; i < owners.size(); ++i) {
    owners[i]->offset = lifetimes[i].offset;
    rootOffsets[owners[i]->value] = lifetimes[i].offset;
  }
  for (Place &place : places) {
    ValueKind kind = program.plan().values()->Get(place.root)->kind();
    if (kind != ValueKind::Arena || place.inArena)
      continue;
    place.offset += rootOffsets[place.root];
    place.inArena = true;
  }
}

void ShapeInstance::prepare(PreparedStep &step) {
  auto optional = [&](uint32_t value) {
    return value == kNone ? nullptr : &tensors[value];
  };
  std::string where =
      "step " + std::to_string(&step - steps.data()) +
      (step.wire->name() ? " (" + step.wire->name()->str() + ")" : "");
  switch (step.wire->command_type()) {
  case wire::Command::Launch: {
    const wire::Launch &launch = *step.wire->command_as_Launch();
    step.tasks = sizes.get(launch.tasks(), where.c_str());
    step.scratch = sizes.get(launch.scratch(), where.c_str());
    require(step.tasks >= 0 && step.scratch >= 0 &&
                step.scratch <= INT64_MAX / 2,
            FP8RT_INVALID_PACKAGE, "plan: ", where, ": ", step.tasks,
            " tasks with ", step.scratch, " bytes of scratch");
    for (uint32_t size : *launch.sizes())
      step.sizes.push_back(sizes.get(size, where.c_str()));
    for (uint32_t operand : *launch.operands())
      step.operands.push_back(&tensors[operand]);
    step.pointers.resize(step.operands.size());
    break;
  }
  case wire::Command::Matmul: {
    const wire::Matmul &m = *step.wire->command_as_Matmul();
    MatmulArgs &args = step.matmul;
    args.a = &tensors[m.a()];
    args.b = &tensors[m.b()];
    args.d = &tensors[m.d()];
    args.bias = optional(m.bias());
    args.aScale = optional(m.a_scale());
    args.bScale = optional(m.b_scale());
    args.resultScale = optional(m.result_scale());
    args.amax = optional(m.amax());
    args.bDecode = optional(m.b_decode());
    args.bDecodeDType = m.b_decode_dtype();
    args.aPadded = optional(m.a_padded());
    args.aBlockM = m.a_block_m();
    args.aBlockK = m.a_block_k();
    args.bBlockK = m.b_block_k();
    args.bBlockN = m.b_block_n();
    args.saturate = m.saturate();
    args.fastAccum = m.fast_accum();
    step.product = checkMatmul(args, where);
    break;
  }
  case wire::Command::Attention: {
    const wire::Attention &a = *step.wire->command_as_Attention();
    AttentionArgs &args = step.attention;
    args.query = &tensors[a.query()];
    args.key = &tensors[a.key()];
    args.value = &tensors[a.value()];
    args.out = &tensors[a.out()];
    args.mask = optional(a.mask());
    args.scale = static_cast<float>(a.scale());
    args.causal = a.causal();
    step.product = checkAttention(args, where);
    break;
  }
  case wire::Command::Copy: {
    const wire::Copy &copy = *step.wire->command_as_Copy();
    step.source = &tensors[copy.src()];
    step.target = &tensors[copy.dst()];
    checkCopy(*step.source, *step.target, where);
    break;
  }
  case wire::Command::Fill:
    step.target = &tensors[step.wire->command_as_Fill()->dst()];
    break;
  case wire::Command::NONE:
    break;
  }
}

void ShapeInstance::patchPointers(char *arena) {
  for (const Place &place : places) {
    Tensor &tensor = tensors[place.value];
    char *base = place.inArena ? arena : roots[place.root];
    tensor.data = base ? base + place.offset : nullptr;
    // A kernel that reads with computed indices may load an element that it
    // does not use.
    if (tensor.elements == 0)
      tensor.data = arena;
  }
  for (PreparedStep &step : steps) {
    for (size_t i = 0; i < step.operands.size(); ++i)
      step.pointers[i] = step.operands[i]->data;
    step.ownScratch =
        step.ownScratchBytes ? arena + step.ownScratchOffset : nullptr;
  }
}

ShapeInstance::Graph *ShapeInstance::findGraph() {
  for (size_t i = 0; i < graphs.size(); ++i)
    if (graphs[i].roots == roots) {
      std::rotate(graphs.begin(), graphs.begin() + i, graphs.begin() + i + 1);
      return &graphs.front();
    }
  return nullptr;
}

void ShapeInstance::addGraph(std::unique_ptr<Command> command, size_t most) {
  if (Graph *known = findGraph()) {
    known->command = std::move(command);
    return;
  }
  if (graphs.size() >= most)
    graphs.pop_back();
  graphs.insert(graphs.begin(), {roots, std::move(command)});
}
