//===- LaunchChoices.cpp - Choices of a launch's shape --------------------===//
//
// Part of fp8c, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "LaunchChoices.h"

#include "llvm/ADT/StringExtras.h"

using namespace mlir;
using namespace fp8c;
using namespace fp8c::codegen;

namespace {
/// A choice, with the least and largest number that it may be.
struct Choice {
  StringLiteral name;
  int64_t least, most;
  bool isPower = false;
};
} // namespace

static constexpr Choice kChoices[] = {
    {"threads", 1, 512},     {"width", 2, 16, true},    {"vectors", 1, 16},
    {"rows", 1, 1 << 20},    {"stages", 0, 8, true},    {"blocks", 0, 32},
    {"wave", 1, 1 << 20},    {"ahead", 0, 1},           {"beside", 0, 1},
    {"sums", 0, 1},          {"dependent", 0, 1},       {"backwards", 0, 1},
    {"cluster", 1, 8, true}, {"few", 0, INT32_MAX / 8},
};

std::string codegen::checkLaunchChoices(DictionaryAttr choices) {
  for (NamedAttribute given : choices) {
    auto number = dyn_cast<IntegerAttr>(given.getValue());
    const auto *choice = llvm::find_if(kChoices, [&](const Choice &known) {
      return known.name == given.getName().getValue();
    });
    if (!number || choice == std::end(kChoices)) {
      SmallVector<StringRef> names;
      for (const Choice &known : kChoices)
        names.push_back(known.name);
      return "numbers named " + llvm::join(names, ", ");
    }
    int64_t value = number.getValue().getSExtValue();
    if (value < choice->least || value > choice->most ||
        (choice->isPower && (value & (value - 1)) != 0))
      return (choice->name + " to be " + Twine(choice->least) + " to " +
              Twine(choice->most) + (choice->isPower ? ", a power of two" : ""))
          .str();
  }
  return "";
}

//===----------------------------------------------------------------------===//
// Defaults
//===----------------------------------------------------------------------===//

/// All rows that there are.
static constexpr unsigned kAll = 1 << 20;
static constexpr int64_t kAny = INT64_MAX;

/// Measured on an H200 at rows of 1152, 2048, 4096 and 14336 elements
/// (tools/dev/tune_kernels.py measures others; docs/gpu-measured.md has the
/// times). The first line that fits counts.
static constexpr RowDefaults kRowDefaults[] = {
    // modulates, pairs, reductions, upTo, perThread, rows, resident,
    // readsAhead, few
    {false, false, 0, 1536, 36, 1, 0, true, 0},
    {false, false, 2, 3072, 32, 1, 896, true, 0},
    {false, false, 0, 3072, 32, 1, 768, true, 0},
    {false, false, 0, 8191, 32, 1, 0, false, 0},
    {false, false, 0, kAny, 56, 1, 0, true, 66},
    {false, true, 0, 1536, 12, 1, 960, false, 0},
    {false, true, 0, 3072, 16, 1, 1024, false, 0},
    {false, true, 0, 8191, 32, 1, 1024, false, 264},
    {false, true, 0, kAny, 56, 1, 768, false, 264},
    {true, false, 0, 1536, 36, 4, 512, true, 0},
    {true, false, 0, 3072, 32, kAll, 640, true, 0},
    {true, false, 0, 8191, 32, 6, 640, true, 0},
    {true, false, 0, 12287, 32, 8, 512, true, 66},
    {true, false, 0, 15359, 56, 8, 512, true, 66},
    {true, false, 0, kAny, 32, 8, 512, true, 66},
    {true, true, 0, 1536, 12, 1, 0, true, 0},
    {true, true, 0, 3072, 16, 2, 768, true, 0},
    {true, true, 0, 8191, 32, 2, 512, true, 0},
    {true, true, 0, kAny, 56, 1, 0, false, 66},
};

const RowDefaults &codegen::getRowDefaults(const RowProgram &program,
                                           const RowReads &reads) {
  bool modulates = reads.shared.size() >= 2, pairs = reads.own.size() > 1;
  size_t reductions = program.getReductions().size();
  // What is chosen by size alone is the same for all.
  if (Choices(program).get("sums").value_or(0)) {
    modulates = pairs = false;
    reductions = 0;
  }
  int64_t size = program.getDims()[program.getVectorDim()].size;
  for (const RowDefaults &line : kRowDefaults)
    if (line.modulates == modulates && line.pairs == pairs &&
        reductions >= line.reductions && size <= line.upTo)
      return line;
  llvm_unreachable("the last line of each kind is for any size");
}
