//===- LibraryProduct.cpp - A product by cuBLASLt -------------------------===//
//
// Part of fp8c, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "LibraryProduct.h"

#include "LibraryCall.h"
#include "OwnProduct.h"
#include "ProductTrial.h"

#include <algorithm>
#include <cstdlib>
#include <sstream>

using namespace fp8c::rt;
using namespace fp8c::rt::cuda;

/// Bytes of workspace that the library may use.
static constexpr uint64_t kWorkspace = 32 << 20;
/// What PyTorch gives it for f8 products: with as much, the heuristic's first
/// answer is PyTorch's algorithm.
static constexpr uint64_t kPyTorchWorkspace = 1 << 20;
/// Candidates that are asked for.
static constexpr int kCandidates = 8;
/// What addresses are multiples of when an algorithm is chosen.
static constexpr uintptr_t kAlignment16 = 16;
/// Elements of the right operand from which on candidates are measured.
static constexpr int64_t kMeasuredElements = 1 << 20;

namespace {

class LibraryProduct : public Command {
public:
  LibraryProduct(CudaQueue &queue, CublasLt &library, const PreparedStep &step,
                 const LibraryForm &form);
  ~LibraryProduct() override;

  /// Chooses the algorithm; gives why there is none, or "".
  std::string choose();

  int64_t scratchBytes() const override { return int64_t(workspace); }
  std::string describe() const override;
  void run() override;

private:
  template <typename T>
  void set(LtDescAttribute attribute, const T &value) const {
    check(library.descSet(desc, int(attribute), &value, sizeof(value)),
          "cublasLtMatmulDescSetAttribute");
  }
  LtLayout makeLayout(const LibraryForm::Matrix &matrix) const;
  void check(LtStatus status, const char *what) const {
    require(status == 0, FP8RT_INTERNAL, what, ": ",
            library.statusName(status));
  }
  std::string makeKey() const;
  bool isValid(LtHeuristic &candidate) const;
  /// The heuristic's answers; `isFree`: partial sums may be of any type.
  std::vector<LtHeuristic> ask(int most, bool isFree, uint64_t limit) const;
  /// What the library takes first for a product of another form.
  std::vector<LtHeuristic> askFor(const LibraryForm &other) const;
  /// Whether candidates are measured.
  bool isMeasured() const;
  /// Those that can compute it and never round partial sums to the result's
  /// type.
  std::vector<LtHeuristic> getCandidates() const;
  /// The valid candidate to take, the fastest if that is to be measured.
  size_t findBest(const std::vector<LtHeuristic> &candidates) const;
  /// Pointers that change what the library can do are set before it is asked.
  void setPlaceholders() const;
  LtStatus launch(const LtAlgorithm &algorithm, size_t workspaceBytes,
                  const ProductData &data, Stream stream) const;

  CudaQueue &queue;
  CublasLt &library;
  const PreparedStep &step;
  const LibraryForm form;
  LtDesc desc = nullptr;
  LtLayout a = nullptr, b = nullptr, d = nullptr;
  /// Whether the library has scales of this form.
  bool takesScales = true;
  LtAlgorithm algorithm{};
  size_t workspace = 0;
  LibraryCall call;
  /// Ours, for addresses that the library does not take; made when needed.
  std::unique_ptr<Command> own;
};

} // namespace

LibraryProduct::LibraryProduct(CudaQueue &queue, CublasLt &library,
                               const PreparedStep &step,
                               const LibraryForm &form)
    : queue(queue), library(library), step(step), form(form), call(queue) {
  const MatmulArgs &args = step.matmul;
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
}

LibraryProduct::~LibraryProduct() {
  for (LtLayout layout : {a, b, d})
    if (layout)
      library.layoutDestroy(layout);
  if (desc)
    library.descDestroy(desc);
}

LtLayout LibraryProduct::makeLayout(const LibraryForm::Matrix &matrix) const {
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

std::string LibraryProduct::makeKey() const {
  const MatmulArgs &args = step.matmul;
  std::ostringstream key;
  // The leading dim of a matrix of dense columns says nothing more.
  for (const LibraryForm::Matrix *m : {&form.a, &form.b, &form.d})
    key << m->type << (m->transposed ? 't' : 'n')
        << (m->leading == m->rows ? 0 : m->leading) << ' ';
  // Products of about as many rows share a choice, but where it must not depend
  // on which of them came first.
  int64_t rows = step.product.m;
  if (queue.backends != FP8RT_BACKENDS_FIXED)
    for (rows = 1; rows < step.product.m;)
      rows *= 2;
  key << step.product.n << ' ' << step.product.k << ' ' << rows << ' '
      << form.batches << ' ' << int(form.aScale) << int(form.bScale) << ' '
      << (args.bias ? int(args.bias->dtype) : -1) << args.fastAccum
      << (args.resultScale != nullptr) << (args.amax != nullptr)
      << isMeasured();
  return key.str();
}

std::vector<LtHeuristic> LibraryProduct::ask(int most, bool isFree,
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

std::vector<LtHeuristic>
LibraryProduct::askFor(const LibraryForm &other) const {
  LibraryProduct product(queue, library, step, other);
  product.setPlaceholders();
  return product.ask(1, false, kWorkspace);
}

std::vector<LtHeuristic> LibraryProduct::getCandidates() const {
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
  if (isMeasured() && !form.b.transposed && form.d.columns > 1) {
    LibraryForm half = form;
    half.b.columns = half.d.columns /= 2;
    addOthers(askFor(half));
  }
  if (isMeasured() && form.isF8 && form.aScale == LtScaleMode::Tensor) {
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

/// Whether it can compute this product; notes the workspace that it needs.
bool LibraryProduct::isValid(LtHeuristic &candidate) const {
  LtHeuristic result{};
  if (library.check(library.handle, desc, a, b, d, d, &candidate.algorithm,
                    &result) != 0 ||
      result.workspace > kWorkspace)
    return false;
  candidate.workspace = result.workspace;
  return true;
}

bool LibraryProduct::isMeasured() const {
  // Measured choices may differ from process to process, and with them the
  // order of additions; without measuring the heuristic's first is taken.
  return queue.backends != FP8RT_BACKENDS_FIXED &&
         step.product.n * step.product.k >= kMeasuredElements &&
         !queue.isRecorded();
}

size_t
LibraryProduct::findBest(const std::vector<LtHeuristic> &candidates) const {
  if (candidates.size() < 2 || !isMeasured())
    return 0;
  try {
    return findFastest(queue, step.matmul, kWorkspace, candidates.size(),
                       [&](size_t i, const ProductData &data) {
                         return launch(candidates[i].algorithm,
                                       candidates[i].workspace, data,
                                       nullptr) == 0;
                       });
  } catch (const Error &error) {
    // Operands of its own need memory that the call may do without.
    if (error.status != FP8RT_OUT_OF_MEMORY)
      throw;
    return 0;
  }
}

void LibraryProduct::setPlaceholders() const {
  const MatmulArgs &args = step.matmul;
  const void *some = reinterpret_cast<const void *>(uintptr_t(256));
  if (args.bias)
    set(LtDescAttribute::BiasPointer, some);
  if (args.aScale)
    set(LtDescAttribute::BScale, some);
  if (args.bScale)
    set(LtDescAttribute::AScale, some);
  if (args.resultScale)
    set(LtDescAttribute::DScale, some);
  if (args.amax)
    set(LtDescAttribute::AmaxD, some);
}

std::string LibraryProduct::choose() {
  setPlaceholders();
  std::lock_guard<std::mutex> lock(library.mutex);
  std::string key = makeKey();
  auto known = library.chosen.find(key);
  if (known == library.chosen.end() || !isValid(known->second)) {
    std::vector<LtHeuristic> candidates = getCandidates();
    if (candidates.empty())
      return "cuBLASLt has no algorithm for it";
    known =
        library.chosen.insert_or_assign(key, candidates[findBest(candidates)])
            .first;
  }
  algorithm = known->second.algorithm;
  workspace = known->second.workspace;
  return "";
}

std::string LibraryProduct::describe() const {
  auto get = [&](int attribute) {
    uint32_t value = 0;
    size_t written = 0;
    library.algorithmGet(&algorithm, attribute, &value, sizeof(value),
                         &written);
    return value;
  };
  std::ostringstream text;
  text << "cuBLASLt " << library.getVersion() << ", algorithm "
       << get(kLtAlgorithmId) << ", tile " << get(kLtTileId) << ", workspace "
       << workspace;
  return text.str();
}

LtStatus LibraryProduct::launch(const LtAlgorithm &how, size_t workspaceBytes,
                                const ProductData &data, Stream stream) const {
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
  const float one = 1, zero = 0;
  const double wideOne = 1, wideZero = 0;
  bool wide = form.computeType == kLtCompute64F;
  const void *alpha = wide ? static_cast<const void *>(&wideOne) : &one;
  const void *beta = wide ? static_cast<const void *>(&wideZero) : &zero;
  return library.matmul(library.handle, desc, alpha, data.b, a, data.a, b, beta,
                        data.d, d, data.d, d, &how, data.workspace,
                        workspaceBytes, stream);
}

void LibraryProduct::run() {
  const MatmulArgs &args = step.matmul;
  auto address = [](const Tensor *t) {
    return t ? reinterpret_cast<uintptr_t>(t->data) : uintptr_t(0);
  };
  uintptr_t low =
      address(args.a) | address(args.b) | address(args.d) | address(args.bias);
  if (form.aScale != LtScaleMode::Tensor)
    low |= address(args.aScale) | address(args.bScale);
  if (low % kAlignment16) {
    if (!own)
      own = std::make_unique<OwnProduct>(queue, step,
                                         "an operand is not aligned to 16");
    return own->run();
  }
  const ProductData data = ProductData::of(args, queue.scratch());
  const void *addresses[] = {data.a,           data.b,      data.d,
                             data.bias,        data.aScale, data.bScale,
                             data.resultScale, data.amax,   data.workspace};
  call.run(addresses, std::size(addresses), [&](Stream stream) {
    check(launch(algorithm, workspace, data, stream), "cublasLtMatmul");
  });
}

std::unique_ptr<Command>
fp8c::rt::cuda::makeLibraryProduct(CudaQueue &queue, CublasLt &library,
                                   const PreparedStep &step, std::string &why) {
  LibraryForm form;
  why = form.set(step.matmul, step.product);
  if (!why.empty())
    return nullptr;
  auto product = std::make_unique<LibraryProduct>(queue, library, step, form);
  why = product->choose();
  if (!why.empty())
    return nullptr;
  return product;
}
