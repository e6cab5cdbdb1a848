//===- Harness.h - Compiles kernels and runs them in the test ---*- C++ -*-===//
//
// Part of fp8c, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef FP8C_TEST_UNIT_CODEGEN_HARNESS_H
#define FP8C_TEST_UNIT_CODEGEN_HARNESS_H

#include "fp8c/Codegen/CPU.h"
#include "fp8c/Codegen/RowProgram.h"

#include "mlir/IR/MLIRContext.h"

#include <string>
#include <vector>

namespace fp8c::test {

/// A tensor of a test: bytes with a shape and strides in elements.
struct Tensor {
  std::vector<int64_t> shape;
  std::vector<int64_t> strides;
  unsigned elementBytes = 4;
  std::vector<uint8_t> bytes;

  /// Dense and row-major, filled with 0xFF, with guard bytes after its end.
  static Tensor make(std::vector<int64_t> shape, unsigned elementBytes);
  static Tensor ofF32(std::vector<int64_t> shape,
                      const std::vector<float> &values);
  static Tensor ofBF16(std::vector<int64_t> shape,
                       const std::vector<float> &values);

  int64_t count() const;
  template <typename T> T *data() {
    return reinterpret_cast<T *>(bytes.data());
  }
  template <typename T> const T *data() const {
    return reinterpret_cast<const T *>(bytes.data());
  }
  /// Whether nothing was written after the last element.
  bool guardHolds() const;
};

/// The bits of `value` rounded to bf16, and back.
uint16_t toBF16(float value);
float fromBF16(uint16_t bits);

/// Kernels of a module in plan's textual form, compiled and loaded.
class Kernels {
public:
  explicit Kernels(const std::string &text);
  ~Kernels();

  /// Runs all tasks of kernel `name` in `parts` calls. Extents, strides and
  /// `indices` make the size block.
  void run(const std::string &name, std::vector<Tensor *> operands,
           std::vector<int64_t> indices = {}, unsigned parts = 3);

  /// Why loading failed, or empty.
  std::string error;
  double compileSeconds = 0;

private:
  mlir::MLIRContext context;
  mlir::OwningOpRef<mlir::ModuleOp> module;
  void *library = nullptr;
};

} // namespace fp8c::test

#endif // FP8C_TEST_UNIT_CODEGEN_HARNESS_H
