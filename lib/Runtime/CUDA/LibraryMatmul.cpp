//===- LibraryMatmul.cpp - A product as cuBLASLt knows it -----------------===//
//
// Part of fp8c, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "LibraryMatmul.h"

#include <algorithm>

using namespace fp8c::rt;
using namespace fp8c::rt::cuda;

/// What PyTorch gives it for f8 products: with as much, the heuristic's first
/// answer is PyTorch's algorithm.
static constexpr uint64_t kPyTorchWorkspace = 1 << 20;
/// Candidates that are asked for.
static constexpr int kCandidates = 8;

LibraryMatmul::LibraryMatmul(CublasLt &library, const MatmulArgs &args,
                             const LibraryForm &form)
    : library(library), args(args), form(form) {
  bool wide = form.computeType == kLtCompute64F;
  check(library.descCreate(&desc, form.computeType,
                           CublasLt::getType(wide ? DType::F64 : DType::F32)),
        "cublasLtMatmulDescCreate");
  int transposed = kLtTransposed;
  if (form.a.transposed)
    set(LtDescAttribute::TransA, transposed);
  if (form.b.transposed)
    set(LtDescAttribute::TransB, transposed);
  if (args.bias) {
    set(LtDescAttribute::Epilogue, kLtEpilogueBias);
    set(LtDescAttribute::BiasType, CublasLt::getType(args.bias->dtype));
  }
  if (form.isF8) {
    int8_t fast = args.fastAccum;
    set(LtDescAttribute::FastAccum, fast);
    // Older libraries have scales of tensors alone and no such attributes.
    auto takes = [&](LtDescAttribute attribute, int mode) {
      return library.descSet(desc, int(attribute), &mode, sizeof(mode)) == 0;
    };
    if (form.aScale != LtScaleMode::Tensor ||
        form.bScale != LtScaleMode::Tensor)
      takesScales = takes(LtDescAttribute::AScaleMode, int(form.aScale)) &&
                    takes(LtDescAttribute::BScaleMode, int(form.bScale));
  }
  a = makeLayout(form.a);
  b = makeLayout(form.b);
  d = makeLayout(form.d);
  // Pointers change what the library can do: some are set before it is asked.
  void *some = reinterpret_cast<void *>(uintptr_t(256));
  auto placeOf = [&](const Tensor *t) { return t ? some : nullptr; };
  ProductData places;
  places.bias = placeOf(args.bias);
  places.aScale = placeOf(args.aScale);
  places.bScale = placeOf(args.bScale);
  places.resultScale = placeOf(args.resultScale);
  places.amax = placeOf(args.amax);
  setAddresses(places);
}

LibraryMatmul::~LibraryMatmul() {
  for (LtLayout layout : {a, b, d})
    if (layout)
      library.layoutDestroy(layout);
  if (desc)
    library.descDestroy(desc);
}

LtLayout LibraryMatmul::makeLayout(const LibraryForm::Matrix &matrix) const {
  LtLayout layout = nullptr;
  check(library.layoutCreate(&layout, matrix.type, uint64_t(matrix.rows),
                             uint64_t(matrix.columns), matrix.leading),
        "cublasLtMatrixLayoutCreate");
  if (form.batches > 1) {
    int32_t count = int32_t(form.batches);
    check(library.layoutSet(layout, int(LtLayoutAttribute::BatchCount), &count,
                            sizeof(count)),
          "cublasLtMatrixLayoutSetAttribute");
    check(library.layoutSet(layout, int(LtLayoutAttribute::BatchStride),
                            &matrix.batchStride, sizeof(int64_t)),
          "cublasLtMatrixLayoutSetAttribute");
  }
  return layout;
}

std::vector<LtHeuristic> LibraryMatmul::ask(int most, bool isFree,
                                            uint64_t limit) const {
  if (!takesScales)
    return {};
  LtPreference preference = nullptr;
  check(library.preferenceCreate(&preference),
        "cublasLtMatmulPreferenceCreate");
  library.preferenceSet(preference, int(LtPreferenceAttribute::Workspace),
                        &limit, sizeof(limit));
  if (!isFree)
    library.preferenceSet(
        preference, int(LtPreferenceAttribute::ReductionSchemes),
        &kLtReductionComputeType, sizeof(kLtReductionComputeType));
  std::vector<LtHeuristic> results(static_cast<size_t>(most));
  int count = 0;
  LtStatus status = library.heuristic(library.handle, desc, a, b, d, d,
                                      preference, most, results.data(), &count);
  library.preferenceDestroy(preference);
  results.resize(status == 0 ? size_t(count) : 0);
  return results;
}

std::vector<LtHeuristic> LibraryMatmul::askFor(const LibraryForm &other) const {
  return LibraryMatmul(library, args, other).ask(1, false, kWorkspace);
}

std::vector<LtHeuristic> LibraryMatmul::getCandidates(bool isWide) const {
  // First what the library takes by itself (and PyTorch with it), unless it
  // rounds partial sums to the result's type.
  std::vector<LtHeuristic> results =
      ask(1, true, form.isF8 ? kPyTorchWorkspace : kWorkspace);
  std::vector<LtHeuristic> others = ask(kCandidates, false, kWorkspace);
  auto addOthers = [&](const std::vector<LtHeuristic> &more) {
    others.insert(others.end(), more.begin(), more.end());
  };
  // The heuristic leaves out what may be the fastest by up to a tenth, and
  // names it for half of the rows, or for scales of rows.
  if (isWide && !form.b.transposed && form.d.columns > 1) {
    LibraryForm half = form;
    half.b.columns = half.d.columns /= 2;
    addOthers(askFor(half));
  }
  if (isWide && form.isF8 && form.aScale == LtScaleMode::Tensor) {
    LibraryForm rows = form;
    rows.aScale = rows.bScale = LtScaleMode::Outer;
    addOthers(askFor(rows));
  }
  if (!results.empty()) {
    uint32_t scheme = kLtReductionNone;
    size_t written = 0;
    LtStatus status =
        library.algorithmGet(&results[0].algorithm, kLtReductionScheme, &scheme,
                             sizeof(scheme), &written);
    if (status != 0 ||
        (scheme != kLtReductionNone && scheme != kLtReductionComputeType))
      results.clear();
  }
  for (LtHeuristic &other : others) {
    auto isSame = [&](const LtHeuristic &known) {
      return std::equal(std::begin(known.algorithm.data),
                        std::end(known.algorithm.data),
                        std::begin(other.algorithm.data));
    };
    if (std::none_of(results.begin(), results.end(), isSame))
      results.push_back(other);
  }
  results.erase(std::remove_if(results.begin(), results.end(),
                               [&](LtHeuristic &candidate) {
                                 return candidate.state != 0 ||
                                        !isValid(candidate);
                               }),
                results.end());
  return results;
}

bool LibraryMatmul::isValid(LtHeuristic &candidate) const {
  LtHeuristic result{};
  if (library.check(library.handle, desc, a, b, d, d, &candidate.algorithm,
                    &result) != 0 ||
      result.workspace > kWorkspace)
    return false;
  candidate.workspace = result.workspace;
  return true;
}

void LibraryMatmul::setAddresses(const ProductData &data) const {
  if (data.bias)
    set(LtDescAttribute::BiasPointer, data.bias);
  if (data.aScale)
    set(LtDescAttribute::BScale, data.aScale);
  if (data.bScale)
    set(LtDescAttribute::AScale, data.bScale);
  if (data.resultScale)
    set(LtDescAttribute::DScale, data.resultScale);
  if (data.amax)
    set(LtDescAttribute::AmaxD, data.amax);
}

LtStatus LibraryMatmul::launch(const LtHeuristic &how, const ProductData &data,
                               Stream stream) const {
  setAddresses(data);
  const float one = 1, zero = 0;
  const double wideOne = 1, wideZero = 0;
  bool wide = form.computeType == kLtCompute64F;
  const void *alpha = wide ? static_cast<const void *>(&wideOne) : &one;
  const void *beta = wide ? static_cast<const void *>(&wideZero) : &zero;
  return library.matmul(library.handle, desc, alpha, data.b, a, data.a, b, beta,
                        data.d, d, data.d, d, &how.algorithm, data.workspace,
                        how.workspace, stream);
}
