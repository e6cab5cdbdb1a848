//===- ShapeInstance.h - An entry point at fixed sizes ----------*- C++ -*-===//
//
// Part of fp8c, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef FP8C_LIB_RUNTIME_SHAPEINSTANCE_H
#define FP8C_LIB_RUNTIME_SHAPEINSTANCE_H

#include "Device.h"
#include "Operations.h"
#include "Program.h"
#include "Sizes.h"
#include "Tensor.h"

#include <memory>
#include <vector>

namespace fp8c::rt {

/// A step with everything but pointers worked out.
struct PreparedStep {
  const wire::Step *wire = nullptr;
  /// Launch: units of work, the evaluated size block and scratch memory.
  int64_t tasks = 0;
  int64_t scratch = 0;
  std::vector<int64_t> sizes;
  std::vector<const Tensor *> operands;
  std::vector<void *> pointers;
  /// Matmul and Attention.
  MatmulArgs matmul;
  AttentionArgs attention;
  ProductSizes product;
  /// Copy and Fill.
  const Tensor *source = nullptr;
  const Tensor *target = nullptr;
  /// What the device does.
  std::unique_ptr<Command> command;
  /// What it does together with the product before it, where that is one
  /// command; that step `isJoined`.
  std::unique_ptr<Command> joined;
  bool isJoined = false;
  /// Scratch memory that no other step uses: bytes, place in the arena,
  /// address.
  int64_t ownScratchBytes = 0, ownScratchOffset = 0;
  char *ownScratch = nullptr;
};

/// Sizes, offsets and command parameters of an entry point for one set of input
/// dims. Only the tensors' pointers change from call to call.
class ShapeInstance {
public:
  /// Solves and checks the sizes; `dims` are all inputs' dims one after the
  /// other. Throws an Error when they do not fit.
  ShapeInstance(const Program &program, const EntryPoint &entry, Queue &queue,
                std::vector<int64_t> dims);
  ShapeInstance(const ShapeInstance &) = delete;

  /// The inputs' dims that it was made for.
  const std::vector<int64_t> &inputDims() const { return key; }
  /// Bytes of arena memory that it needs.
  int64_t arenaBytes() const { return arenaSize; }
  /// The most bytes of scratch memory that a command needs besides its own.
  int64_t scratchBytes() const { return scratchSize; }
  /// Of arena memory, the first byte of what steps have as their own scratch
  /// memory, up to its end; it must be 0 before a call's first step.
  int64_t ownScratchOffset() const { return ownScratchBegin; }
  /// A value of the plan that this entry point uses.
  const Tensor &tensor(uint32_t value) const { return tensors[value]; }
  /// Sets the memory of a root value and of its views.
  void setRoot(uint32_t value, char *data) { roots[value] = data; }
  char *root(uint32_t value) const { return roots[value]; }
  /// Carries what setRoot gave to every tensor and every launch.
  void patchPointers(char *arena);

  /// The steps side by side, for where pointers were carried to last.
  std::vector<LaneStep> placeInLanes(uint32_t lanes) const;

  /// An integer among the outputs.
  int64_t integer(size_t output) const { return integers[output]; }

  /// All commands as one, for where inputs, outputs, weights and state lay
  /// then. Without a command: a call was seen, no graph was made.
  struct Graph {
    std::vector<char *> roots;
    std::unique_ptr<Command> command;
  };
  /// The one for where they lie now, or null. Valid until one is added.
  Graph *findGraph();
  /// Adds one for where they lie now, or replaces it; keeps the `most` that
  /// were used last.
  void addGraph(std::unique_ptr<Command> command, size_t most);

  std::vector<PreparedStep> steps;
  /// The most recently used first.
  std::vector<Graph> graphs;

private:
  /// A used value: where its memory is.
  struct Place {
    uint32_t value;
    uint32_t root;
    /// In bytes, from the root's first element, or from the arena's.
    int64_t offset;
    bool inArena;
  };
  void useValue(uint32_t value);
  /// Gives every arena buffer its place, for steps in so many lanes.
  void placeArena(uint32_t lanes);
  /// What each step reads and writes, weights left out.
  std::vector<StepAccess> collectAccesses(
      const std::function<ByteRange(uint32_t value)> &getRange) const;
  /// For each step its number, or an earlier one before which it will not run
  /// even in lanes.
  std::vector<uint32_t> findFirstSteps() const;
  void prepare(PreparedStep &step);
  /// Has launches and the products before them run as one where the queue does.
  void joinProducts(Queue &queue);
  /// Behind what is placed in the arena so far.
  void placeOwnScratch(PreparedStep &step, int64_t bytes);

  const Program &program;
  const EntryPoint &entry;
  std::vector<int64_t> key;
  Sizes sizes;
  /// Indexed by the plan's values; those of other entry points stay empty.
  std::vector<Tensor> tensors;
  std::vector<char *> roots;
  std::vector<Place> places;
  std::vector<bool> used;
  /// Dims and strides of the used values.
  std::vector<std::unique_ptr<int64_t[]>> extents;
  std::vector<int64_t> integers;
  int64_t arenaSize = 0;
  int64_t scratchSize = 0;
  int64_t ownScratchBegin = 0;
};

} // namespace fp8c::rt

#endif // FP8C_LIB_RUNTIME_SHAPEINSTANCE_H
