//===- JoinedProduct.cpp - A product and a launch as one ------------------===//
//
// Part of fp8c, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "JoinedProduct.h"

#include <algorithm>

using namespace fp8c::rt;
using namespace fp8c::rt::cuda;
using fp8c::package::JoinedForm;
using fp8c::package::JoinedProductParams;
using fp8c::package::kJoinedColumns;
using fp8c::package::kJoinedForms;

/// What tensor maps and vectors need of addresses and strides, in bytes.
static constexpr int64_t kUnit = 16;
/// Elements that a thread has of a row.
static constexpr int64_t kVector = 8;

static int64_t divideUp(int64_t a, int64_t b) { return (a + b - 1) / b; }

static const wire::Kernel &getKernel(const CudaQueue &queue,
                                     const PreparedStep &launch) {
  return queue.program.wireKernel(launch.wire->command_as_Launch()->kernel());
}

/// The dim along which vectors of the operand may move; its rank: none does.
static uint32_t findUnitDim(const Tensor &t) {
  uint32_t dim = 0;
  while (dim < t.rank && (t.dims[dim] <= 1 || t.strides[dim] != 1))
    ++dim;
  return dim;
}

/// Bytes that an operand of the launch is aligned to where its vectors move, 1
/// where single elements do.
static int64_t getAlignment(const Tensor &t) {
  return findUnitDim(t) < t.rank
             ? std::min(kUnit, kVector * int64_t(elementSize(t.dtype)))
             : 1;
}

/// Whether all other strides of an operand of the launch are aligned too.
static bool hasAlignedRows(const Tensor &t) {
  const int64_t alignment = getAlignment(t);
  const uint32_t unit = findUnitDim(t);
  for (uint32_t i = 0; i < t.rank; ++i)
    if (i != unit && t.dims[i] > 1 &&
        t.strides[i] * int64_t(elementSize(t.dtype)) % alignment)
      return false;
  return true;
}

static bool isOne(const Tensor *t) {
  return t && t->elements == 1 && t->dtype == DType::F32;
}

/// Whether it is the product of the frame, of whole tensors' scales.
static bool isScaledProduct(const MatmulArgs &args) {
  const Tensor *bias = args.bias;
  return args.a->dtype == DType::E4M3FN && args.b->dtype == DType::E4M3FN &&
         args.d->dtype == DType::BF16 && args.d->rank == 2 &&
         isOne(args.aScale) && isOne(args.bScale) && args.fastAccum &&
         !args.resultScale && !args.amax && !args.bDecode && !args.aPadded &&
         (!bias ||
          (bias->dtype == DType::BF16 && bias->elements == args.d->dims[1] &&
           bias->dims[bias->rank - 1] == bias->elements &&
           (bias->elements == 1 || strideFromLast(*bias, 0) == 1)));
}

bool fp8c::rt::cuda::canJoin(const PreparedStep &product,
                             const PreparedStep &launch, const Tensor &result) {
  const MatmulArgs &args = product.matmul;
  const auto [m, n, k, batch] = product.product;
  if (!isScaledProduct(args) || batch != 1 || m < 1 || n < 1 || k < 1 ||
      m > INT32_MAX / 2 || n > INT32_MAX / 2 || k > INT32_MAX / 2)
    return false;
  // Rows of the operands lie along K. A box of `b` takes whole
  // `kJoinedColumns`.
  auto isRow = [](int64_t unit, int64_t stride, int64_t rows) {
    return unit == 1 && (rows == 1 || (stride > 0 && stride % kUnit == 0));
  };
  if (!isRow(strideFromLast(*args.a, 0), strideFromLast(*args.a, 1), m) ||
      !isRow(strideFromLast(*args.b, 1), strideFromLast(*args.b, 0), n) ||
      n % kJoinedColumns != 0)
    return false;
  // The launch reads the result as it would have been written, row by row.
  auto isDense = [&sizes = product.product](const Tensor &t) {
    int64_t expected = 1;
    for (uint32_t i = t.rank; i-- > 0;) {
      if (t.dims[i] != 1 && t.strides[i] != expected)
        return false;
      expected *= t.dims[i];
    }
    return expected == sizes.m * sizes.n && t.rank >= 2 &&
           t.dims[t.rank - 1] == sizes.n && t.dtype == DType::BF16;
  };
  return isDense(*args.d) && isDense(result) &&
         std::all_of(
             launch.operands.begin(), launch.operands.end(),
             [](const Tensor *operand) { return hasAlignedRows(*operand); }) &&
         launch.operands.size() <= fp8c::package::kJoinedOperands &&
         launch.sizes.size() <= fp8c::package::kJoinedSizes;
}

/// The form that keeps most of the GPU busy, without measuring; null: none
/// does.
static const JoinedForm *chooseForm(const CudaQueue &queue,
                                    const PreparedStep &product) {
  auto tiles = [&](const JoinedForm &form) {
    return divideUp(product.product.m, form.rows) *
           divideUp(product.product.n, form.columns);
  };
  const int64_t blocks = queue.device.multiprocessors();
  if (tiles(kJoinedForms[0]) >= 4 * blocks)
    return &kJoinedForms[0];
  return tiles(kJoinedForms[1]) >= blocks ? &kJoinedForms[1] : nullptr;
}

namespace {

class JoinedProduct : public Command {
public:
  JoinedProduct(CudaQueue &queue, const PreparedStep &product,
                const PreparedStep &launch, const JoinedForm &form);
  std::string describe() const override {
    return "as one with the product before it, tiles of " +
           std::to_string(form.rows) + " x " + std::to_string(form.columns);
  }
  void run() override;

private:
  void encode(JoinedProductParams::TensorMap &map, const Tensor &t,
              unsigned rank, const uint64_t *dims, const uint64_t *strides,
              const uint32_t *box);
  void encodeMaps();
  bool isAligned() const;

  CudaQueue &queue;
  const PreparedStep &product, &launch;
  const JoinedForm &form;
  Function function;
  uint32_t grid;
  /// The launch's operand that is the product's result.
  const Tensor &result;
  JoinedProductParams parameters{};
  /// Of each of the launch's operands, see getAlignment.
  std::vector<uintptr_t> alignments;
  /// Where the maps' tensors lie.
  const char *a = nullptr, *b = nullptr;
};

} // namespace

JoinedProduct::JoinedProduct(CudaQueue &queue, const PreparedStep &product,
                             const PreparedStep &launch, const JoinedForm &form)
    : queue(queue), product(product), launch(launch), form(form),
      function(queue.program.joinedKernel(
          launch.wire->command_as_Launch()->kernel(), form)),
      result(*launch.operands[getKernel(queue, launch).product()]) {
  const auto [m, n, k, batch] = product.product;
  parameters.m = int32_t(m);
  parameters.n = int32_t(n);
  parameters.k = int32_t(k);
  std::copy(launch.sizes.begin(), launch.sizes.end(), parameters.sizes);
  for (const Tensor *operand : launch.operands)
    alignments.push_back(uintptr_t(getAlignment(*operand)));
  // Clusters take as many tiles of rows at a time as they have blocks.
  const int64_t groups = divideUp(divideUp(m, form.rows), form.cluster) *
                         divideUp(n, form.columns);
  grid = uint32_t(std::min<int64_t>(groups, queue.device.multiprocessors() /
                                                form.cluster)) *
         form.cluster;
}

void JoinedProduct::encode(JoinedProductParams::TensorMap &map, const Tensor &t,
                           unsigned rank, const uint64_t *dims,
                           const uint64_t *strides, const uint32_t *box) {
  constexpr int kBytes = 0, kSwizzle128 = 3, kPromote256 = 3;
  constexpr uint32_t kEach[] = {1, 1, 1, 1, 1};
  queue.driver.check(queue.driver.tensorMapEncode(
                         &map, kBytes, rank, t.data, dims, strides, box, kEach,
                         /*interleave=*/0, kSwizzle128, kPromote256,
                         /*fill=*/0),
                     "cuTensorMapEncodeTiled");
}

void JoinedProduct::encodeMaps() {
  const MatmulArgs &args = product.matmul;
  const auto k = uint64_t(product.product.k), n = uint64_t(product.product.n);
  const uint64_t aDims[] = {k, uint64_t(product.product.m)};
  // The stride of a single row may be anything, which a map does not take.
  const uint64_t aStrides[] = {
      uint64_t(aDims[1] == 1 ? kUnit : strideFromLast(*args.a, 1))};
  const uint32_t aBox[] = {128, form.rows};
  encode(parameters.a, *args.a, 2, aDims, aStrides, aBox);
  const auto row = uint64_t(strideFromLast(*args.b, 0));
  const uint64_t bDims[] = {k, 2, 4, 4, n / kJoinedColumns};
  const uint64_t bStrides[] = {row, 8 * row, 2 * row, kJoinedColumns * row};
  const uint32_t bBox[] = {128, 2, 4, 4, form.getBoxes()};
  encode(parameters.b, *args.b, 5, bDims, bStrides, bBox);
  a = args.a->data;
  b = args.b->data;
}

bool JoinedProduct::isAligned() const {
  auto low = [](const Tensor &t) {
    return reinterpret_cast<uintptr_t>(t.data);
  };
  const MatmulArgs &args = product.matmul;
  uintptr_t bits = low(*args.a) | low(*args.b);
  if (args.bias)
    bits |= low(*args.bias);
  if (bits % kUnit || result.data != args.d->data)
    return false;
  for (size_t i = 0; i < alignments.size(); ++i)
    if (low(*launch.operands[i]) % alignments[i])
      return false;
  return true;
}

void JoinedProduct::run() {
  if (!isAligned()) {
    queue.runAlone(product);
    queue.runAlone(launch);
    return;
  }
  const MatmulArgs &args = product.matmul;
  if (a != args.a->data || b != args.b->data)
    encodeMaps();
  parameters.aScale = reinterpret_cast<const float *>(args.aScale->data);
  parameters.bScale = reinterpret_cast<const float *>(args.bScale->data);
  parameters.bias = args.bias ? args.bias->data : nullptr;
  for (size_t i = 0; i < launch.pointers.size(); ++i)
    parameters.operands[i] =
        int64_t(reinterpret_cast<uintptr_t>(launch.pointers[i]));
  void *arguments[] = {&parameters};
  queue.launchConfigured(function, grid, 1, fp8c::package::kJoinedThreads,
                         form.getSharedBytes(), arguments,
                         /*isDependent=*/true);
}

std::unique_ptr<Command>
fp8c::rt::cuda::makeJoinedProduct(CudaQueue &queue, const PreparedStep &product,
                                  const PreparedStep &launch,
                                  const JoinedForm &form) {
  return std::make_unique<JoinedProduct>(queue, product, launch, form);
}

std::unique_ptr<Command>
fp8c::rt::cuda::makeJoinedProduct(CudaQueue &queue, const PreparedStep &product,
                                  const PreparedStep &launch) {
  const Tensor &result = *launch.operands[getKernel(queue, launch).product()];
  // `fixed` keeps the library's order of additions.
  if (queue.backends == FP8RT_BACKENDS_FIXED ||
      !canJoin(product, launch, result))
    return nullptr;
  const JoinedForm *form = chooseForm(queue, product);
  if (form && queue.backends == FP8RT_BACKENDS_AUTO)
    form = findFastestForm(queue, product, launch);
  return form ? makeJoinedProduct(queue, product, launch, *form) : nullptr;
}
