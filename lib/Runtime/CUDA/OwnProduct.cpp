//===- OwnProduct.cpp - A product by our kernels --------------------------===//
//
// Part of fp8c, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "OwnProduct.h"

#include "DotParams.h"
#include "MatrixParams.h"
#include "ProductForms.h"

#include <algorithm>

using namespace fp8c::rt;
using namespace fp8c::rt::cuda;

OwnProduct::OwnProduct(CudaQueue &queue, const PreparedStep &step,
                       std::string why)
    : queue(queue), step(step), why(std::move(why)) {
  const MatmulArgs &args = step.matmul;
  const ProductSizes &sizes = step.product;
  setBatches();
  auto matrix = [&](const Tensor *tensor) {
    return makeMatrix(tensor, batchDims);
  };
  auto scale = [&](const Tensor *tensor, int64_t block0, int64_t block1) {
    return makeScale(tensor, block0, block1, batchDims);
  };
  parameters.a = matrix(args.a);
  parameters.b = matrix(args.b);
  parameters.d = matrix(args.d);
  parameters.bias = matrix(args.bias);
  parameters.aScale = scale(args.aScale, args.aBlockM, args.aBlockK);
  parameters.bScale = scale(args.bScale, args.bBlockK, args.bBlockN);
  parameters.bDecode = scale(args.bDecode, args.bBlockK, args.bBlockN);
  parameters.bDecodeType = getType(args.bDecodeDType);
  parameters.m = sizes.m;
  parameters.n = sizes.n;
  parameters.k = sizes.k;
  int64_t segment = getScaleSegment(args);
  parameters.segment = segment ? segment : std::max<int64_t>(sizes.k, 1);
  parameters.saturate = args.saturate;
  if (hasFewRows(args, sizes))
    fewRows = makeFewRows();
  else
    any = makeAny();
}

void OwnProduct::setBatches() {
  const Tensor &d = *step.matmul.d;
  for (uint32_t i = 0; i + 2 < d.rank; ++i) {
    if (d.dims[i] == 1)
      continue;
    require(batchDims.size() < kMaxDims, FP8RT_INCOMPATIBLE,
            "a product of more than ", kMaxDims, " batch dims");
    parameters.batchDims[batchDims.size()] = d.dims[i];
    batchDims.push_back(d.rank - 1 - i);
  }
  parameters.batchRank = uint32_t(batchDims.size());
}

uint32_t OwnProduct::countBlocks(int64_t height, int64_t width) const {
  const ProductSizes &sizes = step.product;
  int64_t count = 0;
  require(!__builtin_mul_overflow((sizes.m + height - 1) / height,
                                  (sizes.n + width - 1) / width, &count) &&
              count <= INT32_MAX && sizes.k <= INT32_MAX,
          FP8RT_INCOMPATIBLE, "a product of ", sizes.m, " x ", sizes.n, " x ",
          sizes.k, " is too large for a GPU");
  return uint32_t(count);
}

OwnProduct::Form OwnProduct::makeFewRows() {
  const MatmulArgs &args = step.matmul;
  const int64_t m = step.product.m;
  OwnKernels &kernels = queue.device.ownKernels();
  const Type a = getType(args.a->dtype), b = getType(args.b->dtype);
  if (!isDots(queue.device, step))
    return {kernels.rowProduct(a, b, m > kMostRows / 2),
            countBlocks(kMostRows, kRowColumns), kRowThreads, 0, "few rows"};
  sharing = getDotSharing(args, step.product, queue.device.multiprocessors());
  return {kernels.dotProduct(a, b, uint32_t(m)),
          countBlocks(kMostDotRows, kDotBlockColumns >> sharing),
          kDotThreads,
          0,
          "dot products",
          /*isDots=*/true};
}

OwnProduct::Form OwnProduct::makeAny() const {
  const MatmulArgs &args = step.matmul;
  const ProductSizes &sizes = step.product;
  OwnKernels &kernels = queue.device.ownKernels();
  if (!whyNoTensorCores(args).empty())
    return {kernels.product(), countBlocks(kProductTile, kProductTile),
            kProductThreads, 0, "simple"};
  // Large tiles where they keep the GPU busy and are not mostly empty.
  const bool isLarge = sizes.m > kSmallTile &&
                       countBlocks(kLargeTile, kLargeTile) * sizes.batch >=
                           queue.device.multiprocessors();
  // Sums in f32 by themselves cost small tiles little, and results in f32
  // show what tensor cores lose.
  const DType a = args.a->dtype, d = args.d->dtype;
  const bool isPromoted = getScaleSegment(args) || d == DType::F32 ||
                          d == DType::F64 ||
                          (elementSize(a) == 1 && !(args.fastAccum && isLarge));
  const uint32_t side = isLarge ? kLargeTile : kSmallTile;
  Form form;
  form.function = kernels.tileProduct(getType(a), getType(args.b->dtype),
                                      isLarge, isPromoted, form.shared);
  form.grid = countBlocks(side, side);
  form.threads = isLarge ? kLargeTileThreads : kSmallTileThreads;
  form.name = isLarge ? "tiles of 128" : "tiles of 64";
  return form;
}

const OwnProduct::Form &OwnProduct::getForm(const ProductData &data) {
  constexpr uintptr_t kUnit = 16;
  const bool isAligned = (reinterpret_cast<uintptr_t>(data.a) |
                          reinterpret_cast<uintptr_t>(data.b)) %
                             kUnit ==
                         0;
  if (fewRows && isAligned)
    return *fewRows;
  if (!any)
    any = makeAny();
  return *any;
}

std::string OwnProduct::describe() const {
  if (fewRows)
    return std::string("own kernel, ") + fewRows->name + ": " + why;
  const std::string whyNot = whyNoTensorCores(step.matmul);
  return std::string("own kernel, ") + any->name + ": " + why +
         (whyNot.empty() ? "" : "; no tensor cores: " + whyNot);
}

void OwnProduct::launch(const ProductData &data) {
  if (data.amax)
    queue.driver.check(
        queue.driver.set32Async(reinterpret_cast<Pointer>(data.amax), 0, 1,
                                queue.stream),
        "cuMemsetD32Async");
  const int64_t batches = step.product.batch;
  const Form &form = getForm(data);
  if (!form.grid || !batches)
    return;
  parameters.a.data = data.a;
  parameters.b.data = data.b;
  parameters.d.data = data.d;
  parameters.bias.data = data.bias;
  parameters.aScale.scale.data = data.aScale;
  parameters.bScale.scale.data = data.bScale;
  parameters.bDecode.scale.data = data.bDecode;
  parameters.resultScale = static_cast<const float *>(data.resultScale);
  parameters.amax = static_cast<uint32_t *>(data.amax);
  // The second dim of a grid is short.
  constexpr int64_t kMaxBatches = 65535;
  require(batches <= kMaxBatches, FP8RT_INCOMPATIBLE, "a product of ", batches,
          " batches, the GPU's own has ", kMaxBatches);
  DotParams dots;
  void *arguments[] = {&parameters};
  if (form.isDots) {
    dots = makeDots(parameters, sharing);
    arguments[0] = &dots;
  }
  queue.launchConfigured(form.function, form.grid, uint32_t(batches),
                         form.threads, form.shared, arguments,
                         /*isDependent=*/form.isDots);
}

bool fp8c::rt::cuda::isDots(const CudaDevice &device,
                            const PreparedStep &step) {
  return device.hasDependentLaunch() && hasDots(step.matmul, step.product);
}
