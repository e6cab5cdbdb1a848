//===- LibraryProduct.cpp - A product by cuBLASLt -------------------------===//
//
// Part of fp8c, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "LibraryProduct.h"

#include "LibraryCall.h"
#include "LibraryMatmul.h"
#include "OwnProduct.h"
#include "ProductTrial.h"
#include "Race.h"

#include <sstream>

using namespace fp8c::rt;
using namespace fp8c::rt::cuda;

/// What addresses are multiples of when an algorithm is chosen.
static constexpr uintptr_t kAlignment16 = 16;
/// Elements of the right operand from which on candidates are measured.
static constexpr int64_t kMeasuredElements = 1 << 20;

namespace {

class LibraryProduct : public Command {
public:
  LibraryProduct(CudaQueue &queue, CublasLt &library, const PreparedStep &step,
                 const LibraryForm &form)
      : queue(queue), library(library), step(step), form(form),
        matmul(library, step.matmul, form), call(queue) {}

  /// Chooses the algorithm; gives why there is none, or "".
  std::string choose();

  int64_t scratchBytes() const override {
    return isOwn ? 0 : int64_t(algorithm.workspace);
  }
  std::string describe() const override {
    return isOwn ? own->describe() : describeAlgorithm();
  }
  void run() override;

private:
  std::string makeKey() const;
  /// Whether candidates are measured.
  bool isMeasured() const;
  /// Whether ours is one of them. In f8 it is not: another order of additions
  /// flips codes, and the library's is PyTorch's.
  bool hasOwnCandidate() const {
    return isMeasured() && !form.isF8 && isDots(queue.device, step);
  }
  LtChoice findBest(const std::vector<LtHeuristic> &candidates) const;
  std::string describeAlgorithm() const;

  CudaQueue &queue;
  CublasLt &library;
  const PreparedStep &step;
  const LibraryForm form;
  const LibraryMatmul matmul;
  LtHeuristic algorithm{};
  LibraryCall call;
  /// Ours, because it is faster, or for addresses that the library does not
  /// take; then made when needed.
  std::unique_ptr<Command> own;
  bool isOwn = false;
};

} // namespace

std::string LibraryProduct::makeKey() const {
  const MatmulArgs &args = step.matmul;
  std::ostringstream key;
  // The leading dim of a matrix of dense columns says nothing more.
  for (const LibraryForm::Matrix *m : {&form.a, &form.b, &form.d})
    key << m->type << (m->transposed ? 't' : 'n')
        << (m->leading == m->rows ? 0 : m->leading) << ' ';
  // Where the choice must not depend on which product came first, none share
  // it.
  const int64_t rows = queue.backends == FP8RT_BACKENDS_FIXED
                           ? step.product.m
                           : roundRows(step.product.m);
  key << step.product.n << ' ' << step.product.k << ' ' << rows << ' '
      << form.batches << ' ' << int(form.aScale) << int(form.bScale) << ' '
      << (args.bias ? int(args.bias->dtype) : -1) << args.fastAccum
      << (args.resultScale != nullptr) << (args.amax != nullptr)
      << isMeasured();
  return key.str();
}

bool LibraryProduct::isMeasured() const {
  // Measured choices may differ from process to process, and with them the
  // order of additions; without measuring the heuristic's first is taken.
  return queue.backends != FP8RT_BACKENDS_FIXED &&
         step.product.n * step.product.k >= kMeasuredElements &&
         !queue.isRecorded();
}

/// The library's first candidate, or the fastest if that is to be measured.
LtChoice
LibraryProduct::findBest(const std::vector<LtHeuristic> &candidates) const {
  const LtChoice first{candidates[0], /*isOwn=*/false};
  const size_t count = candidates.size() + hasOwnCandidate();
  if (count < 2 || !isMeasured())
    return first;
  std::optional<OwnProduct> last;
  if (hasOwnCandidate())
    last.emplace(queue, step, "");
  try {
    const size_t best =
        findFastest(queue, step.matmul, LibraryMatmul::kWorkspace, count,
                    [&](size_t i, const ProductData &data, Stream stream) {
                      if (i < candidates.size())
                        return matmul.launch(candidates[i], data, stream) == 0;
                      queue.runIn(stream, [&] { last->launch(data); });
                      return true;
                    });
    return best < candidates.size() ? LtChoice{candidates[best], false}
                                    : LtChoice{candidates[0], true};
  } catch (const Error &error) {
    // Operands of its own need memory that the call may do without.
    if (error.status != FP8RT_OUT_OF_MEMORY)
      throw;
    return first;
  }
}

std::string LibraryProduct::choose() {
  std::lock_guard<std::mutex> lock(library.mutex);
  std::string key = makeKey();
  auto known = library.chosen.find(key);
  if (known == library.chosen.end() ||
      !matmul.isValid(known->second.algorithm)) {
    std::vector<LtHeuristic> candidates = matmul.getCandidates(isMeasured());
    if (candidates.empty())
      return "cuBLASLt has no algorithm for it";
    known = library.chosen.insert_or_assign(key, findBest(candidates)).first;
  }
  algorithm = known->second.algorithm;
  isOwn = known->second.isOwn && hasOwnCandidate();
  if (isOwn)
    own = std::make_unique<OwnProduct>(
        queue, step, "measured, faster than " + describeAlgorithm());
  return "";
}

std::string LibraryProduct::describeAlgorithm() const {
  auto get = [&](int attribute) {
    uint32_t value = 0;
    size_t written = 0;
    library.algorithmGet(&algorithm.algorithm, attribute, &value, sizeof(value),
                         &written);
    return value;
  };
  std::ostringstream text;
  text << "cuBLASLt " << library.getVersion() << ", algorithm "
       << get(kLtAlgorithmId) << ", tile " << get(kLtTileId) << ", workspace "
       << algorithm.workspace;
  return text.str();
}

void LibraryProduct::run() {
  if (isOwn)
    return own->run();
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
    matmul.check(matmul.launch(algorithm, data, stream), "cublasLtMatmul");
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
