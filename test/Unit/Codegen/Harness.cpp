//===- Harness.cpp - Compiles kernels and runs them in the test -----------===//
//
// Part of fp8c, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Harness.h"

#include "fp8c/Dialect/FP8/Transforms/Passes.h"
#include "fp8c/Dialect/Plan/Plan.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Parser/Parser.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstring>
#include <dlfcn.h>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

using namespace mlir;
using namespace fp8c;
using namespace fp8c::test;

static constexpr size_t kGuard = 64;

Tensor Tensor::make(std::vector<int64_t> shape, unsigned elementBytes) {
  Tensor tensor;
  tensor.shape = shape;
  tensor.elementBytes = elementBytes;
  tensor.strides.assign(shape.size(), 1);
  for (size_t i = shape.size(); i-- > 1;)
    tensor.strides[i - 1] = tensor.strides[i] * shape[i];
  tensor.bytes.assign(tensor.count() * elementBytes + kGuard, 0xff);
  return tensor;
}

int64_t Tensor::count() const {
  int64_t count = 1;
  for (int64_t size : shape)
    count *= size;
  return count;
}

bool Tensor::guardHolds() const {
  for (size_t i = bytes.size() - kGuard; i < bytes.size(); ++i)
    if (bytes[i] != 0xff)
      return false;
  return true;
}

Tensor Tensor::ofF32(std::vector<int64_t> shape,
                     const std::vector<float> &values) {
  Tensor tensor = make(std::move(shape), 4);
  std::copy(values.begin(), values.end(), tensor.data<float>());
  return tensor;
}

Tensor Tensor::ofBF16(std::vector<int64_t> shape,
                      const std::vector<float> &values) {
  Tensor tensor = make(std::move(shape), 2);
  for (size_t i = 0; i < values.size(); ++i)
    tensor.data<uint16_t>()[i] = toBF16(values[i]);
  return tensor;
}

uint16_t test::toBF16(float value) {
  if (std::isnan(value))
    return 0x7fc0;
  uint32_t bits;
  std::memcpy(&bits, &value, 4);
  return (bits + 0x7fff + ((bits >> 16) & 1)) >> 16;
}

float test::fromBF16(uint16_t bits) {
  uint32_t wide = uint32_t(bits) << 16;
  float value;
  std::memcpy(&value, &wide, 4);
  return value;
}

Kernels::Kernels(const std::string &text) {
  DialectRegistry registry;
  registry
      .insert<arith::ArithDialect, fp8::FP8Dialect, linalg::LinalgDialect,
              math::MathDialect, plan::PlanDialect, tensor::TensorDialect>();
  codegen::registerCpuDialects(registry);
  context.appendDialectRegistry(registry);
  module = parseSourceString<ModuleOp>(text, &context);
  if (!module) {
    error = "the kernels do not parse";
    return;
  }
  context.loadDialect<arith::ArithDialect, linalg::LinalgDialect,
                      math::MathDialect, tensor::TensorDialect>();
  fp8::ExpandScaledOptions expand;
  expand.keepTensorAmax = true;
  fp8::expandScaledOps(*module, expand);
  auto start = std::chrono::steady_clock::now();
  auto objects = codegen::compileCpuKernels(*module, codegen::CpuLevel::V3);
  compileSeconds =
      std::chrono::duration<double>(std::chrono::steady_clock::now() - start)
          .count();
  if (!objects) {
    error = llvm::toString(objects.takeError());
    return;
  }
  const std::string &object = objects->front();
  int file = memfd_create("kernels", MFD_CLOEXEC);
  ssize_t written = write(file, object.data(), object.size());
  std::string path = "/proc/self/fd/" + std::to_string(file);
  library = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (!library || written != ssize_t(object.size()))
    error = std::string("the object does not load: ") + dlerror();
  close(file);
}

Kernels::~Kernels() {
  if (library)
    dlclose(library);
}

void Kernels::run(const std::string &name, std::vector<Tensor *> operands,
                  std::vector<int64_t> indices, unsigned parts) {
  ASSERT_EQ(error, "");
  auto kernel = module->lookupSymbol<plan::KernelOp>(name);
  std::string why;
  auto program = codegen::RowProgram::analyze(kernel.getBody().front(),
                                              kernel.getUnitDims(), why);
  ASSERT_TRUE(succeeded(program)) << why;
  std::vector<int64_t> sizes;
  for (const codegen::Dim &dim : program->getDims())
    sizes.push_back(dim.operand < 0
                        ? dim.size
                        : operands[dim.operand]->shape[dim.operandDim]);
  std::vector<int64_t> extents = sizes;
  std::vector<void *> pointers;
  for (Tensor *tensor : operands) {
    sizes.insert(sizes.end(), tensor->strides.begin(), tensor->strides.end());
    pointers.push_back(tensor->bytes.data());
  }
  sizes.insert(sizes.end(), indices.begin(), indices.end());
  // Indices that only a tensor.empty uses may be left out.
  ASSERT_LE(sizes.size(), program->getNumSizes());
  sizes.resize(program->getNumSizes());
  for (unsigned result : program->getAtomicResults())
    std::memset(operands[program->getNumInputs() + result]->bytes.data(), 0, 4);

  using Function =
      void (*)(void *const *, const int64_t *, int64_t, int64_t, void *);
  auto *function = reinterpret_cast<Function>(dlsym(library, name.c_str()));
  ASSERT_NE(function, nullptr);
  std::vector<uint8_t> scratch(program->getScratch(extents) + 128, 0xff);
  auto *aligned = reinterpret_cast<uint8_t *>(
      (reinterpret_cast<uintptr_t>(scratch.data()) + 63) & ~uintptr_t(63));
  int64_t tasks = program->getTasks(extents);
  for (unsigned part = 0; part < parts; ++part)
    function(pointers.data(), sizes.data(), tasks * part / parts,
             tasks * (part + 1) / parts, aligned);
  for (size_t i = program->getNumInputs(); i < operands.size(); ++i)
    EXPECT_TRUE(operands[i]->guardHolds()) << "a write behind result " << i;
}
