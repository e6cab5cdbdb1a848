//===- PaddedProduct.cpp - The library's product of padded operands -------===//
//
// Part of fp8c, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "../MemoryPlanner.h"
#include "LibraryProduct.h"
#include "MatrixParams.h"
#include "OwnKernels.h"

#include <algorithm>
#include <sstream>
#include <vector>

using namespace fp8c::rt;
using namespace fp8c::rt::cuda;

/// What the library wants rows to be multiples of, in bytes.
static constexpr int64_t kUnit = 16;
/// Elements of the right operand below which our own kernel is about as fast as
/// copies and the library.
static constexpr int64_t kLeastElements = 1 << 16;

namespace {

/// A matrix as rows in the library's layout.
class PaddedMatrix {
public:
  /// Of `rows` x `columns` elements of `t`, strides apart. `lasts`: they never
  /// change.
  void set(const Tensor &t, bool lasts, int64_t rows, int64_t columns,
           int64_t rowStride, int64_t columnStride, int64_t targetRows,
           int64_t targetColumns) {
    source = &t;
    isWeight = lasts;
    parameters.source.type = getType(t.dtype);
    parameters.source.rowStride = rowStride;
    // An only column may have any stride.
    parameters.source.columnStride = columns == 1 ? 1 : columnStride;
    parameters.rows = rows;
    parameters.columns = columns;
    parameters.size = elementSize(t.dtype);
    parameters.targetRows = targetRows;
    parameters.rowBytes = targetColumns * parameters.size;
  }
  int64_t bytes() const {
    return source ? parameters.targetRows * parameters.rowBytes : 0;
  }
  /// Where its copy is now: a weight's in memory of the program, made once,
  /// another's in `scratch`.
  char *place(CudaQueue &queue, char *scratch) {
    if (!source || source->data == weightOf)
      return weight;
    if (isWeight && !queue.isRecorded()) {
      weight = queue.program.derive(makeKey(), bytes(), [&](char *memory) {
        write(queue, memory);
        queue.driver.check(queue.driver.streamSynchronize(queue.stream),
                           "cuStreamSynchronize");
      });
      weightOf = source->data;
      return weight;
    }
    write(queue, scratch);
    return scratch;
  }

private:
  std::string makeKey() const {
    std::ostringstream key;
    key << static_cast<const void *>(source->data);
    for (int64_t part :
         {parameters.source.rowStride, parameters.source.columnStride,
          parameters.rows, parameters.columns, parameters.targetRows,
          parameters.rowBytes})
      key << ' ' << part;
    return key.str();
  }
  void write(CudaQueue &queue, char *target) {
    constexpr int64_t kMaxBlocks = 8192;
    parameters.source.data = source->data;
    parameters.target = target;
    void *arguments[] = {&parameters};
    int64_t blocks =
        alignUp(bytes() / kUnit, kPadThreads) / int64_t(kPadThreads);
    queue.launch(queue.device.ownKernels().pad(),
                 uint32_t(std::min(blocks, kMaxBlocks)), 1, kPadThreads, 0,
                 arguments);
  }

  const Tensor *source = nullptr;
  bool isWeight = false;
  PadParams parameters{};
  /// A weight's copy, and of which.
  char *weight = nullptr;
  const char *weightOf = nullptr;
};

class PaddedProduct : public Command {
public:
  PaddedProduct(CudaQueue &queue, const PreparedStep &step, std::string why);

  /// Whether the library takes it now.
  bool prepare(CublasLt &library) {
    std::string refusal;
    product = makeLibraryProduct(queue, library, inner, refusal);
    return product != nullptr;
  }
  int64_t scratchBytes() const override {
    int64_t bytes = alignUp(product->scratchBytes(), kScratchAlignment);
    for (int64_t part :
         {a.bytes(), b.bytes(), bias.bytes(), bScale.bytes(), resultBytes()})
      bytes += alignUp(part, kScratchAlignment);
    return bytes;
  }
  std::string describe() const override {
    return product->describe() + ", of padded copies: " + why;
  }
  void run() override;

private:
  int64_t resultBytes() const {
    return copy ? step.product.m * dStrides[0] * elementSize(d.dtype) : 0;
  }

  CudaQueue &queue;
  const PreparedStep &step;
  std::string why;
  PaddedMatrix a, b, bias, bScale;
  int64_t aDims[2], aStrides[2], bDims[2], bStrides[2], dDims[2], dStrides[2];
  int64_t rowDims[2], rowStrides[2];
  Tensor aTensor, bTensor, dTensor, biasTensor, bScaleTensor;
  /// The result's part of `dTensor`, and its copy to where it belongs.
  Tensor d;
  std::vector<int64_t> copyStrides;
  PreparedStep inner, copyStep;
  std::unique_ptr<Command> product, copy;
};

} // namespace

PaddedProduct::PaddedProduct(CudaQueue &queue, const PreparedStep &step,
                             std::string why)
    : queue(queue), step(step), why(std::move(why)) {
  const MatmulArgs &args = step.matmul;
  const wire::Matmul &wire = *step.wire->command_as_Matmul();
  auto lasts = [&](uint32_t value) { return queue.program.isWeight(value); };
  const int64_t m = step.product.m, n = step.product.n, k = step.product.k;
  const int64_t size = elementSize(args.d->dtype);
  const int64_t wideK = alignUp(k, kUnit), wideN = alignUp(n, kUnit / size);
  inner.wire = step.wire;
  inner.matmul = args;
  inner.product = {m, wideN, wideK, step.product.batch};

  auto isRow = [](int64_t columnStride, int64_t rowStride, int64_t rows) {
    return columnStride == 1 && (rows == 1 || rowStride % kUnit == 0);
  };
  int64_t aM = strideFromLast(*args.a, 1), aK = strideFromLast(*args.a, 0);
  if (const Tensor *rows = args.aPadded;
      rows && wideK != k && rows->dims[1] == wideK &&
      isRow(strideFromLast(*rows, 0), strideFromLast(*rows, 1), m)) {
    // Its zeros are there.
    inner.matmul.a = rows;
  } else if (wideK != k || !isRow(aK, aM, m)) {
    a.set(*args.a, lasts(wire.a()), m, k, aM, aK, m, wideK);
    aDims[0] = m;
    aDims[1] = aStrides[0] = wideK;
    aStrides[1] = 1;
    aTensor = {args.a->dtype, 2, aDims, aStrides, m * wideK, nullptr};
    inner.matmul.a = &aTensor;
  }
  int64_t bK = strideFromLast(*args.b, 1), bN = strideFromLast(*args.b, 0);
  if (wideK != k || wideN != n || !isRow(bK, bN, n)) {
    b.set(*args.b, lasts(wire.b()), n, k, bN, bK, wideN, wideK);
    bDims[0] = bStrides[1] = wideK;
    bDims[1] = wideN;
    bStrides[0] = 1;
    bTensor = {args.b->dtype, 2, bDims, bStrides, wideN * wideK, nullptr};
    inner.matmul.b = &bTensor;
  }
  if (wideN != n) {
    // One row of n values; those of further columns are 0.
    rowDims[0] = 1;
    rowDims[1] = rowStrides[0] = wideN;
    rowStrides[1] = 1;
    auto widen = [&](const Tensor &t, uint32_t value, PaddedMatrix &matrix,
                     Tensor &tensor) {
      int64_t unit = kUnit / elementSize(t.dtype);
      matrix.set(t, lasts(value), 1, n, 0, strideFromLast(t, 0), 1,
                 alignUp(wideN, unit));
      tensor = {t.dtype, 2, rowDims, rowStrides, wideN, nullptr};
      return &tensor;
    };
    if (args.bias)
      inner.matmul.bias = widen(*args.bias, wire.bias(), bias, biasTensor);
    if (args.bScale && args.bScale->elements > 1)
      inner.matmul.bScale =
          widen(*args.bScale, wire.b_scale(), bScale, bScaleTensor);
  }
  int64_t dM = strideFromLast(*args.d, 1), dN = strideFromLast(*args.d, 0);
  if (wideN != n || dN != 1 || (m > 1 && dM * size % kUnit)) {
    dDims[0] = m;
    dDims[1] = dStrides[0] = wideN;
    dStrides[1] = 1;
    dTensor = {args.d->dtype, 2, dDims, dStrides, m * wideN, nullptr};
    inner.matmul.d = &dTensor;
    // The same dims as the result, all but the last two of them 1.
    d = *args.d;
    copyStrides.assign(d.rank, 1);
    copyStrides[d.rank - 2] = wideN;
    d.strides = copyStrides.data();
    copyStep.source = &d;
    copyStep.target = args.d;
    copy = makeCopy(queue, copyStep);
  }
}

void PaddedProduct::run() {
  char *next =
      queue.scratch() + alignUp(product->scratchBytes(), kScratchAlignment);
  auto take = [&](int64_t bytes) {
    char *part = next;
    next += alignUp(bytes, kScratchAlignment);
    return part;
  };
  aTensor.data = a.place(queue, take(a.bytes()));
  bTensor.data = b.place(queue, take(b.bytes()));
  biasTensor.data = bias.place(queue, take(bias.bytes()));
  bScaleTensor.data = bScale.place(queue, take(bScale.bytes()));
  dTensor.data = d.data = take(resultBytes());
  product->run();
  if (copy)
    copy->run();
}

std::unique_ptr<Command>
fp8c::rt::cuda::makePaddedProduct(CudaQueue &queue, CublasLt &library,
                                  const PreparedStep &step,
                                  const std::string &why) {
  const MatmulArgs &args = step.matmul;
  const auto [m, n, k, batch] = step.product;
  auto isF8 = [](const Tensor &t) {
    return t.dtype == DType::E4M3FN || t.dtype == DType::E5M2;
  };
  auto isRow = [](const Tensor *t, int64_t elements) {
    return !t || t->elements == 1 ||
           (t->elements == elements && t->dims[t->rank - 1] == elements);
  };
  if (!isF8(*args.a) || !isF8(*args.b) || args.bDecode || batch != 1 || !m ||
      !k || n * k < kLeastElements)
    return nullptr;
  // Columns that are added need scales and biases of their own.
  bool isWider = n * elementSize(args.d->dtype) % kUnit != 0;
  if (isWider &&
      (!isRow(args.bScale, n) || (args.bias && args.bias->elements != n) ||
       !isRow(args.bias, n)))
    return nullptr;
  auto product = std::make_unique<PaddedProduct>(queue, step, why);
  return product->prepare(library) ? std::move(product) : nullptr;
}
