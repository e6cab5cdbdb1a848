//===- PlanWriter.h - Plans and packages made by hand -----------*- C++ -*-===//
//
// Part of fp8c, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef FP8C_TEST_UNIT_RUNTIME_PLANWRITER_H
#define FP8C_TEST_UNIT_RUNTIME_PLANWRITER_H

#include "Zip.h"

#include "fp8c/Package/plan_generated.h"
#include "fp8c/Runtime/fp8rt.h"

#include <cstring>
#include <map>
#include <string>
#include <vector>

namespace fp8c::test {

namespace wire = plan::wire;
using wire::DType;
using Values = std::vector<uint32_t>;
inline constexpr uint32_t kNone = 0xFFFFFFFF;

/// Writes a plan with one entry point "forward", and a package around it.
class PlanWriter {
public:
  uint32_t expr(wire::ExprKind kind, uint32_t lhs = 0, uint32_t rhs = 0,
                int64_t value = 0);
  uint32_t constant(int64_t value) {
    return expr(wire::ExprKind::Const, 0, 0, value);
  }
  /// The expression of a new symbol.
  uint32_t symbol(const char *name, int64_t min = 0, int64_t max = INT64_MAX,
                  int64_t multiple = 1);
  void check(uint32_t condition, const char *message,
             const char *location = "");

  /// Values; dims are expressions.
  uint32_t input(const char *name, DType dtype, Values dims);
  uint32_t output(const char *name, DType dtype, Values dims);
  void outputInteger(const char *name, uint32_t expr);
  uint32_t arena(DType dtype, Values dims, uint32_t first, uint32_t last);
  uint32_t view(uint32_t base, DType dtype, Values dims, Values strides,
                uint32_t offset);
  uint32_t weight(const char *name, DType dtype, std::vector<int64_t> dims,
                  const void *data);
  /// A state whose initial value is the newest weight.
  uint32_t state(const char *name, DType dtype, std::vector<int64_t> dims);
  uint32_t value(wire::ValueKind kind, DType dtype, Values dims, Values strides,
                 uint32_t offset, uint32_t index, uint32_t base, uint32_t first,
                 uint32_t last);

  /// Commands.
  template <typename T>
  void step(wire::Command type, flatbuffers::Offset<T> command, Values reads,
            Values writes) {
    steps.push_back(wire::CreateStep(
        fbb, type, command.Union(), fbb.CreateVector(reads),
        fbb.CreateVector(writes), 0, fbb.CreateString("node"),
        fbb.CreateString("path"), fbb.CreateString("model.py:1")));
  }
  uint32_t kernel(const char *symbol, uint32_t product = kNone);
  void launch(uint32_t kernel, Values reads, Values writes, Values sizes,
              uint32_t tasks, uint32_t scratch);
  void copy(uint32_t from, uint32_t to);
  void fill(uint32_t to, uint64_t pattern);

  /// The plan's bytes. Once.
  std::string finishPlan(uint32_t version = 1);
  /// The package's bytes. Once.
  std::string finish() { return package(finishPlan()); }
  /// A package around given plan bytes and the weights so far. `object` is a
  /// path of a shared object, or empty.
  std::string package(const std::string &plan);

  flatbuffers::FlatBufferBuilder fbb;
  std::string objectPath;

private:
  Values denseStrides(size_t rank) { return Values(rank, constant(1)); }

  std::vector<wire::Expr> exprs;
  std::vector<flatbuffers::Offset<wire::Symbol>> symbols;
  std::vector<flatbuffers::Offset<wire::Check>> checks;
  std::vector<flatbuffers::Offset<wire::Value>> values;
  std::vector<flatbuffers::Offset<wire::Weight>> weights;
  std::vector<flatbuffers::Offset<wire::State>> states;
  std::vector<flatbuffers::Offset<wire::Kernel>> kernels;
  std::vector<flatbuffers::Offset<wire::Step>> steps;
  std::vector<flatbuffers::Offset<wire::Input>> inputs;
  std::vector<flatbuffers::Offset<wire::Output>> outputs;
  std::string weightHeader, weightData;
};

/// A plan with a product, a copy from the arena, a weight and a state: what
/// damaged files start from.
PlanWriter &writeSound(PlanWriter &w);

/// The manifest of a package with these entries.
std::string makeManifest(const std::map<std::string, std::string> &entries,
                         bool hasObject);
std::string readFile(const std::string &path);

/// A dense tensor with memory of its own, as DLPack.
struct TestTensor {
  TestTensor(DType dtype, std::vector<int64_t> dims);
  template <typename T> T *as() { return reinterpret_cast<T *>(bytes.data()); }
  std::vector<int64_t> dims;
  std::vector<char> bytes;
  DLTensor dl;
};

/// A loaded package and a context; calls with tensors and gives the message of
/// what fails, "" when all is well.
struct TestProgram {
  explicit TestProgram(const std::string &package, int threads = 2,
                       int cachedShapes = 0);
  ~TestProgram();
  std::string call(std::vector<TestTensor *> inputs,
                   std::vector<TestTensor *> outputs);
  std::string package;
  /// Why loading or making a context failed, "" when it did not.
  std::string error;
  fp8rt_program_t *program = nullptr;
  fp8rt_context_t *context = nullptr;
};

} // namespace fp8c::test

#endif // FP8C_TEST_UNIT_RUNTIME_PLANWRITER_H
