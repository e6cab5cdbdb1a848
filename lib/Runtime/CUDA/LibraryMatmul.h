//===- LibraryMatmul.h - A product as cuBLASLt knows it ---------*- C++ -*-===//
//
// Part of fp8c, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef FP8C_LIB_RUNTIME_CUDA_LIBRARYMATMUL_H
#define FP8C_LIB_RUNTIME_CUDA_LIBRARYMATMUL_H

#include "LibraryProduct.h"
#include "ProductData.h"

namespace fp8c::rt::cuda {

/// The library's descriptors of one product: which algorithms it has for it,
/// and running one.
class LibraryMatmul {
public:
  /// Bytes of workspace that the library may use.
  static constexpr uint64_t kWorkspace = 32 << 20;

  LibraryMatmul(CublasLt &library, const MatmulArgs &args,
                const LibraryForm &form);
  ~LibraryMatmul();
  LibraryMatmul(const LibraryMatmul &) = delete;

  /// Those that can compute it and never round partial sums to the result's
  /// type, the library's own choice first. `isWide`: also such as the
  /// heuristic leaves out.
  std::vector<LtHeuristic> getCandidates(bool isWide) const;
  /// Whether it can compute this product; notes the workspace that it needs.
  bool isValid(LtHeuristic &candidate) const;
  LtStatus launch(const LtHeuristic &how, const ProductData &data,
                  Stream stream) const;
  void check(LtStatus status, const char *what) const {
    require(status == 0, FP8RT_INTERNAL, what, ": ",
            library.statusName(status));
  }

private:
  template <typename T>
  void set(LtDescAttribute attribute, const T &value) const {
    check(library.descSet(desc, int(attribute), &value, sizeof(value)),
          "cublasLtMatmulDescSetAttribute");
  }
  /// Absent operands leave what is set.
  void setAddresses(const ProductData &data) const;
  LtLayout makeLayout(const LibraryForm::Matrix &matrix) const;
  /// The heuristic's answers; `isFree`: partial sums may be of any type.
  std::vector<LtHeuristic> ask(int most, bool isFree, uint64_t limit) const;
  /// What the library takes first for a product of another form.
  std::vector<LtHeuristic> askFor(const LibraryForm &other) const;

  CublasLt &library;
  const MatmulArgs &args;
  const LibraryForm form;
  LtDesc desc = nullptr;
  LtLayout a = nullptr, b = nullptr, d = nullptr;
  /// Whether the library has scales of this form.
  bool takesScales = true;
};

} // namespace fp8c::rt::cuda

#endif // FP8C_LIB_RUNTIME_CUDA_LIBRARYMATMUL_H
